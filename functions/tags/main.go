// Command tags is the Lambda function for tag types and tags.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/tags"
)

func main() { serve.Group(tags.Group()) }
