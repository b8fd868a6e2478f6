// Command strategies is the Lambda function for the activation strategies of a flag in an environment.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/strategies"
)

func main() { serve.Group(strategies.Group()) }
