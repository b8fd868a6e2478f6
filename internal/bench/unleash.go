package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"guidon/internal/unleash"
)

const unleashDatabase = "unleash"

// An incumbent is the Unleash that Guidon is compared with. It runs during the whole benchmark: a new process would still be
// compiling its JavaScript while it is measured.
type incumbent struct {
	postgres *unleash.Postgres
	server   *unleash.Server
}

// startUnleash starts Unleash with a database in the folder.
func startUnleash(ctx context.Context, folder string) (*incumbent, error) {
	postgres, err := unleash.StartPostgres(ctx, folder)
	if err != nil {
		return nil, err
	}
	server, err := postgres.Start(ctx, unleash.Version, unleashDatabase, defaultToken)
	if err != nil {
		postgres.Stop()
		return nil, err
	}
	return &incumbent{postgres, server}, nil
}

func (u *incumbent) close() {
	u.server.Stop()
	u.postgres.Stop()
}

// open connects to Unleash for one phase.
func (u *incumbent) open(context.Context) (*target, error) {
	t := newTarget(u.server.URL, defaultToken)
	t.log = u.server.Process.Output.End
	t.usage = func() usage { return unleashUsage(u.server.Process.PID(), u.postgres.Process.PID()) }
	// Right after 1,000 flags were created, PostgreSQL plans with the statistics of an empty table, and listing was five times
	// slower than a minute later.
	t.settle = func(ctx context.Context) error {
		return u.postgres.Query(ctx, unleash.Version, unleashDatabase, "vacuum analyze")
	}
	// Archived flags would slow down later phases.
	t.remove = func(ctx context.Context, names []string) error {
		if err := t.archive(ctx, names); err != nil {
			return err
		}
		return t.batches(ctx, "delete", names, http.StatusOK)
	}
	return t, nil
}

// version returns what Unleash says of its version.
func (u *incumbent) version(ctx context.Context) (string, error) {
	var body bytes.Buffer
	t := newTarget(u.server.URL, defaultToken)
	defer t.close()
	if _, err := t.send(ctx, request{method: http.MethodGet, path: "/api/admin/ui-config", want: http.StatusOK}, &body); err != nil {
		return "", err
	}
	var config struct{ Version string }
	if err := json.Unmarshal(body.Bytes(), &config); err != nil {
		return "", fmt.Errorf("reading Unleash's version: %w", err)
	}
	return config.Version, nil
}
