// Command projects is the Lambda function for projects, environments, and the access to projects.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/projects"
	"guidon/pkg/admin/users"
	"guidon/pkg/httpapi"
)

func main() {
	serve.Group(httpapi.Join(projects.Projects(), projects.Environments(), users.MemberGroup()))
}
