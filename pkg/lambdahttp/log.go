package lambdahttp

import (
	"context"
	"log/slog"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// Logger returns a logger that adds the name of the Lambda function to each line, as function, because functions share log groups, and
// the ID of the invocation, as requestId, like the lines that Lambda itself writes. It also becomes the default logger, so that the
// lines of libraries have both too.
func Logger(to *slog.Logger) *slog.Logger {
	handler := to.Handler()
	if lambdacontext.FunctionName != "" {
		handler = handler.WithAttrs([]slog.Attr{slog.String("function", lambdacontext.FunctionName)})
	}
	logger := slog.New(invocationLog{handler})
	slog.SetDefault(logger)
	return logger
}

// An invocationLog adds the ID of the invocation to each line.
type invocationLog struct{ slog.Handler }

// Handle adds the ID to a line.
func (l invocationLog) Handle(ctx context.Context, line slog.Record) error {
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		line.AddAttrs(slog.String("requestId", lc.AwsRequestID))
	}
	return l.Handler.Handle(ctx, line)
}

// WithAttrs returns a handler that also adds the ID.
func (l invocationLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return invocationLog{l.Handler.WithAttrs(attrs)}
}

// WithGroup returns a handler that also adds the ID, inside the group.
func (l invocationLog) WithGroup(name string) slog.Handler {
	return invocationLog{l.Handler.WithGroup(name)}
}
