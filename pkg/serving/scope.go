package serving

import (
	"slices"

	"guidon/pkg/flags"
)

// An access is what a request may read: a state, as far as the scope of a token goes.
type access struct {
	state *State
	token *flags.Token // nil for AUTH_TYPE=none without a valid token

	// environment is the one of the answer. Nil if neither the token nor the request names one that exists: every flag is
	// disabled then.
	environment     *flags.Environment
	environmentName string // as the token or the request names it; "" for none

	all        bool     // every project
	projects   []string // the UIDs of the projects, unless all; sorted
	projectIDs []string // their IDs, sorted
}

// newAccess returns what a token may read of a state; false if the token is revoked. environment is the one that the request
// names, for tokens of all environments.
func newAccess(state *State, token *flags.Token, environment string) (*access, bool) {
	scope, ok := token.Scope(func(id string) *flags.Project { return state.Projects[id] }, state.Environments)
	if !ok {
		return nil, false
	}
	a := &access{state: state, token: token, all: scope.All, projectIDs: []string{}}
	for _, p := range scope.Projects {
		a.projects, a.projectIDs = append(a.projects, p.UID), append(a.projectIDs, p.ID)
	}
	slices.Sort(a.projects)
	slices.Sort(a.projectIDs)
	if a.environmentName = token.Environment; token.Environment == flags.All || token.Environment == "" {
		a.setEnvironment(environment)
	} else if token.EnvironmentUID != "" { // without it, the token was seeded before there was such an environment
		a.environment = state.Environments.Find(token.Environment)
	}
	return a, true
}

// everything returns what a caller may read who has no token, with AUTH_TYPE=none.
func everything(state *State, environment string) *access {
	a := &access{state: state, all: true}
	a.setEnvironment(environment)
	return a
}

func (a *access) setEnvironment(name string) {
	a.environmentName = name
	a.environment = a.state.Environments.Find(name)
}

// seesProject reports whether the access includes the project of that UID.
func (a *access) seesProject(uid string) bool {
	if a.all {
		return true
	}
	_, found := slices.BinarySearch(a.projects, uid)
	return found
}

// sees reports whether the access includes a flag. The flag of a project that was deleted is not there for anyone.
func (a *access) sees(f *Flag) bool {
	p := a.state.Projects[f.Project]
	return p != nil && p.UID == f.ProjectUID && a.seesProject(p.UID)
}

// seesSegment reports whether the access includes a segment: those of all projects, and those of its own.
func (a *access) seesSegment(s *Segment) bool {
	if s.ProjectUID == "" {
		return true
	}
	p := a.state.Projects[s.Project]
	return p != nil && p.UID == s.ProjectUID && a.seesProject(p.UID)
}

// configuration returns the configuration of a flag in an environment, and whether the flag is enabled there. nil stands for no
// environment. It is empty in an environment that the flag's project does not have.
func (s *State) configuration(f *Flag, environment *flags.Environment) (fe flags.FeatureEnvironment, enabled bool) {
	p := s.Projects[f.Project]
	if environment == nil || p == nil || p.UID != f.ProjectUID || !p.HasEnvironment(*environment) {
		return fe, false
	}
	env := flags.ProjectEnvironment{Environment: *environment, Attachment: p.Environments[environment.Name]}
	return f.In(env), f.EnabledForApplications(env)
}
