// Command insight is the Lambda function for the log of all changes, usage, applications and the playground.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/eventlog"
	"guidon/pkg/admin/metrics"
	"guidon/pkg/admin/playground"
	"guidon/pkg/httpapi"
)

func main() { serve.Group(httpapi.Join(eventlog.Group(), metrics.Group(), playground.Group())) }
