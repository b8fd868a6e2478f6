// Command aggregate is the Lambda function that adds what applications reported to the sums that the administration reads.
// EventBridge calls it every minute. If it does not run, reports are kept for two days, and are added later.
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"guidon/pkg/aggregate"
	"guidon/pkg/dynamo"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
)

func main() {
	config, err := httpapi.ConfigFromEnv()
	if err != nil {
		log.Fatal(err)
	}
	logger := lambdahttp.Logger(config.Logger)
	store, err := dynamo.Open(context.Background(), dynamo.Options{Table: os.Getenv("TABLE_NAME")})
	if err != nil {
		log.Fatal(err)
	}
	aggregator := aggregate.New(store, aggregate.Settings{Settle: aggregate.Settle, Logger: logger})
	lambda.Start(func(ctx context.Context) (string, error) { return run(ctx, aggregator, logger) })
}

// run adds what was reported, and tells how many reports it added.
func run(ctx context.Context, aggregator *aggregate.Aggregator, logger *slog.Logger) (string, error) {
	started := time.Now()
	result, err := aggregator.Run(ctx)
	attributes := []any{
		slog.Int("posts", result.Posts), slog.Int("batches", result.Batches), slog.Duration("behind", result.Behind),
		slog.Int64("duration_ms", time.Since(started).Milliseconds()),
	}
	if err != nil {
		logger.ErrorContext(ctx, "aggregate", append(attributes, slog.Any("cause", err))...)
		return "", err
	}
	logger.InfoContext(ctx, "aggregate", attributes...)
	return fmt.Sprintf("added %d reports", result.Posts), nil
}
