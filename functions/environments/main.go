// Command environments is the Lambda function for the environments of the service.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/projects"
)

func main() { serve.Group(projects.Environments()) }
