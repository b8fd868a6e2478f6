// Command playground is the Lambda function that shows how flags evaluate, and why.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/playground"
)

func main() { serve.Group(playground.Group()) }
