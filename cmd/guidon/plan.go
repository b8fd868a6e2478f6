package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"guidon/internal/adminapi"
)

// A planRow is what the commands print of a release plan.
type planRow struct {
	ID, Name, State, StateReason, NextAt, ActiveMilestoneID string

	Run        int64
	Milestones []struct {
		ID, Name, StartedAt string
		TransitionCondition *struct{ IntervalMinutes int }
		Strategies          []struct {
			StrategyName string
			Disabled     bool
			Parameters   map[string]any
		}
	}
	Safeguards []safeguardRow
}

type safeguardRow struct {
	Signal struct{ Alarm, Name string }
	Action struct{ Type string }
}

// active returns the index of the milestone that has run last; -1 before the first.
func (p *planRow) active() int {
	for i, m := range p.Milestones {
		if m.ID == p.ActiveMilestoneID {
			return i
		}
	}
	return -1
}

// A planAction does something with a plan. path is that of the flag in the environment. It returns what to print if the plan has ended.
type planAction func(ctx context.Context, server *adminapi.Client, path string, plan planRow) (ended string, err error)

func (a *app) plan() *cobra.Command {
	var force string
	next := a.planCommand("next", "Start the next milestone", `Start the milestone that follows the running one. If the plan has gone on since the command has read
it, nothing is changed: exit code 3. Then look at it, and run the command again.

Guidon refuses to start a milestone while the signal of a safeguard fires. --force starts it in spite
of that, and the log of events has the reason.`, func(ctx context.Context, server *adminapi.Client, path string, plan planRow) (string, error) {
		i := plan.active() + 1
		if i == len(plan.Milestones) {
			return "", fmt.Errorf("milestone %q is the last one of release plan %q: end the plan with guidon plan finish", plan.Milestones[i-1].Name, plan.Name)
		}
		return "", startRun(ctx, server, path+"/release-plans/"+url.PathEscape(plan.ID)+"/milestones/"+url.PathEscape(plan.Milestones[i].ID)+"/start", plan, force)
	})
	resume := a.planCommand("resume", "Resume a paused plan", `Resume a plan that a person or a safeguard has paused: the time of the running milestone begins again.
A plan that is not paused stays as it is, so the command can be repeated. Unlike next, it does not
start a milestone. --force is that of next.`, func(ctx context.Context, server *adminapi.Client, path string, plan planRow) (string, error) {
		return "", startRun(ctx, server, path+"/progressions/"+url.PathEscape(plan.ID)+"/resume", plan, force)
	})
	for _, cmd := range []*cobra.Command{next, resume} {
		cmd.Flags().StringVar(&force, "force", "", "do it although the signal of a safeguard fires, for this `reason`")
		cmd.Example += "\n" + cmd.Example + " --force false-alarm"
	}
	return a.group(&cobra.Command{
		Use:   "plan",
		Short: "Show the release plan of a flag, start its next milestone, pause or finish it",
		Long: `Show the release plan of a flag in an environment, start its next milestone, pause, resume or finish it.

People add plans in the console, or by the API.`,
		Example: "  guidon plan show new-checkout --environment production\n  guidon plan next new-checkout --environment production",
	}, a.planCommand("show", "Show a release plan", `Show the release plan of a flag: its state, its safeguards and whether their signals fire (of CloudWatch
alarms, the state says so), and its milestones, with a star at the one that runs. With --output json, show
everything that the server returns.`,
		func(context.Context, *adminapi.Client, string, planRow) (string, error) { return "", nil }),
		next,
		a.planCommand("finish", "Finish a plan", `Finish a plan: no other milestone starts, safeguards no longer act, and the strategies of the running
milestone stay, as ordinary ones. Whether the flag is on does not change.`, func(ctx context.Context, server *adminapi.Client, path string, plan planRow) (string, error) {
			at := "before its first milestone"
			if i := plan.active(); i >= 0 {
				at = "at milestone " + strconv.Quote(plan.Milestones[i].Name)
			}
			return fmt.Sprintf("release plan %q is finished %s, and its strategies stay", plan.Name, at),
				server.Call(ctx, http.MethodPost, path+"/release-plans/"+url.PathEscape(plan.ID)+"/detach", nil, nil)
		}),
		a.planCommand("pause", "Pause a plan", `Pause a plan: no milestone starts by itself. The strategies of the running milestone stay. Paused
again, the plan stays as it is, so the command can be repeated.`, func(ctx context.Context, server *adminapi.Client, path string, plan planRow) (string, error) {
			return "", server.Call(ctx, http.MethodPost, path+"/release-plans/"+url.PathEscape(plan.ID)+"/pause", nil, nil)
		}), resume)
}

// startRun begins another run of the plan, unless it has begun one since it was read. The request can be repeated.
func startRun(ctx context.Context, server *adminapi.Client, path string, plan planRow, force string) error {
	server.IfMatch = strconv.Quote(strconv.FormatInt(plan.Run, 10))
	defer func() { server.IfMatch = "" }()
	var body any
	if force != "" {
		body = map[string]string{"force": force}
	}
	return server.Call(ctx, http.MethodPost, path, body, nil)
}

// planCommand returns a command that does something with the plan of a flag, and prints the plan as it is then.
func (a *app) planCommand(verb, short, long string, do planAction) *cobra.Command {
	var project, environment string
	cmd := &cobra.Command{
		Use: verb + " FLAG --environment ENVIRONMENT", Short: short, Long: long,
		Example:           "  guidon plan " + verb + " new-checkout --environment production",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.flagNames(&project),
	}
	a.addProject(cmd, &project)
	a.addEnvironment(cmd, &environment, "the `name` of the environment (environment: GUIDON_ENVIRONMENT)")
	return a.calls(cmd, func(ctx context.Context, server *adminapi.Client, args []string) error {
		in := cmp.Or(environment, a.getenv("GUIDON_ENVIRONMENT"))
		if in == "" {
			return &usageError{errors.New("--environment is required")}
		}
		path := "/api/admin/projects/" + url.PathEscape(a.projectOf(project)) + "/features/" + url.PathEscape(args[0]) + "/environments/" + url.PathEscape(in)
		read := func() (raw json.RawMessage, plan planRow, err error) {
			var list []json.RawMessage
			if err := server.Get(ctx, path+"/release-plans", &list); err != nil {
				return nil, plan, err
			}
			if len(list) == 0 {
				return nil, plan, fmt.Errorf("flag %s has no release plan in %s", args[0], in)
			}
			if err := json.Unmarshal(list[0], &plan); err != nil {
				return nil, plan, fmt.Errorf("the server's release plan is not in the expected form: %w", err)
			}
			return list[0], plan, nil
		}
		raw, plan, err := read()
		if err != nil {
			return err
		}
		ended, err := do(ctx, server, path, plan)
		if err != nil {
			return err
		}
		if ended != "" {
			return a.print(raw, [][]string{{ended}})
		}
		if raw, plan, err = read(); err != nil {
			return err
		}
		if a.output == formatJSON {
			return a.print(raw, nil)
		}
		signals, err := signalsOf(ctx, server, "/api/admin/projects/"+url.PathEscape(a.projectOf(project))+"/environments/"+url.PathEscape(in)+"/signals", plan)
		if err != nil {
			return err
		}
		return a.printPlan(plan, signals)
	})
}

// signalsOf returns what the named signals of a plan say, such as "firing since …"; nothing to a caller who may not read signals.
func signalsOf(ctx context.Context, server *adminapi.Client, path string, plan planRow) (map[string]string, error) {
	if !slices.ContainsFunc(plan.Safeguards, func(s safeguardRow) bool { return s.Signal.Name != "" }) {
		return nil, nil
	}
	var list []struct{ Name, Status, ReceivedAt string }
	if err := server.Get(ctx, path, &list); err != nil && !adminapi.Refused(err, http.StatusForbidden) {
		return nil, err
	}
	says := map[string]string{}
	for _, s := range list {
		says[s.Name] = "never posted"
		if s.Status != "" {
			says[s.Name] = s.Status + " since " + s.ReceivedAt
		}
	}
	return says, nil
}

func (a *app) printPlan(plan planRow, signals map[string]string) error {
	about := [][]string{{"plan", plan.Name}, {"state", plan.State}, {"reason", orDash(plan.StateReason)}, {"next", orDash(plan.NextAt)}}
	for _, s := range plan.Safeguards {
		text := s.Action.Type + " when " + cmp.Or(s.Signal.Name, s.Signal.Alarm) + " fires"
		if now := signals[s.Signal.Name]; now != "" {
			text += " (now: " + now + ")"
		}
		about = append(about, []string{"safeguard", text})
	}
	if err := printTable(a.out, about); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(a.out)
	rows := [][]string{{"", "MILESTONE", "STRATEGIES", "NEXT AFTER", "STARTED"}}
	for i, m := range plan.Milestones {
		row := []string{"", m.Name, "", "-", orDash(m.StartedAt)}
		if i == plan.active() {
			row[0] = "*"
		}
		var strategies []string
		for _, s := range m.Strategies {
			strategies = append(strategies, strategyText(s.StrategyName, s.Parameters, s.Disabled))
		}
		row[2] = orDash(strings.Join(strategies, ", "))
		if t := m.TransitionCondition; t != nil {
			row[3] = strconv.Itoa(t.IntervalMinutes) + " min"
		}
		rows = append(rows, row)
	}
	return printTable(a.out, rows)
}
