// Command deliver is the Lambda function that sends events to webhooks and Slack. EventBridge calls it every minute. While
// there is something to send, it looks again every two seconds until the minute is over. If it does not run, events wait for
// up to 30 days.
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"guidon/pkg/dynamo"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
	"guidon/pkg/secretsmanager"
	"guidon/pkg/webhook"
)

// runTime is how long a run begins to send. The timeout of the function is longer by what the last message can take.
const runTime = 50 * time.Second

func main() {
	config, err := httpapi.ConfigFromEnv()
	if err != nil {
		log.Fatal(err)
	}
	networks, err := webhook.ParseNetworks(os.Getenv("WEBHOOK_PRIVATE_NETWORKS"))
	if err != nil {
		log.Fatal(err)
	}
	logger := lambdahttp.Logger(config.Logger)
	store, err := dynamo.Open(context.Background(), dynamo.Options{Table: os.Getenv("TABLE_NAME")})
	if err != nil {
		log.Fatal(err)
	}
	sealer := secretsmanager.Sealer(os.Getenv("TOKEN_KEY_SECRET"))
	deliverer := webhook.NewDeliverer(store, sealer, webhook.NewSender(webhook.Options{Networks: networks, PublicURL: config.PublicURL}), logger)
	lambda.Start(func(ctx context.Context) (string, error) { return run(ctx, deliverer, logger) })
}

// run sends what is due, and tells how much that was.
func run(ctx context.Context, deliverer *webhook.Deliverer, logger *slog.Logger) (string, error) {
	report, err := deliverer.Run(ctx, time.Now().Add(runTime))
	attributes := []any{slog.Int("delivered", report.Delivered), slog.Int("failed", report.Failed), slog.Int("parked", report.Parked),
		slog.Int("oldestSeconds", int(report.Oldest.Seconds()))} // a metric filter of the template reads it
	if err != nil {
		logger.ErrorContext(ctx, "deliver", append(attributes, slog.Any("cause", err))...)
		return "", err
	}
	logger.InfoContext(ctx, "deliver", attributes...)
	return fmt.Sprintf("delivered %d events, %d attempts failed, %d events were parked", report.Delivered, report.Failed, report.Parked), nil
}
