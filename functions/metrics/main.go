// Command metrics is the Lambda function for reading what applications report.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/metrics"
)

func main() { serve.Group(metrics.Group()) }
