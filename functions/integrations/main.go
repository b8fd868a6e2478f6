// Command integrations is the Lambda function for addons, which send events to webhooks and to Slack.
package main

import (
	"os"

	"guidon/functions/internal/serve"
	"guidon/pkg/admin/addons"
	"guidon/pkg/httpapi"
	"guidon/pkg/secretsmanager"
)

func main() {
	serve.Group(addons.Group(), func(config *httpapi.Config) {
		config.Sealer = secretsmanager.Sealer(os.Getenv("TOKEN_KEY_SECRET"))
	})
}
