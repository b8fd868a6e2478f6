package flags

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"guidon/pkg/evaluate"
)

// DefaultProject is the ID of the project that a new service starts with.
const DefaultProject = "default"

// All stands for all projects or all environments in a token or an addon.
const All = "*"

// A Project owns flags and defines in which environments they can be enabled.
type Project struct {
	Version     int64     `json:"version,omitzero"`
	ID          string    `json:"id"`  // chosen by the user
	UID         string    `json:"uid"` // new each time the ID is used; flags, list rows and tokens belong to the UID
	Name        string    `json:"name"`
	Description string    `json:"description,omitzero"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt,omitzero"`
	Settings
	Members      map[int64][]int64     `json:"members,omitempty"`      // IDs of the roles by user ID
	Environments map[string]Attachment `json:"environments,omitempty"` // by environment name
	Reviews      map[string]ReviewRule `json:"reviews,omitempty"`      // by environment name: where change requests are on. Read it with Review
	ReviewChange int64                 `json:"reviewChange,omitzero"`  // the number of the latest change by which more is guarded, see Environments.Knows
	Freezes      []Freeze              `json:"freezes,omitempty"`      // that the project has set. Read them with Environments.Frozen

}

// Settings are settings of a project that change nothing for applications.
type Settings struct {
	Mode              string         `json:"mode,omitzero"` // open, protected or private
	DefaultStickiness string         `json:"defaultStickiness,omitzero"`
	FeatureLimit      *int64         `json:"featureLimit,omitzero"` // how many active flags it can have; nil for no limit
	Naming            Naming         `json:"featureNaming,omitzero"`
	LinkTemplates     []LinkTemplate `json:"linkTemplates,omitempty"`
}

// The modes of a project. Only members and administrators can propose change requests in a project whose mode is not open. Permissions
// depend only on roles.
const (
	ModeOpen      = "open"
	ModeProtected = "protected"
	ModePrivate   = "private"
)

// ProjectUID derives the UID of a project from a random UUID: 96 bits in 16 characters. Nothing checks that a
// UID is unused, and two projects with one UID would share their flags. 96 bits make that impossible in
// practice; with 32 bits, 10,000 projects would collide in one service out of a hundred.
func ProjectUID(uuid string) string {
	sum := sha256.Sum256([]byte(uuid))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// DefaultSettings returns the settings of a project that is created without any.
func DefaultSettings() Settings {
	return Settings{Mode: ModeOpen, DefaultStickiness: "default"}
}

// A LinkTemplate is a link that consoles show for the flags of a project. {{project}} and {{feature}} are
// replaced by names.
type LinkTemplate struct {
	Title *string `json:"title,omitzero"` // nil for none
	URL   string  `json:"url"`
}

// LinkPattern matches links that load a page when they are opened: http or https addresses, and paths. Consoles show links to all
// users of a project, and "javascript:" would run as the user who opens it.
const LinkPattern = `^([hH][tT][tT][pP][sS]?:|[^:/?#]*([/?#]|$))`

// linkPattern is compiled when it is first used, not at the start of each function.
var linkPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(LinkPattern) })

// CheckLink adds a problem if a link does not match LinkPattern.
func CheckLink(path, url string, p *Problems) {
	if !linkPattern().MatchString(url) {
		p.Add(path, "must begin with https:// or http://")
	}
}

// A Naming describes how new flags of a project are named; "" for parts that are not set.
type Naming struct {
	Pattern     string `json:"pattern,omitzero"` // a regular expression in the syntax of RE2 for whole names
	Example     string `json:"example,omitzero"`
	Description string `json:"description,omitzero"`
}

// Check adds a problem if the pattern is no regular expression, or does not match the example.
func (n Naming) Check(p *Problems) {
	if _, _, err := evaluate.CompileRegex(n.Pattern, false); err != nil {
		p.Add("/pattern", "must be a regular expression in the syntax of RE2: %s", err)
	} else if n.Example != "" && !n.matches(n.Example) {
		p.Add("/example", "must match the pattern %q as a whole", n.Pattern)
	}
}

// matches reports whether the pattern matches a whole name. One that was stored before patterns were checked, and is no regular
// expression, matches every name.
func (n Naming) matches(name string) bool {
	if n.Pattern == "" {
		return true
	}
	regex, _, err := evaluate.CompileRegex(n.Pattern, false)
	if err != nil {
		return true
	}
	regex.Longest()
	at := regex.FindStringIndex(name)
	return at != nil && at[0] == 0 && at[1] == len(name)
}

// CheckFlagName returns Invalid if the name of a new flag does not match the naming pattern of the project.
func (p *Project) CheckFlagName(name string) error {
	n := p.Naming
	if n.matches(name) {
		return nil
	}
	rule := fmt.Sprintf("must match the naming pattern %q of project %q", n.Pattern, p.ID)
	if n.Example != "" {
		rule += fmt.Sprintf(", such as %q", n.Example)
	}
	if n.Description != "" {
		rule += ": " + n.Description
	}
	return Problems{{Path: "/name", Message: rule}}.Err()
}

// Room returns how many flags a project with a limit can have in addition to the active ones. It returns Invalid if there is no room.
func (p *Project) Room(active int) (int64, error) {
	room := *p.FeatureLimit - int64(active)
	if room <= 0 {
		return 0, Errorf(Invalid, "project %q has %d active flags, and its limit is %d; archive flags that are not needed any more, or raise "+
			"the limit in the settings of the project", p.ID, active, *p.FeatureLimit)
	}
	return room, nil
}

// An Attachment is an environment as part of a project.
type Attachment struct {
	ID              string    `json:"id"`                       // new each time the environment is attached; flags enabled under an earlier attachment are off
	EnvironmentUID  string    `json:"environment"`              // UID of the environment that was attached
	DefaultStrategy *Strategy `json:"defaultStrategy,omitzero"` // added to a flag without strategies when it is enabled; nil for none
}

// Segments returns the segments of the default strategy.
func (a Attachment) Segments() []int64 {
	if a.DefaultStrategy == nil {
		return nil
	}
	return a.DefaultStrategy.Segments
}

// Key returns the key of the project.
func (p *Project) Key() Key { return ProjectKey(p.ID) }

// StoredVersion returns the version at which the project was loaded, which rises by one for each of its events.
func (p *Project) StoredVersion() int64 { return p.Version }

// Clone returns a copy that can be changed.
func (p *Project) Clone() *Project {
	c := *p
	c.Environments, c.Members = maps.Clone(p.Environments), maps.Clone(p.Members)
	return &c
}

// Attach makes an environment available to the flags of the project. It returns Conflict if it is available
// already.
func (p *Project) Attach(env Environment, attachmentID string) error {
	if p.HasEnvironment(env) {
		return Errorf(Conflict, "environment %q is already part of project %q", env.Name, p.ID)
	}
	if p.Environments == nil {
		p.Environments = map[string]Attachment{}
	}
	p.Environments[env.Name] = Attachment{ID: attachmentID, EnvironmentUID: env.UID}
	return nil
}

// A ProjectEnvironment is an environment together with its attachment to one project.
type ProjectEnvironment struct {
	Environment
	Attachment Attachment
}

// AvailableEnvironments returns the environments of the project in their order. It ignores attachments of
// environments that were deleted, even if an environment of the same name exists again.
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

// HasEnvironment reports whether this environment, not an earlier one of the same name, is attached to the
// project.
func (p *Project) HasEnvironment(env Environment) bool {
	a, ok := p.Environments[env.Name]
	return ok && a.EnvironmentUID == env.UID
}

// Detach removes an environment from the project, with its default strategy. Flags keep their configuration,
// hidden. If the environment is attached again, they have it again, but are disabled.
func (p *Project) Detach(env ProjectEnvironment) { delete(p.Environments, env.Name) }

// SetDefaultStrategy sets the strategy that is added when a flag without strategies is enabled in env. It
// returns the strategy with the weights of its variants distributed.
func (p *Project) SetDefaultStrategy(env ProjectEnvironment, s Strategy) Strategy {
	s.Variants = Distribute(s.Variants)
	a := p.Environments[env.Name]
	a.DefaultStrategy = &s
	p.Environments[env.Name] = a
	return s
}

// MaxDefaultStrategies is the maximum size of all default strategies of a project together, in bytes. The list
// of all projects reads them.
const MaxDefaultStrategies = 64 << 10

// CheckDefaultStrategies returns Invalid if the default strategies are too large. Those of before may stay, even
// if they are too large, as long as they do not grow.
func (p *Project) CheckDefaultStrategies(before *Project) error {
	if size := p.defaultStrategiesSize(); size > MaxDefaultStrategies && size > before.defaultStrategiesSize() {
		return Errorf(Invalid, "the default strategies of the project would take %d KB in total, but no more than %d KB are allowed; "+
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

// MarkUpdated sets UpdatedAt if the name, description or settings differ from before.
func (p *Project) MarkUpdated(before *Project, at time.Time) {
	if p.Name != before.Name || p.Description != before.Description || !reflect.DeepEqual(p.Settings, before.Settings) {
		p.UpdatedAt = at
	}
}

// CheckDeletable returns Invalid for the default project, which cannot be deleted. The store checks for active
// flags in the transaction that deletes a project.
func (p *Project) CheckDeletable() error {
	if p.ID == DefaultProject {
		return Errorf(Invalid, "project %q is the default project and cannot be deleted", p.ID)
	}
	return nil
}

// MemberCount returns the number of users that have a role in the project.
func (p *Project) MemberCount() int {
	n := 0
	for _, roles := range p.Members {
		if len(roles) > 0 {
			n++
		}
	}
	return n
}

// Health returns the percentage of active flags that are not stale; 100 if there are no flags.
func Health(active, stale int) int {
	if active <= 0 {
		return 100
	}
	return int(math.Round(100 * float64(active-stale) / float64(active)))
}

// maxDerivedID is shorter than a name can be, so that a suffix can make a derived ID unique.
const maxDerivedID = maxName - 10

// DeriveID derives a project ID from a display name: letters and digits in lower case, joined by hyphens. It
// returns "project" if no valid ID is left.
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
