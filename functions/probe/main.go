// Command probe is the Lambda function that calls the public address of the API every five minutes, if the parameter
// ProbeAddress is set. It fails on a wrong response, so Lambda's error metric counts the failures.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

// timeout is for one request.
const timeout = 10 * time.Second

// requests lists what the probe sends. The second looks up a token that does not exist, so it reads the table.
var requests = []struct {
	path   string
	status int
}{
	{"/health", http.StatusOK},
	{"/api/admin/projects", http.StatusUnauthorized},
}

func main() {
	lambda.Start(func(ctx context.Context) error { return probe(ctx, os.Getenv("ADDRESS")) })
}

func probe(ctx context.Context, address string) error {
	client := &http.Client{Timeout: timeout}
	for _, want := range requests {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+want.path, nil) //nolint:gosec // the address is a parameter of the stack
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "*:*.probe-without-any-permission")
		response, err := client.Do(r) //nolint:gosec // the same
		if err != nil {
			return err
		}
		_ = response.Body.Close() // only the status is checked
		if response.StatusCode != want.status {
			return fmt.Errorf("GET %s answered %d, want %d", want.path, response.StatusCode, want.status)
		}
	}
	return nil
}
