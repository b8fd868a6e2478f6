package awsconfig

import (
	"context"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// endpoints are the settings of endpoints in the environment, as the clients of the SDK ask for them.
type endpoints struct{}

// GetUseFIPSEndpoint reads AWS_USE_FIPS_ENDPOINT.
func (endpoints) GetUseFIPSEndpoint(context.Context) (state aws.FIPSEndpointState, found bool, err error) {
	if os.Getenv("AWS_USE_FIPS_ENDPOINT") == "true" {
		return aws.FIPSEndpointStateEnabled, true, nil
	}
	return aws.FIPSEndpointStateUnset, false, nil
}

// GetUseDualStackEndpoint reads AWS_USE_DUALSTACK_ENDPOINT.
func (endpoints) GetUseDualStackEndpoint(context.Context) (state aws.DualStackEndpointState, found bool, err error) {
	if os.Getenv("AWS_USE_DUALSTACK_ENDPOINT") == "true" {
		return aws.DualStackEndpointStateEnabled, true, nil
	}
	return aws.DualStackEndpointStateUnset, false, nil
}
