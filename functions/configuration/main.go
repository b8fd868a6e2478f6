// Command configuration is the Lambda function for what flags refer to: segments, context fields, strategy types, tag types and
// release plan templates.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/releases"
	"guidon/pkg/admin/segments"
	"guidon/pkg/admin/strategies"
	"guidon/pkg/admin/tags"
	"guidon/pkg/cloudwatch"
	"guidon/pkg/httpapi"
)

func main() {
	serve.Group(httpapi.Join(segments.Group(), releases.TemplateGroup(), strategies.TypeGroup(), tags.TypeGroup()), cloudwatch.Use)
}
