package flags

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
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
	Favorites    []string              // the keys of the callers who have it among their favorites, sorted
}

// Settings are what a project says of itself beside its name; they change nothing about flags.
type Settings struct {
	Mode              string // open, protected or private
	DefaultStickiness string
	FeatureLimit      *int64 // kept for clients that ask; no limit is enforced
	Naming            Naming
	LinkTemplates     []LinkTemplate
}

// The modes of a project. They are kept for clients and consoles: what a caller may do is said by roles alone.
const (
	ModeOpen      = "open"
	ModeProtected = "protected"
	ModePrivate   = "private"
)

// ProjectUID makes a project's UID of a random UUID: 96 bits in 16 characters. All projects of a service share one space
// of UIDs, and nothing checks that one is free: with 32 bits, two of 10,000 projects would have the same in one service of
// a hundred, and share their flags.
func ProjectUID(uuid string) string {
	sum := sha256.Sum256([]byte(uuid))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// DefaultSettings are those of a project whose maker says nothing.
func DefaultSettings() Settings {
	return Settings{Mode: ModeOpen, DefaultStickiness: "default"}
}

// A LinkTemplate is a link that consoles offer for the project's flags; {{project}} and {{feature}} stand for names.
type LinkTemplate struct {
	Title *string // nil for none
	URL   string
}

// Naming is how a project would like its flags to be called; "" for what it does not say.
type Naming struct {
	Pattern     string
	Example     string
	Description string
}

// An Attachment is an environment's place in a project.
type Attachment struct {
	ID              string    // new each time the environment is added: what was enabled under an earlier one is off
	EnvironmentUID  string    // UID of the environment it was made for
	DefaultStrategy *Strategy // added when a flag without strategies is switched on; nil for none
}

// Segments are those of the environment's default strategy.
func (a Attachment) Segments() []int64 {
	if a.DefaultStrategy == nil {
		return nil
	}
	return a.DefaultStrategy.Segments
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
	if p.HasEnvironment(env) {
		return Errorf(Conflict, "environment %q is part of project %q already", env.Name, p.ID)
	}
	if p.Environments == nil {
		p.Environments = map[string]Attachment{}
	}
	p.Environments[env.Name] = Attachment{ID: attachmentID, EnvironmentUID: env.UID}
	return nil
}

// A ProjectEnvironment is an environment as one project has it.
type ProjectEnvironment struct {
	Environment
	Attachment Attachment
}

// Available lists the environments of a project in their order. An attachment to an environment that was deleted, or
// deleted and made again, counts for nothing.
func (p *Project) AvailableEnvironments(registry *Environments) []ProjectEnvironment {
	available := []ProjectEnvironment{}
	for _, env := range registry.List {
		if p.HasEnvironment(env) {
			available = append(available, ProjectEnvironment{env, p.Environments[env.Name]})
		}
	}
	slices.SortFunc(available, func(a, b ProjectEnvironment) int { return a.compare(b.Environment) })
	return available
}

// Has tells whether an environment, and no earlier one of its name, is available to the project's flags.
func (p *Project) HasEnvironment(env Environment) bool {
	a, ok := p.Environments[env.Name]
	return ok && a.EnvironmentUID == env.UID
}

// Detach takes an environment out of the project. Flags keep what they have there, unseen and for good disabled: if it
// is added again, that is another attachment. Its default strategy is gone.
func (p *Project) Detach(env ProjectEnvironment) { delete(p.Environments, env.Name) }

// SetDefaultStrategy keeps s, its variants distributed, as what is added to a flag without strategies when it is
// switched on in env.
func (p *Project) SetDefaultStrategy(env ProjectEnvironment, s Strategy) Strategy {
	s.Variants = Distribute(s.Variants)
	a := p.Environments[env.Name]
	a.DefaultStrategy = &s
	p.Environments[env.Name] = a
	return s
}

// MaxDefaultStrategies is how much text the default strategies of a project may have together, in bytes. Every list of all
// projects reads them.
const MaxDefaultStrategies = 64 << 10

// CheckDefaultStrategies says whether the default strategies of a project that was before may become those of p: Invalid
// when they are too large. Those of an earlier version may stay, and become smaller.
func (p *Project) CheckDefaultStrategies(before *Project) error {
	if size := p.defaultStrategiesSize(); size > MaxDefaultStrategies && size > before.defaultStrategiesSize() {
		return Errorf(Invalid, "the default strategies of the project would take %d KB together, and no more than %d KB are allowed; "+
			"shorten their parameters, constraints or variants", size>>10, MaxDefaultStrategies>>10)
	}
	return nil
}

func (p *Project) defaultStrategiesSize() int {
	size := 0
	for _, a := range p.Environments {
		if a.DefaultStrategy != nil {
			size += a.DefaultStrategy.size()
		}
	}
	return size
}

// Revised notes when the project was changed, if it differs from what it was in what people say of it.
func (p *Project) MarkUpdated(before *Project, at time.Time) {
	if p.Name != before.Name || p.Description != before.Description || !reflect.DeepEqual(p.Settings, before.Settings) {
		p.UpdatedAt = at
	}
}

// Deletable says why the project must stay, if it must: Invalid for the one that is there from the start. Whether it
// still has active flags is for the store to say, in the very transaction that deletes it.
func (p *Project) CheckDeletable() error {
	if p.ID == DefaultProject {
		return Errorf(Invalid, "the project %q cannot be deleted", p.ID)
	}
	return nil
}

// MemberCount is the number of users with a role in the project, each counted once.
func (p *Project) MemberCount() int {
	n := 0
	for _, roles := range p.Members {
		if len(roles) > 0 {
			n++
		}
	}
	return n
}

// Health is the percentage of a project's active flags that are not stale; 100 without flags.
func Health(active, stale int) int {
	if active <= 0 {
		return 100
	}
	return int(math.Round(100 * float64(active-stale) / float64(active)))
}

// maxDerivedID leaves room behind an id that is derived from a name for what makes it unique.
const maxDerivedID = maxName - 10

// DeriveID is an id for a project of that name: its letters and digits in lower case, with hyphens for the rest;
// "project" when it has none that an id can have.
func DeriveID(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { c := string(r); return len(c) > 1 || !isNameByte(c[0]) })
	id := strings.Join(words, "-")
	if len(id) > maxDerivedID {
		id = id[:maxDerivedID]
	}
	if CheckName(id) != "" {
		return "project"
	}
	return id
}
