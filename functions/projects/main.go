// Command projects is the Lambda function for projects and environments.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/projects"
)

func main() { serve.Group(projects.Projects()) }
