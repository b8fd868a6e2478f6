// Package awsconfig configures the AWS clients of functions, from the environment variables that Lambda sets. The SDK's own
// loader also looks for profiles, single sign-on and the roles of machines, which functions do not have: it makes each
// program 1.8 MB larger and its start longer.
package awsconfig

import (
	"cmp"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// FromEnvironment returns the region, the credentials and the endpoint of a service. The name of the service is that in
// AWS_ENDPOINT_URL_<service>, such as DYNAMODB. timeout is that of one attempt of a request. Without credentials in the
// environment, requests fail.
func FromEnvironment(service string, timeout time.Duration) aws.Config {
	cfg := aws.Config{
		Region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
		Credentials: aws.NewCredentialsCache(credentials.StaticCredentialsProvider{Value: aws.Credentials{
			AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
			SessionToken: os.Getenv("AWS_SESSION_TOKEN"), AccountID: os.Getenv("AWS_ACCOUNT_ID"),
		}}),
		AccountIDEndpointMode: aws.AccountIDEndpointMode(os.Getenv("AWS_ACCOUNT_ID_ENDPOINT_MODE")),
		ConfigSources:         []any{endpoints{}},
		HTTPClient:            awshttp.NewBuildableClient().WithTimeout(timeout),
	}
	if endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_"+service), os.Getenv("AWS_ENDPOINT_URL")); endpoint != "" {
		cfg.BaseEndpoint = &endpoint
	}
	return cfg
}
