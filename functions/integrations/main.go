// Command integrations is the Lambda function for addons, which send events to webhooks and to Slack.
package main

import (
	"log"
	"os"

	"guidon/functions/internal/serve"
	"guidon/pkg/admin/addons"
	"guidon/pkg/httpapi"
	"guidon/pkg/secretsmanager"
	"guidon/pkg/webhook"
)

func main() {
	networks, err := webhook.ParseNetworks(os.Getenv("WEBHOOK_PRIVATE_NETWORKS"))
	if err != nil {
		log.Fatal(err)
	}
	serve.Group(addons.Group(), func(config *httpapi.Config) {
		config.CheckWebhook = networks.CheckURL
		config.Sealer = secretsmanager.Sealer(os.Getenv("TOKEN_KEY_SECRET"))
	})
}
