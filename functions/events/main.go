// Command events is the Lambda function for the log of all changes.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/eventlog"
)

func main() { serve.Group(eventlog.Group()) }
