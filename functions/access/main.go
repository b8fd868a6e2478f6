// Command access is the Lambda function for users, service accounts, roles, tokens and sign-in.
package main

import (
	"os"

	"guidon/functions/internal/serve"
	"guidon/pkg/admin/signin"
	"guidon/pkg/admin/tokens"
	"guidon/pkg/admin/users"
	"guidon/pkg/httpapi"
	"guidon/pkg/oidc"
	"guidon/pkg/secretsmanager"
)

func main() {
	serve.Group(httpapi.Join(users.Group(), tokens.Group(), signin.Group()), func(config *httpapi.Config) {
		config.Sealer = secretsmanager.Sealer(os.Getenv("TOKEN_KEY_SECRET"))
		config.OpenID = signin.OpenID(secretsmanager.NewSource(os.Getenv("OPEN_ID_SECRET"), oidc.NewFromJSON).Value)
	})
}
