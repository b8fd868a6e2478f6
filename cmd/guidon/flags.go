package main

import (
	"cmp"
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
)

// A flagRow is a flag in the output of flag list.
type flagRow struct {
	Name         string            `json:"name"`
	Project      string            `json:"project"`
	Type         string            `json:"type"`
	Stale        bool              `json:"stale"`
	Environments []flagEnvironment `json:"environments"`
}

type flagEnvironment struct {
	Name    string `json:"name"`
	Enabled bool   `json:"enabled"`
}

func (a *app) flag() *cobra.Command {
	return a.group(&cobra.Command{
		Use:     "flag",
		Short:   "List flags, show one, switch flags on and off",
		Long:    "List the flags of a project, show one flag, and switch flags on and off in an environment.",
		Example: "  guidon flag list\n  guidon flag on new-checkout --environment development",
	}, a.flagList(), a.flagShow(), a.flagSwitch("on"), a.flagSwitch("off"))
}

func (a *app) addProject(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVarP(into, "project", "p", "", "the `id` of the project (environment: GUIDON_PROJECT; default default)")
}

// projectOf is the project of the flag, the environment, or the default one.
func (a *app) projectOf(id string) string { return cmp.Or(id, a.getenv("GUIDON_PROJECT"), "default") }

func (a *app) flagList() *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the flags of a project",
		Long:  "List the active flags of a project, with their state in each environment.",
		Example: `  guidon flag list
  guidon flag list --project shop
  guidon flag list --output json | jq -r '.[] | select(.stale) | .name'`,
		Args: cobra.NoArgs,
	}
	a.addProject(cmd, &project)
	return a.calls(cmd, func(ctx context.Context, server *adminapi.Client, _ []string) error {
		list, err := listFlags(ctx, server, a.projectOf(project))
		if err != nil {
			return err
		}
		rows := [][]string{{"NAME", "TYPE", "STALE", "ENVIRONMENTS"}}
		for _, f := range list {
			var states []string
			for _, e := range f.Environments {
				states = append(states, e.Name+"="+onOff(e.Enabled))
			}
			rows = append(rows, []string{f.Name, f.Type, strconv.FormatBool(f.Stale), orDash(strings.Join(states, " "))})
		}
		return a.print(list, rows)
	})
}

// listFlags reads the active flags of a project. Newer versions of Unleash have no such list: it searches there.
func listFlags(ctx context.Context, server *adminapi.Client, project string) ([]flagRow, error) {
	list, err := flagPages(ctx, server, "/api/admin/projects/"+url.PathEscape(project)+"/features", flagsPerPage)
	if adminapi.Refused(err, http.StatusNotFound) {
		found, searchErr := searchFlags(ctx, server, project)
		if searchErr != nil || len(found) == 0 { // the project does not exist
			return nil, err
		}
		list, err = found, nil
	}
	for i := range list {
		list[i].Project = project
		list[i].Environments = append([]flagEnvironment{}, list[i].Environments...) // [] rather than null
	}
	return list, err
}

// flagPages reads a list of flags in pages. A server that knows no pages returns all flags at once.
func flagPages(ctx context.Context, server *adminapi.Client, path string, size int) ([]flagRow, error) {
	type page struct {
		Features []flagRow
		Next     string
	}
	all, cursor := []flagRow{}, ""
	for {
		var next page
		query := url.Values{"limit": {strconv.Itoa(size)}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		if err := server.Get(ctx, path+"?"+query.Encode(), &next); err != nil {
			return nil, err
		}
		all = append(all, next.Features...)
		switch {
		case next.Next == "":
			return all, nil
		case next.Next <= cursor:
			return nil, fmt.Errorf("the server returned the page after %q again", cursor)
		}
		cursor = next.Next
	}
}

func searchFlags(ctx context.Context, server *adminapi.Client, project string) ([]flagRow, error) {
	const pageSize = 100
	for all := []flagRow{}; ; {
		var page struct{ Features []flagRow }
		query := url.Values{"project": {"IS:" + project}, "limit": {strconv.Itoa(pageSize)}, "offset": {strconv.Itoa(len(all))}}
		if err := server.Get(ctx, "/api/admin/search/features?"+query.Encode(), &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Features...); len(page.Features) < pageSize {
			return all, nil
		}
	}
}

// flagNames completes the names of flags.
func (a *app) flagNames(project *string) cobra.CompletionFunc {
	return a.completes(func(ctx context.Context, server *adminapi.Client) ([]string, error) {
		list, err := listFlags(ctx, server, a.projectOf(*project))
		names := make([]string, len(list))
		for i, f := range list {
			names[i] = f.Name
		}
		return names, err
	})
}

func (a *app) flagShow() *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show one flag",
		Long: `Show a flag with its strategies in each environment. With --output json, show everything that the
server returns.`,
		Example: `  guidon flag show new-checkout
  guidon flag show new-checkout --output json | jq .environments`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.flagNames(&project),
	}
	a.addProject(cmd, &project)
	return a.calls(cmd, func(ctx context.Context, server *adminapi.Client, args []string) error {
		var raw json.RawMessage
		path := "/api/admin/projects/" + url.PathEscape(a.projectOf(project)) + "/features/" + url.PathEscape(args[0])
		if err := server.Get(ctx, path, &raw); err != nil {
			return err
		}
		if a.output == formatJSON {
			return a.print(raw, nil)
		}
		return a.printFlag(raw)
	})
}

func (a *app) printFlag(raw json.RawMessage) error {
	var f struct {
		Name, Project, Type, Description, CreatedAt string
		Stale                                       bool
		Environments                                []struct {
			Name       string
			Enabled    bool
			Strategies []struct {
				Name       string
				Disabled   bool
				Parameters map[string]any
			}
		}
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return fmt.Errorf("the server's flag is not in the expected form: %w", err)
	}
	err := printTable(a.out, [][]string{
		{"name", f.Name}, {"project", f.Project}, {"type", f.Type}, {"description", orDash(f.Description)},
		{"stale", strconv.FormatBool(f.Stale)}, {"created", orDash(f.CreatedAt)},
	})
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(a.out)
	rows := [][]string{{"ENVIRONMENT", "STATE", "STRATEGIES"}}
	for _, e := range f.Environments {
		var strategies []string
		for _, s := range e.Strategies {
			strategies = append(strategies, strategyText(s.Name, s.Parameters, s.Disabled))
		}
		rows = append(rows, []string{e.Name, onOff(e.Enabled), orDash(strings.Join(strategies, ", "))})
	}
	return printTable(a.out, rows)
}

func strategyText(name string, parameters map[string]any, disabled bool) string {
	if rollout, ok := parameters["rollout"]; ok {
		name += fmt.Sprintf(" %v%%", rollout)
	}
	if disabled {
		name += " (disabled)"
	}
	return name
}

// flagSwitch is the command on or off.
func (a *app) flagSwitch(state string) *cobra.Command {
	var project, environment, force string
	var rollout int
	cmd := &cobra.Command{
		Use:   state + " NAME... --environment ENVIRONMENT",
		Short: "Switch flags " + state + " in an environment",
		Long: "Switch flags " + state + ` in one environment. Flags that are ` + state + ` already stay ` + state + `, so the command can be
repeated. It stops at the first flag that the server refuses; those before it are switched.`,
		Example: "  guidon flag " + state + " new-checkout --environment development\n" +
			"  guidon flag " + state + " new-checkout dark-mode --project shop --environment production",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.flagNames(&project),
	}
	a.addProject(cmd, &project)
	a.addEnvironment(cmd, &environment, "the `name` of the environment (environment: GUIDON_ENVIRONMENT)")
	if state == "on" {
		cmd.Long += `

Guidon refuses to switch on a flag without a strategy. --rollout adds one to flags that have none:
a gradual rollout to a percentage of the users. Guidon also refuses it while the signal of a
safeguard of its release plan fires. --force switches on in spite of that, and the log of events has
the reason.`
		cmd.Example += "\n  guidon flag on new-checkout --environment development --rollout 50"
		cmd.Flags().IntVar(&rollout, "rollout", 0, "the `percentage` of the strategy to add to flags without strategies, 1 to 100")
		cmd.Flags().StringVar(&force, "force", "", "do it although the signal of a safeguard fires, for this `reason`")
	}
	return a.calls(cmd, func(ctx context.Context, server *adminapi.Client, names []string) error {
		if cmd.Flags().Changed("rollout") && (rollout < 1 || rollout > 100) {
			return &usageError{errors.New("--rollout must be a percentage from 1 to 100")}
		}
		in := cmp.Or(environment, a.getenv("GUIDON_ENVIRONMENT"))
		if in == "" {
			return &usageError{errors.New("--environment is required")}
		}
		type switched struct {
			Name        string `json:"name"`
			Project     string `json:"project"`
			Environment string `json:"environment"`
			Enabled     bool   `json:"enabled"`
		}
		var body any
		if force != "" {
			body = map[string]string{"force": force}
		}
		list := []switched{}
		rows := [][]string{{"NAME", "ENVIRONMENT", "STATE"}}
		var failure error
		for _, name := range names {
			path := "/api/admin/projects/" + url.PathEscape(a.projectOf(project)) + "/features/" + url.PathEscape(name) +
				"/environments/" + url.PathEscape(in)
			if rollout > 0 {
				failure = addRollout(ctx, server, path+"/strategies", rollout)
			}
			if failure == nil {
				failure = server.Call(ctx, http.MethodPost, path+"/"+state, body, nil)
			}
			if failure != nil {
				break
			}
			list = append(list, switched{name, a.projectOf(project), in, state == "on"})
			rows = append(rows, []string{name, in, state})
		}
		if len(list) == 0 {
			return failure
		}
		return errors.Join(a.print(list, rows), failure)
	})
}

// addRollout adds a gradual rollout to a flag without strategies.
func addRollout(ctx context.Context, server *adminapi.Client, path string, percentage int) error {
	var strategies []json.RawMessage
	if err := server.Get(ctx, path, &strategies); err != nil || len(strategies) > 0 {
		return err
	}
	strategy := map[string]any{"name": "flexibleRollout", "parameters": map[string]string{"rollout": strconv.Itoa(percentage), "stickiness": "default"}}
	return server.CallOnce(ctx, http.MethodPost, path, strategy, nil)
}

func onOff(enabled bool) string {
	if enabled {
		return "on"
	}
	return "off"
}
