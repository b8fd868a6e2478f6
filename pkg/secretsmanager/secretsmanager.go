// Package secretsmanager reads secrets from AWS Secrets Manager. Only functions that need a secret link it.
package secretsmanager

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"guidon/pkg/awsconfig"
)

// attemptTimeout is the timeout of one attempt to read a secret.
const attemptTimeout = 2 * time.Second

// Get reads the secret with an ARN or name: one call.
func Get(ctx context.Context, arn string) (string, error) {
	cfg := awsconfig.FromEnvironment("SECRETS_MANAGER", attemptTimeout)
	out, err := sdk.NewFromConfig(cfg).GetSecretValue(ctx, &sdk.GetSecretValueInput{SecretId: aws.String(arn)})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.SecretString), nil
}
