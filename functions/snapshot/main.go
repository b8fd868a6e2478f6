// Command snapshot is the Lambda function that writes a snapshot of what applications see, if the last one is old. New
// instances of the functions applications and frontend read it, instead of reading every flag. EventBridge calls this function every
// five minutes. Without a snapshot, nothing is wrong for callers: instances only start more slowly.
package main

import (
	"context"
	"log"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"guidon/pkg/dynamo"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
	"guidon/pkg/serving"
)

func main() {
	config, err := httpapi.ConfigFromEnv()
	if err != nil {
		log.Fatal(err)
	}
	config.Logger = lambdahttp.Logger(config.Logger)
	store, err := dynamo.Open(context.Background(), dynamo.Options{Table: os.Getenv("TABLE_NAME")})
	if err != nil {
		log.Fatal(err)
	}
	reader := serving.NewReader(store, serving.OptionsOf(config)) // its memory saves reading everything each time
	lambda.Start(func(ctx context.Context) (string, error) { return write(ctx, reader, config.Logger) })
}

// write writes a snapshot if one is due, and tells whether it did.
func write(ctx context.Context, reader *serving.Reader, logger *slog.Logger) (string, error) {
	written, err := reader.WriteSnapshot(ctx)
	if err != nil {
		logger.ErrorContext(ctx, "snapshot", slog.Any("cause", err))
		return "", err
	}
	logger.InfoContext(ctx, "snapshot", slog.Bool("written", written))
	if !written {
		return "no snapshot is due", nil
	}
	return "a snapshot was written", nil
}
