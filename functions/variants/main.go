// Command variants is the Lambda function for the variants of a flag.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/strategies"
)

func main() { serve.Group(strategies.VariantGroup()) }
