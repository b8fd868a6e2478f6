// Command users is the Lambda function for users, service accounts, roles and who has access to a project.
package main

import (
	"guidon/functions/internal/serve"
	"guidon/pkg/admin/users"
)

func main() { serve.Group(users.Group()) }
