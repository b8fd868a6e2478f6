// Command tokens is the Lambda function for API tokens, personal tokens and public signup tokens.
package main

import (
	"os"

	"guidon/functions/internal/serve"
	"guidon/pkg/admin/tokens"
	"guidon/pkg/httpapi"
	"guidon/pkg/seal/secretsmanager"
)

func main() {
	serve.Group(tokens.Group(), func(config *httpapi.Config) {
		config.Sealer = secretsmanager.New(os.Getenv("TOKEN_KEY_SECRET")).Sealer
	})
}
