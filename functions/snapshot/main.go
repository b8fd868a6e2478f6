// Command snapshot is the Lambda function that writes a snapshot of what applications see, if the last one is old. New
// instances of the functions applications and frontend read it, instead of reading every flag. EventBridge calls this function every
// five minutes. Without a snapshot, nothing is wrong for callers: instances only start more slowly.
//
// With PUBLISH_TO, a list of buckets, it is called every minute, and also publishes the states that Guidon Edge serves when the region is gone.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"guidon/pkg/awsconfig"
	"guidon/pkg/dynamo"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
	"guidon/pkg/published/bucket"
	"guidon/pkg/serving"
)

// publishTimeout is how long an attempt of a request to a bucket may take.
const publishTimeout = 8 * time.Second

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
	var places []serving.Place
	for address := range strings.FieldsSeq(os.Getenv("PUBLISH_TO")) {
		b, err := bucket.Open(awsconfig.FromEnvironment("S3", publishTimeout), address)
		if err != nil {
			log.Fatal(err)
		}
		places = append(places, b)
	}
	publisher := serving.NewPublisher(reader, places...)
	lambda.Start(func(ctx context.Context) (string, error) { return run(ctx, reader, publisher, config.Logger) })
}

// run writes a snapshot if one is due, publishes states if there are places for them, and tells what it did.
func run(ctx context.Context, reader *serving.Reader, publisher *serving.Publisher, logger *slog.Logger) (string, error) {
	written, err := reader.WriteSnapshot(ctx)
	heads, publishErr := publisher.Run(ctx)
	if err := errors.Join(err, publishErr); err != nil {
		logger.ErrorContext(ctx, "snapshot", slog.Any("cause", err))
		return "", err
	}
	logger.InfoContext(ctx, "snapshot", slog.Bool("written", written), slog.Int("published", heads))
	text := "no snapshot is due"
	if written {
		text = "a snapshot was written"
	}
	if heads > 0 {
		text += fmt.Sprintf(", %d states were published", heads)
	}
	return text, nil
}
