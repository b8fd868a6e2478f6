package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"guidon/internal/adminapi"
	"guidon/pkg/review"
)

// A requestRow is what the commands print of a change request.
type requestRow struct {
	ID           int64
	Title        string
	State        review.State
	Environment  string
	Conflict     string
	MinApprovals int
	Approvals    []struct{}
	CreatedBy    struct{ Username string }
	Schedule     *struct{ ScheduledAt, Status, Reason string }
	Freeze       *struct{ Environment, Reason, Until string }
	Features     []struct {
		Name, Conflict string
		Changes        []requestChange
		DefaultChange  *requestChange
	}
	Segments []struct {
		requestChange
		Name, Conflict string
	}
}

type requestChange struct {
	Action          string
	Before, Payload json.RawMessage
}

func (a *app) request() *cobra.Command {
	return a.group(&cobra.Command{
		Use:   "request",
		Short: "List, show, apply and cancel change requests",
		Long: `List the open change requests of a project, show one, apply it or cancel it.

People approve change requests in the console: Guidon takes no approval from a token.`,
		Example: "  guidon request list --project shop\n  guidon request apply 12 --project shop",
	}, a.requestList(), a.requestShow(),
		a.requestState("apply", "Applied", "Apply a change request", `Apply a change request: all of its changes, or none. It must be approved. Applying it again changes
nothing, so the command can be repeated.

Exit code 3 also means that approvals are missing, that something was changed since the request was
made, or that the environment is frozen: the reason is printed.`),
		a.requestState("cancel", "Cancelled", "Cancel a change request", `Close an open change request without applying it. Its author can, and those who configure
change requests in the project. Cancelling it again changes nothing.`))
}

// requestsPath is the path of the change requests of a project, or of one of them.
func (a *app) requestsPath(project string, more ...string) string {
	return "/api/admin/projects/" + url.PathEscape(a.projectOf(project)) + "/change-requests" + strings.Join(more, "")
}

func (a *app) requestList() *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the open change requests of a project",
		Long:  "List the change requests of a project that can still be applied, and your own drafts, newest first.",
		Example: `  guidon request list --project shop
  guidon request list --output json | jq '.[] | select(.state == "Approved") | .id'`,
		Args: cobra.NoArgs,
	}
	a.addProject(cmd, &project)
	return a.calls(cmd, func(ctx context.Context, server *adminapi.Client, _ []string) error {
		var all []json.RawMessage
		if err := server.Get(ctx, a.requestsPath(project), &all); err != nil {
			return err
		}
		open, rows := []json.RawMessage{}, [][]string{{"ID", "STATE", "ENVIRONMENT", "APPROVALS", "AUTHOR", "TITLE"}}
		for _, raw := range all {
			r, err := decodeRequest(raw)
			if err != nil {
				return err
			}
			if !r.State.Open() {
				continue
			}
			open = append(open, raw)
			rows = append(rows, []string{strconv.FormatInt(r.ID, 10), string(r.State), r.Environment, r.approvals(), r.CreatedBy.Username, orDash(r.Title)})
		}
		return a.print(open, rows)
	})
}

func decodeRequest(raw json.RawMessage) (r requestRow, err error) {
	if err = json.Unmarshal(raw, &r); err != nil {
		err = fmt.Errorf("the server's change request is not in the expected form: %w", err)
	}
	return r, err
}

func (r *requestRow) approvals() string {
	return fmt.Sprintf("%d of %d", len(r.Approvals), r.MinApprovals)
}

func (a *app) requestShow() *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a change request",
		Long: `Show a change request with its changes: what each of them replaces now, and what it makes of it. If
the request is scheduled or waits for the end of a freeze, show the time and the reason. With
--output json, show everything that the server returns.`,
		Example: `  guidon request show 12 --project shop
  guidon request show 12 --output json | jq -r .state`,
		Args: requestID,
	}
	a.addProject(cmd, &project)
	return a.calls(cmd, func(ctx context.Context, server *adminapi.Client, args []string) error {
		var raw json.RawMessage
		if err := server.Get(ctx, a.requestsPath(project, "/", args[0]), &raw); err != nil {
			return err
		}
		return a.printRequest(raw)
	})
}

// requestID checks the only argument of a command.
func requestID(cmd *cobra.Command, args []string) error {
	if err := cobra.ExactArgs(1)(cmd, args); err != nil {
		return err
	}
	if _, err := strconv.ParseUint(args[0], 10, 63); err != nil {
		return errors.New("the ID of a change request is a number, such as 12")
	}
	return nil
}

func (a *app) printRequest(raw json.RawMessage) error {
	if a.output == formatJSON {
		return a.print(raw, nil)
	}
	r, err := decodeRequest(raw)
	if err != nil {
		return err
	}
	about := [][]string{
		{"id", strconv.FormatInt(r.ID, 10)}, {"title", orDash(r.Title)}, {"state", string(r.State)}, {"environment", r.Environment},
		{"approvals", r.approvals()}, {"author", r.CreatedBy.Username}, {"conflict", orDash(r.Conflict)},
	}
	if s := r.Schedule; s != nil {
		about = append(about, []string{"schedule", s.ScheduledAt + " " + s.Status}, []string{"reason", orDash(s.Reason)})
	}
	if f := r.Freeze; f != nil {
		about = append(about, []string{"freeze", fmt.Sprintf("%s until %s: %s", f.Environment, f.Until, f.Reason)})
	}
	if err := printTable(a.out, about); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(a.out)
	rows := [][]string{{"CHANGE OF", "ACTION", "CONFLICT", "BEFORE", "PAYLOAD"}}
	for _, f := range r.Features {
		for _, c := range f.Changes {
			rows = append(rows, []string{f.Name, c.Action, orDash(f.Conflict), orDash(string(c.Before)), orDash(string(c.Payload))})
		}
		if c := f.DefaultChange; c != nil {
			rows = append(rows, []string{f.Name, c.Action + " (by switching on)", orDash(f.Conflict), orDash(""), string(c.Payload)})
		}
	}
	for _, s := range r.Segments {
		rows = append(rows, []string{"segment " + s.Name, s.Action, orDash(s.Conflict), orDash(string(s.Before)), orDash(string(s.Payload))})
	}
	return printTable(a.out, rows)
}

// requestState is a command that brings a change request to a state.
func (a *app) requestState(verb, state, short, long string) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use: verb + " ID", Short: short, Long: long, Args: requestID,
		Example: "  guidon request " + verb + " 12 --project shop",
	}
	a.addProject(cmd, &project)
	return a.calls(cmd, func(ctx context.Context, server *adminapi.Client, args []string) error {
		var raw json.RawMessage
		if err := server.Call(ctx, http.MethodPut, a.requestsPath(project, "/", args[0], "/state"), map[string]string{"state": state}, &raw); err != nil {
			return err
		}
		return a.printRequest(raw)
	})
}
