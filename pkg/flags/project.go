package flags

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// DefaultProject is there from the start.
const DefaultProject = "default"

// A Project holds flags and says in which environments they can be switched.
type Project struct {
	Version     int64
	ID          string // chosen by whoever makes it
	UID         string // new each time the id is used: flags, rows and tokens belong to it, not to the id
	Name        string
	Description string
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Settings
	Members      map[int64][]int64     // the ids of the roles that a user holds in the project
	Environments map[string]Attachment // by environment name
}

// Settings are what a project says of itself beside its name; they change nothing about flags.
type Settings struct {
	Mode              string // open, protected or private
	DefaultStickiness string
	FeatureLimit      *int64 // kept for clients that ask; no limit is enforced
	Naming            Naming
}

// Naming is how a project would like its flags to be called.
type Naming struct {
	Pattern     string
	Example     string
	Description string
}

// An Attachment is an environment's place in a project.
type Attachment struct {
	ID              string    // new each time the environment is added: what was enabled under an earlier one is off
	Environment     string    // UID of the environment it was made for
	DefaultStrategy *Strategy // added when a flag without strategies is switched on; nil for none
}

// Key names the project by its id.
func (p *Project) Key() Key { return ProjectKey(p.ID) }

func (p *Project) version() int64 { return p.Version }

// Clone is a copy to change.
func (p *Project) Clone() *Project {
	c := *p
	c.Environments, c.Members = maps.Clone(p.Environments), maps.Clone(p.Members)
	return &c
}

// Attach makes an environment available to the project's flags. Conflict when it is already.
func (p *Project) Attach(env Environment, attachmentID string) error {
	if a, ok := p.Environments[env.Name]; ok && a.Environment == env.UID {
		return Errorf(Conflict, "environment %q is part of project %q already", env.Name, p.ID)
	}
	if p.Environments == nil {
		p.Environments = map[string]Attachment{}
	}
	p.Environments[env.Name] = Attachment{ID: attachmentID, Environment: env.UID}
	return nil
}

// A ProjectEnvironment is an environment as one project has it.
type ProjectEnvironment struct {
	Environment
	Attachment Attachment
}

// Available lists the environments of a project in their order. An attachment to an environment that was deleted, or
// deleted and made again, counts for nothing.
func (p *Project) Available(registry *Environments) []ProjectEnvironment {
	available := []ProjectEnvironment{}
	for _, env := range registry.List {
		if a, ok := p.Environments[env.Name]; ok && a.Environment == env.UID {
			available = append(available, ProjectEnvironment{env, a})
		}
	}
	slices.SortFunc(available, func(a, b ProjectEnvironment) int {
		return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.Name, b.Name))
	})
	return available
}
