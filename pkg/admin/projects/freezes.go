package projects

import (
	"net/http"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// Paths of freezes: they are not part of Unleash's API.
const (
	serviceFreezes = "/api/admin/freezes/{environmentName}"
	projectFreezes = "/api/admin/projects/{projectId}/environments/{environment}/freezes"
)

// serviceFreezeOperations are those on freezes of an environment in all projects.
func serviceFreezeOperations() []httpapi.Operation {
	environments := []flags.Key{flags.EnvironmentsKey()}
	return []httpapi.Operation{
		{Route: "GET " + serviceFreezes, Permission: access.Read, Ahead: environments, Handle: httpapi.Handle(readServiceFreezes)},
		{Route: "POST " + serviceFreezes, Permission: access.UpdateEnvironment, Ahead: environments, Status: http.StatusCreated,
			Handle: httpapi.HandleBody(setServiceFreeze)},
		{Route: "DELETE " + serviceFreezes + "/{freezeId}", Permission: access.UpdateEnvironment, Ahead: environments, Status: http.StatusNoContent,
			Handle: httpapi.Do(liftServiceFreeze)},
	}
}

// projectFreezeOperations are those on freezes of an environment in a project.
func projectFreezeOperations() []httpapi.Operation {
	return []httpapi.Operation{
		{Route: "GET " + projectFreezes, Permission: access.Read, Handle: httpapi.Handle(readProjectFreezes)},
		{Route: "POST " + projectFreezes, Permission: access.UpdateProject, Status: http.StatusCreated, Handle: httpapi.HandleBody(setProjectFreeze)},
		{Route: "DELETE " + projectFreezes + "/{freezeId}", Permission: access.UpdateProject, Status: http.StatusNoContent, Handle: httpapi.Do(liftProjectFreeze)},
	}
}

// inServiceFreeze is the place of an operation on a freeze of an environment in all projects.
type inServiceFreeze struct {
	inEnvironment
	Freeze string `path:"freezeId"`
}

// inProjectFreeze is the place of an operation on a freeze of an environment in a project.
type inProjectFreeze struct {
	httpapi.InProjectEnvironment
	Freeze string `path:"freezeId"`
}

func readServiceFreezes(tx *httpapi.Tx, at inEnvironment) (freezeList, error) {
	_, env := at.find(tx)
	return freezesOf(tx, nil, *env), nil
}

// readProjectFreezes says whether an environment is frozen in a project, and lists its freezes: those of the project and those of all
// projects.
func readProjectFreezes(tx *httpapi.Tx, at httpapi.InProjectEnvironment) (freezeList, error) {
	p, env := at.Find(tx)
	return freezesOf(tx, p, env.Environment), nil
}

func setServiceFreeze(tx *httpapi.Tx, at inEnvironment, in freezeBody) (shape.FreezeView, error) {
	registry, env := at.find(tx)
	f := in.freeze(tx, *env)
	if err := registry.AddFreeze(f, tx.Now); err != nil {
		return shape.FreezeView{}, err
	}
	tx.Save(events.FreezeSet("", *env, f), registry)
	tx.Created("/api/admin/freezes/"+env.Name, f.ID)
	return shape.FreezeViewOf(f, true), nil
}

func setProjectFreeze(tx *httpapi.Tx, at httpapi.InProjectEnvironment, in freezeBody) (shape.FreezeView, error) {
	p, env := at.Find(tx)
	f := in.freeze(tx, env.Environment)
	if err := p.AddFreeze(f, tx.Environments(), tx.Now); err != nil {
		return shape.FreezeView{}, err
	}
	tx.Save(events.FreezeSet(p.ID, env.Environment, f), withRegistry(tx, p)...)
	tx.Created("/api/admin/projects/"+p.ID+"/environments/"+env.Name+"/freezes", f.ID)
	return shape.FreezeViewOf(f, false), nil
}

func liftServiceFreeze(tx *httpapi.Tx, at inServiceFreeze) error {
	registry, env := at.find(tx)
	f, err := registry.RemoveFreeze(*env, at.Freeze)
	if err != nil {
		return err
	}
	tx.Save(events.FreezeLifted("", *env, f), registry)
	return nil
}

func liftProjectFreeze(tx *httpapi.Tx, at inProjectFreeze) error {
	p, env := at.Find(tx)
	f, err := p.RemoveFreeze(env.Environment, at.Freeze, tx.Environments())
	if err != nil {
		return err
	}
	tx.Save(events.FreezeLifted(p.ID, env.Environment, f), p)
	return nil
}

// freezesOf lists the freezes of an environment that have not ended: those of all projects, and with a project also its own.
func freezesOf(tx *httpapi.Tx, p *flags.Project, env flags.Environment) freezeList {
	registry := tx.Environments()
	list := freezeList{Current: frozenViewOf(tx, p, env), Freezes: []shape.FreezeView{}}
	add := func(freezes []flags.Freeze, ofService bool) {
		for _, f := range freezes {
			if f.EnvironmentUID == env.UID && !f.Ended(tx.Now) {
				list.Freezes = append(list.Freezes, shape.FreezeViewOf(f, ofService))
			}
		}
	}
	add(registry.Freezes, true)
	if p != nil {
		add(p.Freezes, false)
	}
	return list
}

// frozenViewOf is the freeze in effect in an environment, for all projects or with a project also its own; nil if it is not frozen.
func frozenViewOf(tx *httpapi.Tx, p *flags.Project, env flags.Environment) *frozenView {
	frozen, is := tx.Environments().Frozen(p, env, tx.Now)
	if !is {
		return nil
	}
	return &frozenView{frozen.ID, frozen.Reason, shape.Time(frozen.Until), frozen.OffAllowed, frozen.OfService}
}

// A freezeBody is a new freeze: from and to, or weekly.
type freezeBody struct {
	Reason     string                      `json:"reason"`
	From       jsonbody.Maybe[*string]     `json:"from"` // now by default
	To         jsonbody.Maybe[*string]     `json:"to"`
	Weekly     jsonbody.Maybe[*weeklyBody] `json:"weekly"`
	OffAllowed jsonbody.Maybe[bool]        `json:"offAllowed"` // true by default
}

// A weeklyBody is the window of a weekly freeze.
type weeklyBody struct {
	From string `json:"from"`
	To   string `json:"to"`
	Zone string `json:"zone"`
}

func (b freezeBody) Check(_ flags.Limits, problems *flags.Problems) {
	wire.CheckTitle("/reason", b.Reason, problems)
	httpapi.CheckMoment("/from", b.From.Value, problems)
	httpapi.CheckMoment("/to", b.To.Value, problems)
	weekly := b.Weekly.Value
	switch {
	case weekly == nil && b.To.Value == nil:
		problems.Add("/to", "is required, unless the freeze is weekly")
	case weekly != nil && (b.From.Value != nil || b.To.Value != nil):
		problems.Add("/weekly", "cannot be combined with from and to: set two freezes")
	case weekly != nil:
		problems.CheckAt("/weekly", flags.Weekly(*weekly).Check)
	}
}

// freeze returns the freeze of the body.
func (b freezeBody) freeze(tx *httpapi.Tx, env flags.Environment) flags.Freeze {
	f := flags.Freeze{
		ID: tx.NewID(), EnvironmentUID: env.UID, Reason: b.Reason, Weekly: (*flags.Weekly)(b.Weekly.Value), OffAllowed: b.OffAllowed.Or(true),
	}
	if f.Weekly == nil {
		f.From, f.To = httpapi.MomentOf(b.From.Value), httpapi.MomentOf(b.To.Value)
		if f.From.IsZero() {
			f.From = tx.Now
		}
	}
	return f
}

// A freezeList is whether an environment is frozen now, and its freezes.
type freezeList struct {
	Current *frozenView        `json:"current"` // null if it is not frozen
	Freezes []shape.FreezeView `json:"freezes"`
}

// A frozenView is the freeze in effect; of several, the one that ends last.
type frozenView struct {
	ID         string     `json:"id"`
	Reason     string     `json:"reason"`
	Until      shape.Time `json:"until"`
	OffAllowed bool       `json:"offAllowed"`
	OfService  bool       `json:"ofService"`
}
