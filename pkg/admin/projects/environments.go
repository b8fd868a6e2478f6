package projects

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// Environments is the group of the environments of the service, and of the list of a project's (contract: Environments).
func Environments() httpapi.Group {
	const (
		all = "/api/admin/environments"
		one = all + "/{environmentName}"
	)
	environments := []flags.Key{flags.EnvironmentsKey()}
	return httpapi.Group{Name: "environments", Function: "projects", Operations: slices.Concat(serviceFreezeOperations(), []httpapi.Operation{
		{Route: "GET " + all, Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(listEnvironments)},
		{Route: "POST " + all, Permission: access.CreateEnvironment, Ahead: environments, Status: http.StatusCreated, Handle: httpapi.HandleBody(createEnvironment)},
		{Route: "POST " + all + "/validate", Permission: access.Read, Ahead: environments, Handle: httpapi.DoBody(validateEnvironment)},
		{Route: "PUT " + all + "/sort-order", Permission: access.UpdateEnvironment, Ahead: environments, Handle: httpapi.DoBody(orderEnvironments)},
		{Route: "PUT " + all + "/update/{environmentName}", Permission: access.UpdateEnvironment, Ahead: environments,
			Handle: httpapi.HandleBody(updateEnvironment)},
		{Route: "GET " + all + "/project/{projectId}", Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(listProjectEnvironments)},
		{Route: "GET " + one, Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(readEnvironment)},
		{Route: "DELETE " + one, Permission: access.DeleteEnvironment, Ahead: []flags.Key{flags.EnvironmentsKey(), access.RolesKey(), flags.FeedKey()},
			Handle: httpapi.Do(deleteEnvironment)},
		{Route: "POST " + one + "/on", Permission: access.UpdateEnvironment, Ahead: environments, Status: http.StatusNoContent, Handle: httpapi.Do(enableEnvironment)},
		{Route: "POST " + one + "/off", Permission: access.UpdateEnvironment, Ahead: environments, Status: http.StatusNoContent, Handle: httpapi.Do(disableEnvironment)},
	})}
}

// inEnvironment is the place of an operation on an environment of the service.
type inEnvironment struct {
	httpapi.InService
	Name string `path:"environmentName"`
}

// find returns the registry, and the environment of the path in it. NotFound if it does not exist.
func (at inEnvironment) find(tx *httpapi.Tx) (*flags.Environments, *flags.Environment) {
	registry := tx.Environments()
	env, err := registry.Get(at.Name)
	if err != nil {
		tx.Fail(err)
	}
	return registry, env
}

func listEnvironments(tx *httpapi.Tx, _ httpapi.InService) (environmentList, error) {
	registry, projects, tokens := tx.Environments(), tx.Projects(), tx.Tokens()
	byID := make(map[string]*flags.Project, len(projects))
	for _, p := range projects {
		byID[p.ID] = p
	}
	project := func(id string) *flags.Project { return byID[id] }
	return environmentList{Version: 1, Environments: httpapi.Each(registry.Sorted(), func(env flags.Environment) countedEnvironment {
		return countedEnvironment{
			EnvironmentView: shape.EnvironmentViewOf(env),
			ProjectCount:    count(projects, func(p *flags.Project) bool { return p.HasEnvironment(env) }),
			TokenCount:      count(tokens, func(t *access.Token) bool { return t.CanRead(env, project, registry, tx.Now) }),
		}
	})}, nil
}

func listProjectEnvironments(tx *httpapi.Tx, at httpapi.InProject) (projectEnvironmentList, error) {
	p := at.Project(tx)
	registry, active, tokens := tx.Environments(), tx.Summaries(p), tx.Tokens()
	project := func(id string) *flags.Project {
		if id != p.ID {
			return nil
		}
		return p
	}
	return projectEnvironmentList{Version: 1, Environments: httpapi.Each(tx.ProjectEnvironments(p), func(env flags.ProjectEnvironment) projectEnvironmentView {
		return projectEnvironmentView{
			EnvironmentView: shape.EnvironmentViewOf(env.Environment), Visible: true, DefaultStrategy: shape.DefaultStrategyViewOf(env.Attachment.DefaultStrategy),
			TokenCount:   count(tokens, func(t *access.Token) bool { return t.CanRead(env.Environment, project, registry, tx.Now) }),
			EnabledCount: count(active, func(s flags.FeatureSummary) bool { _, enabled := s.In(env); return enabled }),
		}
	})}, nil
}

func readEnvironment(tx *httpapi.Tx, at inEnvironment) (shape.EnvironmentView, error) {
	_, env := at.find(tx)
	return shape.EnvironmentViewOf(*env), nil
}

func createEnvironment(tx *httpapi.Tx, _ httpapi.InService, in createEnvironmentBody) (shape.EnvironmentView, error) {
	registry := tx.Environments()
	env := flags.Environment{
		Name: in.Name, UID: flags.ShortID(tx.NewID()), Type: in.Type.Value, Enabled: in.Enabled.Or(true),
		SortOrder: in.SortOrder.Or(registry.NextSortOrder()), CreatedAt: tx.Now, ReviewPolicy: in.applyTo(flags.ReviewPolicy{}),
	}
	if err := registry.Add(env, tx.Limits); err != nil {
		return shape.EnvironmentView{}, err
	}
	tx.Save(events.EnvironmentCreated(env), registry)
	tx.Created("/api/admin/environments", env.Name)
	return shape.EnvironmentViewOf(env), nil
}

// validateEnvironment checks that an environment can be created with a name. A taken name returns 400 here, not 409.
func validateEnvironment(tx *httpapi.Tx, _ httpapi.InService, in environmentNameBody) error {
	if tx.Environments().Find(in.Name) != nil {
		return flags.Problems{{Path: "/name", Message: "an environment named " + strconv.Quote(in.Name) + " exists already"}}.Err()
	}
	return nil
}

func updateEnvironment(tx *httpapi.Tx, at inEnvironment, in updateEnvironmentBody) (shape.EnvironmentView, error) {
	registry, env := at.find(tx)
	before := *env
	env.Type, env.SortOrder = in.Type.Or(env.Type), in.SortOrder.Or(env.SortOrder)
	if err := registry.SetReviewPolicy(env.Name, in.applyTo(env.ReviewPolicy)); err != nil {
		return shape.EnvironmentView{}, err
	}
	tx.Save(events.EnvironmentUpdated(before, *env), registry)
	return shape.EnvironmentViewOf(*env), nil
}

func enableEnvironment(tx *httpapi.Tx, at inEnvironment) error { return setEnabled(tx, at, true) }

func disableEnvironment(tx *httpapi.Tx, at inEnvironment) error { return setEnabled(tx, at, false) }

// setEnabled sets whether new projects get the environment. It does not enable or disable flags.
func setEnabled(tx *httpapi.Tx, at inEnvironment, enabled bool) error {
	registry, env := at.find(tx)
	before := *env
	env.Enabled = enabled
	tx.Save(events.EnvironmentUpdated(before, *env), registry)
	return nil
}

func orderEnvironments(tx *httpapi.Tx, _ httpapi.InService, in environmentOrderBody) error {
	registry := tx.Environments()
	if err := registry.SetSortOrders(in); err != nil {
		return err
	}
	tx.Save(events.EnvironmentsOrdered(httpapi.Was(tx, registry), in), registry)
	return nil
}

// deleteEnvironment removes an environment from the registry. Flags and projects keep their data for it, which is no longer
// shown. Roles refer to environments by name, so their permissions in this one are removed too: a new environment of the same
// name must not inherit them. An environment in which a flag is on stays: applications would lose the flag at once, and nothing can
// bring its state back. So it is only deleted if nothing was switched on since it was looked for, and nothing that was decided before can be
// switched on afterwards (see flags.Environments.Remove).
func deleteEnvironment(tx *httpapi.Tx, at inEnvironment) error {
	registry, env := at.find(tx)
	deleted := *env
	if err := registry.Remove(deleted.Name); err != nil {
		return err
	}
	tx.AssumeServed()
	if on := flagsOn(tx, deleted); len(on) > 0 {
		const shown = 3
		names := strings.Join(on[:min(shown, len(on))], ", ")
		if len(on) > shown {
			names += fmt.Sprintf(" and %d more", len(on)-shown)
		}
		return flags.Errorf(flags.Conflict, "environment %q has flags that are on: %s; switch them off or archive them first", deleted.Name, names)
	}
	roles := tx.Roles()
	roles.RemoveEnvironment(deleted.Name)
	tx.Save(events.EnvironmentDeleted(deleted), registry, roles)
	var signals []flags.Key
	for _, p := range tx.Projects() {
		if p.HasEnvironment(deleted) {
			signals = append(signals, flags.SignalsKey(p.Environments[deleted.Name].ID))
		}
	}
	deleteSignals(tx, signals...)
	return nil
}

// flagsOn returns the names of the flags that are on in an environment, sorted: one query a project and megabyte.
func flagsOn(tx *httpapi.Tx, env flags.Environment) []string {
	type key struct{ environment string }
	projects := slices.DeleteFunc(slices.Clone(tx.Projects()), func(p *flags.Project) bool { return !p.HasEnvironment(env) })
	return httpapi.OncePerRound(tx, key{env.Name}, func() (names []string) {
		tx.EachSummary(projects, false, nil, func(p *flags.Project, row flags.SummaryRow) error {
			whole, err := row.Whole()
			if _, on := whole.In(flags.ProjectEnvironment{Environment: env, Attachment: p.Environments[env.Name]}); on {
				names = append(names, whole.Name)
			}
			return err
		})
		slices.Sort(names)
		return names
	})
}

// A createEnvironmentBody creates an environment.
type createEnvironmentBody struct {
	Name      string                 `json:"name"`
	Type      jsonbody.Maybe[string] `json:"type"`
	Enabled   jsonbody.Maybe[bool]   `json:"enabled"`
	SortOrder jsonbody.Maybe[int64]  `json:"sortOrder"`
	reviewPolicyBody
}

func (b createEnvironmentBody) Check(_ flags.Limits, problems *flags.Problems) {
	wire.CheckName("/name", b.Name, problems)
	if b.Type.Value == "" {
		problems.Add("/type", "is required, such as development, test, preproduction or production")
	}
	flags.Environment{Type: b.Type.Value}.CheckTexts(problems)
	b.reviewPolicyBody.Check(problems)
}

// A reviewPolicyBody sets what an environment requires of change requests in all projects. Fields that it omits stay the same.
type reviewPolicyBody struct {
	RequiredApprovals jsonbody.Maybe[*int64] `json:"requiredApprovals"` // null for no requirement
	NobodySkips       jsonbody.Maybe[bool]   `json:"nobodySkips"`
	OffAllowed        jsonbody.Maybe[bool]   `json:"offAllowed"`
}

func (b reviewPolicyBody) Check(problems *flags.Problems) {
	if n := b.RequiredApprovals.Value; n != nil && (*n < 1 || *n > flags.MaxApprovals) {
		problems.Add("/requiredApprovals", "must be 1 to %d, or null for no requirement", flags.MaxApprovals)
	}
}

// applyTo returns the policy with the fields of the body.
func (b reviewPolicyBody) applyTo(p flags.ReviewPolicy) flags.ReviewPolicy {
	if b.RequiredApprovals.Set {
		p.RequiredApprovals = 0
		if n := b.RequiredApprovals.Value; n != nil {
			p.RequiredApprovals = int(*n)
		}
	}
	p.NobodySkips, p.OffAllowed = b.NobodySkips.Or(p.NobodySkips), b.OffAllowed.Or(p.OffAllowed)
	return p
}

// An environmentNameBody has a name to check.
type environmentNameBody struct {
	Name string `json:"name"`
}

func (b environmentNameBody) Check(_ flags.Limits, problems *flags.Problems) {
	wire.CheckName("/name", b.Name, problems)
}

// An updateEnvironmentBody updates an environment. Fields that it omits stay the same.
type updateEnvironmentBody struct {
	Type      jsonbody.Maybe[string] `json:"type"`
	SortOrder jsonbody.Maybe[int64]  `json:"sortOrder"`
	reviewPolicyBody
}

func (b updateEnvironmentBody) Check(_ flags.Limits, problems *flags.Problems) {
	if b.Type.Set && b.Type.Value == "" {
		problems.Add("/type", "must not be empty")
	}
	flags.Environment{Type: b.Type.Value}.CheckTexts(problems)
	b.reviewPolicyBody.Check(problems)
}

// An environmentOrderBody has the positions of environments, by name.
type environmentOrderBody map[string]int64

func (b environmentOrderBody) Check(_ flags.Limits, problems *flags.Problems) {
	if n := len(b); n > wire.MaxBulk {
		problems.Add("", "has %d environments, and no more than %d are allowed; send several requests", n, wire.MaxBulk)
	}
}

// A countedEnvironment is an environment in the list of all environments.
type countedEnvironment struct {
	shape.EnvironmentView
	ProjectCount int  `json:"projectCount"`
	TokenCount   int  `json:"apiTokenCount"`      // client and frontend tokens that can read it
	EnabledCount *int `json:"enabledToggleCount"` // always null: counting would read every flag of the service
}

type environmentList struct {
	Version      int                  `json:"version"`
	Environments []countedEnvironment `json:"environments"`
}

// A projectEnvironmentView is an environment of a project (contract: Project environment).
type projectEnvironmentView struct {
	shape.EnvironmentView
	TokenCount      int                        `json:"projectApiTokenCount"`
	EnabledCount    int                        `json:"projectEnabledToggleCount"`
	DefaultStrategy *shape.DefaultStrategyView `json:"defaultStrategy,omitzero"`
	Visible         bool                       `json:"visible"`
}

type projectEnvironmentList struct {
	Version      int                      `json:"version"`
	Environments []projectEnvironmentView `json:"environments"`
}
