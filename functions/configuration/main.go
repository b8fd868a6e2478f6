// Command configuration is the Lambda function for what flags refer to: segments, context fields, strategy types and tag types.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/segments"
	"guidon/pkg/admin/strategies"
	"guidon/pkg/admin/tags"
	"guidon/pkg/httpapi"
)

func main() {
	serve.Group(httpapi.Join(segments.Group(), strategies.TypeGroup(), tags.TypeGroup()))
}
