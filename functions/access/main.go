// Command access is the Lambda function for users, service accounts, roles, tokens and sign-in.
package main

import (
	"os"

	"guidon/functions/internal/serve"
	"guidon/pkg/admin/signin"
	"guidon/pkg/admin/tokens"
	"guidon/pkg/admin/users"
	"guidon/pkg/httpapi"
	openid "guidon/pkg/oidc/secretsmanager"
	"guidon/pkg/seal/secretsmanager"
)

func main() {
	serve.Group(httpapi.Join(users.Group(), tokens.Group(), signin.Group()), func(config *httpapi.Config) {
		config.Sealer = secretsmanager.New(os.Getenv("TOKEN_KEY_SECRET")).Sealer
		config.OpenID = signin.OpenID(openid.New(os.Getenv("OPEN_ID_SECRET")).Provider)
	})
}
