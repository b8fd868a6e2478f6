package serving

import (
	"context"
	"log/slog"

	"guidon/pkg/httpapi"
)

// OptionsOf returns the options of a Reader that follow from the settings of the interface. It logs what went wrong without
// harm.
func OptionsOf(config httpapi.Config) ReaderOptions {
	options := ReaderOptions{MaxAge: config.MaxAge, Now: config.Now}
	if logger := config.Logger; logger != nil {
		options.Report = func(ctx context.Context, problem string, err error) {
			logger.WarnContext(ctx, problem, slog.Any("cause", err))
		}
	}
	return options
}
