package lambdahttp

import (
	"context"
	"log/slog"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// Logger is a logger whose lines have the id of the invocation that they were written in: requestId, as in the lines
// that Lambda itself writes. It is the default too from then on, so that what others log is found and filtered alike.
func Logger(to *slog.Logger) *slog.Logger {
	logger := slog.New(invocationLog{to.Handler()})
	slog.SetDefault(logger)
	return logger
}

// An invocationLog adds the id of the invocation to each line.
type invocationLog struct{ slog.Handler }

// Handle writes a line.
func (l invocationLog) Handle(ctx context.Context, line slog.Record) error {
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		line.AddAttrs(slog.String("requestId", lc.AwsRequestID))
	}
	return l.Handler.Handle(ctx, line)
}

// WithAttrs keeps adding it.
func (l invocationLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return invocationLog{l.Handler.WithAttrs(attrs)}
}

// WithGroup keeps adding it, in the group.
func (l invocationLog) WithGroup(name string) slog.Handler {
	return invocationLog{l.Handler.WithGroup(name)}
}
