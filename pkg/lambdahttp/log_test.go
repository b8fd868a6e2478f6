package lambdahttp_test

import (
	"bytes"
	"encoding/json"
	"log"
	"log/slog"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"guidon/pkg/lambdahttp"
)

// TestLogger sees the id of the invocation in each line that is written in one, by whomever, and that lines stay JSON.
func TestLogger(t *testing.T) {
	before, to := slog.Default(), log.Writer()
	t.Cleanup(func() { slog.SetDefault(before); log.SetOutput(to) })
	var out bytes.Buffer
	logger := lambdahttp.Logger(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn})))
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "of-this"})
	broken := lambdahttp.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) // writes nothing
	tests := []struct {
		name  string
		write func()
		want  any // the id; "no line" where there is none
	}{
		{"in an invocation", func() { logger.ErrorContext(ctx, "x") }, "of-this"},
		{"with attributes before", func() { logger.With("a", 1).ErrorContext(ctx, "x") }, "of-this"},
		{"by the default", func() { slog.ErrorContext(ctx, "x") }, "of-this"},
		{"an event that fails", func() { _, _ = broken(ctx, events.APIGatewayV2HTTPRequest{}) }, "of-this"},
		{"outside of any", func() { logger.ErrorContext(t.Context(), "x") }, nil},
		{"below the level", func() { logger.InfoContext(ctx, "x") }, "no line"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out.Reset()
			tt.write()
			if tt.want == "no line" {
				if out.Len() > 0 {
					t.Errorf("line %s, want none", &out)
				}
				return
			}
			var line map[string]any
			if err := json.Unmarshal(out.Bytes(), &line); err != nil || line["requestId"] != tt.want || line["level"] != "ERROR" {
				t.Errorf("line %s (%v), want requestId %v and its level", &out, err, tt.want)
			}
		})
	}
}
