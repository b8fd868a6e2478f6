// Command signin is the Lambda function by which people sign in to the console and sign out.
package main

import (
	"os"

	"guidon/functions/internal/serve"
	"guidon/pkg/admin/signin"
	"guidon/pkg/httpapi"
	"guidon/pkg/oidc/secretsmanager"
)

func main() {
	serve.Group(signin.Group(), func(config *httpapi.Config) {
		config.OpenID = signin.OpenID(secretsmanager.New(os.Getenv("OPEN_ID_SECRET")).Provider)
	})
}
