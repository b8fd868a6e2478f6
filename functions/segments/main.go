// Command segments is the Lambda function for context fields and segments.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/segments"
)

func main() { serve.Group(segments.Group()) }
