package main

import (
	"cmp"
	"context"
	"net"
	"time"

	"github.com/spf13/cobra"

	"guidon/internal/adminapi"
)

// healthTimeout limits how long guidon health waits for the server.
const healthTimeout = 5 * time.Second

func (a *app) health() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Check that a server responds",
		Long: `Check that a server responds, within 5 seconds. It needs no token. Without --url and GUIDON_URL it
checks the server on this machine, at the port PORT. The container image uses it as its health check.`,
		Example: `  guidon health
  guidon health --url https://flags.example.com`,
		Args:   cobra.NoArgs,
		PreRun: func(*cobra.Command, []string) { a.url = cmp.Or(a.url, a.getenv("GUIDON_URL"), a.localServer()) },
	}
	a.calls(cmd, func(ctx context.Context, server *adminapi.Client, _ []string) error {
		ctx, cancel := context.WithTimeout(ctx, healthTimeout)
		defer cancel()
		server.Attempts = 1
		var answer struct {
			Health string `json:"health"`
		}
		if err := server.Get(ctx, "/health", &answer); err != nil {
			return err
		}
		return a.print(answer, [][]string{{answer.Health}})
	})
	hide(cmd, "token")
	return cmd
}

// localServer is the address of the server that HOST and PORT describe.
func (a *app) localServer() string {
	host := cmp.Or(a.getenv("HOST"), "127.0.0.1")
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, cmp.Or(a.getenv("PORT"), "4242"))
}
