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

// TestLogger checks that each line of an invocation has its ID, and each line the function, whatever code writes it, and that lines are JSON.
func TestLogger(t *testing.T) {
	before, to, function := slog.Default(), log.Writer(), lambdacontext.FunctionName
	t.Cleanup(func() { slog.SetDefault(before); log.SetOutput(to); lambdacontext.FunctionName = function })
	lambdacontext.FunctionName = "guidon-prod-Features"
	var out bytes.Buffer
	logger := lambdahttp.Logger(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn})))
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "of-this"})
	broken := lambdahttp.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) // writes nothing
	tests := []struct {
		name  string
		write func()
		want  any // the ID, or "no line"
	}{
		{"in an invocation", func() { logger.ErrorContext(ctx, "x") }, "of-this"},
		{"with attributes", func() { logger.With("a", 1).ErrorContext(ctx, "x") }, "of-this"},
		{"default logger", func() { slog.ErrorContext(ctx, "x") }, "of-this"},
		{"failed event", func() { _, _ = broken(ctx, events.APIGatewayV2HTTPRequest{}) }, "of-this"},
		{"outside an invocation", func() { logger.ErrorContext(t.Context(), "x") }, nil},
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
			if err := json.Unmarshal(out.Bytes(), &line); err != nil || line["requestId"] != tt.want || line["level"] != "ERROR" || line["function"] != "guidon-prod-Features" {
				t.Errorf("line %s (%v), want requestId %v, its level and the function", &out, err, tt.want)
			}
		})
	}
}
