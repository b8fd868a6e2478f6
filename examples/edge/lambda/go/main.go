// Command bootstrap is a Lambda function that asks Guidon Edge, which runs beside it as an extension, whether a flag is on.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

var (
	client = &http.Client{Timeout: time.Second}
	edge   = "http://127.0.0.1:" + cmp.Or(os.Getenv("GUIDON_EDGE_PORT"), "2475")
)

type event struct {
	Flag   string `json:"flag"`
	UserID string `json:"userId"`
}

type answer struct {
	Flag    string `json:"flag"`
	On      bool   `json:"on"`
	Problem string `json:"problem,omitempty"`
}

// handle never fails because of flags: without an answer, the flag is off.
func handle(ctx context.Context, e event) (answer, error) {
	on, err := isOn(ctx, e.Flag, e.UserID)
	if err != nil {
		return answer{Flag: e.Flag, Problem: err.Error()}, nil
	}
	return answer{Flag: e.Flag, On: on}, nil
}

// isOn evaluates a flag for a user.
func isOn(ctx context.Context, flag, user string) (bool, error) {
	body, err := json.Marshal(map[string]any{"context": map[string]string{"targetingKey": user}})
	if err != nil {
		return false, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, edge+"/ofrep/v1/evaluate/flags/"+url.PathEscape(flag), bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Authorization", os.Getenv("GUIDON_EDGE_TOKENS"))
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return false, fmt.Errorf("Guidon Edge responded with %d", resp.StatusCode)
	}
	var evaluation struct{ Value bool }
	err = json.NewDecoder(resp.Body).Decode(&evaluation)
	return evaluation.Value, err
}

func main() { lambda.Start(handle) }
