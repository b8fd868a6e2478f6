// Command smoke is the Lambda function that CodeDeploy calls before a canary gets its first request (the hook
// BeforeAllowTraffic). It sends the new version two harmless requests, without and with a valid token, and reports the result to
// CodeDeploy. If a response is wrong, the deployment stops before any caller reaches the new version.
package main

import (
	"context"
	"log"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy"
	lambdaapi "github.com/aws/aws-sdk-go-v2/service/lambda"

	"guidon/pkg/secretsmanager"
)

func main() {
	slog.SetDefault(slog.New(lambdacontext.NewLogHandler()))
	aws, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	h := hook{
		deployments: codedeploy.NewFromConfig(aws), functions: lambdaapi.NewFromConfig(aws),
		secret: func(ctx context.Context) (string, error) {
			return secretsmanager.Get(ctx, os.Getenv("SMOKE_TOKEN_SECRET"))
		},
	}
	lambda.Start(h.handle)
}
