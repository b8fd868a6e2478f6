package main

import (
	"context"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"guidon/internal/adminapi"
	"guidon/pkg/agents"
)

func (a *app) mcp() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Let an AI agent work with the flags of a server",
		Long: `Serve the Model Context Protocol (MCP) on standard input and output, for agents that start their servers
themselves. The tools call a Guidon with your token, so an agent can do what you can, except to skip,
approve or apply change requests. A Guidon also serves them at /api/admin/mcp.`,
		Example: "  claude mcp add flags --env GUIDON_URL=https://flags.example.com --env GUIDON_TOKEN=user:... -- guidon mcp",
		Args:    cobra.NoArgs,
	}
	a.calls(cmd, func(ctx context.Context, server *adminapi.Client, _ []string) error {
		transport := &mcp.IOTransport{Reader: io.NopCloser(a.in), Writer: writeCloser{a.out}}
		return agents.NewServer(server.Exchange, "").Run(ctx, transport)
	})
	hide(cmd, "output")
	return cmd
}

// A writeCloser is a writer that its user does not close.
type writeCloser struct{ io.Writer }

// Close leaves the writer open.
func (writeCloser) Close() error { return nil }
