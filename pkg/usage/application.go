package usage

import (
	"strings"
	"time"

	"guidon/pkg/flags"
)

// An Application is a program that evaluates flags, by the name that its SDKs send. It is created when it first reports,
// and expires ApplicationTTL after its last report.
type Application struct {
	Version    int64     `json:"version,omitzero"`
	Name       string    `json:"name"`
	CreatedAt  time.Time `json:"createdAt"`
	CreatedBy  string    `json:"createdBy,omitzero"`  // the user who created it; "" if its first report did
	LastSeenAt time.Time `json:"lastSeenAt,omitzero"` // may be ReportInterval behind
	ApplicationDetails

	Projects     map[string][]string               `json:"projects,omitempty"`     // by the project IDs of its tokens, or All: the environments it reported from, sorted
	Uses         map[string][]string               `json:"uses,omitempty"`         // by the project IDs of the flags that it evaluated: the environments, sorted
	Environments map[string]ApplicationEnvironment `json:"environments,omitempty"` // by name
	Strategies   []string                          `json:"strategies,omitempty"`   // strategy types that it registered, sorted
}

// ApplicationNames are the names of flags that an application evaluated. They are apart from the application, because lists read all
// applications.
type ApplicationNames struct {
	Version     int64               `json:"version,omitzero"`
	Application string              `json:"application"`
	Features    []string            `json:"features,omitempty"` // flags, sorted; at most MaxApplicationFeatures
	Unknown     map[string][]string `json:"unknown,omitempty"`  // by environment: names that no flag has, sorted
	SeenAt      time.Time           `json:"seenAt,omitzero"`    // may be a day behind
}

// ApplicationNamesKey returns the key of the names of an application.
func ApplicationNamesKey(application string) flags.Key {
	return flags.Key{Entity: EntityApplicationNames, ID: application}
}

// Key returns the key of the names.
func (n *ApplicationNames) Key() flags.Key { return ApplicationNamesKey(n.Application) }

// StoredVersion returns the version at which the names were loaded, which is not that of the application.
func (n *ApplicationNames) StoredVersion() int64 { return n.Version }

// ApplicationDetails are what users can say about an application.
type ApplicationDetails struct {
	Description string `json:"description,omitzero"`
	URL         string `json:"url,omitzero"`
	Icon        string `json:"icon,omitzero"`
	Color       string `json:"color,omitzero"`
}

// An ApplicationEnvironment is what an application reported from one environment.
type ApplicationEnvironment struct {
	SDKs       []string  `json:"sdks,omitempty"` // names and versions, sorted
	LastSeenAt time.Time `json:"lastSeenAt,omitzero"`
	Instances  int       `json:"instances,omitzero"` // how many there were in the last two days; at most MaxInstances
}

// The limits of what applications report. Beyond them, reports are left out of an application, and names of applications and
// variants are replaced by Other, so that sums stay right and a client cannot fill the table.
const (
	MaxApplications        = 2_000 // in all
	MaxTokenApplications   = 100   // that reported with one token in the last TokenApplicationsTTL
	MaxPublicApplications  = 30    // the same with a token that is public
	MaxApplicationFeatures = 1_000
	MaxUnknownFeatures     = 100 // per application and environment
	MaxApplicationSDKs     = 20  // per application and environment
	MaxStrategyTypes       = 100 // per application
	MaxInstances           = 1_000
)

// How long reports are kept.
const (
	ApplicationTTL       = 90 * 24 * time.Hour
	InstanceTTL          = 2 * 24 * time.Hour
	TokenApplicationsTTL = 7 * 24 * time.Hour
)

// ReportInterval is how far LastSeenAt of an application or instance can be behind what was posted: a report that says nothing else is not
// stored before that.
const ReportInterval = 10 * time.Minute

// Other stands for the applications and variants beyond the limits.
const Other = "(other)"

// The entities.
const (
	EntityApplication       flags.Entity = "application"
	EntityApplicationNames  flags.Entity = "application names"
	EntityInstances         flags.Entity = "instances"          // of an application in one environment
	EntityTokenApplications flags.Entity = "token applications" // applications that reported with a token
)

// ApplicationKey returns the key of an application by name.
func ApplicationKey(name string) flags.Key { return flags.Key{Entity: EntityApplication, ID: name} }

// Key returns the key of the application.
func (a *Application) Key() flags.Key { return ApplicationKey(a.Name) }

// StoredVersion returns the version at which the application was loaded; both reports and people change it.
func (a *Application) StoredVersion() int64 { return a.Version }

// Instances are the instances of an application in one environment that reported in the last two days.
type Instances struct {
	Version     int64      `json:"version,omitzero"`
	Application string     `json:"a"`
	Environment string     `json:"e"`
	List        []Instance `json:"i,omitempty"` // by name; at most MaxInstances
}

// An Instance is a process that evaluates flags.
type Instance struct {
	Name       string    `json:"n,omitzero"` // its own name for itself; "" if it sends none
	SDK        string    `json:"s,omitzero"` // name and version; "" if unknown
	Address    string    `json:"a,omitzero"` // IP address; "" if unknown
	CreatedAt  time.Time `json:"c"`
	LastSeenAt time.Time `json:"l"` // may be ReportInterval behind
}

// InstancesKey returns the key of an application's instances in an environment.
func InstancesKey(application, environment string) flags.Key {
	return flags.Key{Entity: EntityInstances, ID: environment + "/" + application}
}

// Key returns the key of the instances.
func (i *Instances) Key() flags.Key { return InstancesKey(i.Application, i.Environment) }

// StoredVersion returns the version at which the instances were loaded; 0 before the first report from the environment.
func (i *Instances) StoredVersion() int64 { return i.Version }

// CutInstancesID returns the parts of the ID of an InstancesKey.
func CutInstancesID(id string) (application, environment string) {
	environment, application, _ = strings.Cut(id, "/") // the name of an environment has no slash
	return application, environment
}

// TokenApplications are the applications that reported with a token, which are limited.
type TokenApplications struct {
	Version int64                `json:"version,omitzero"`
	Hash    string               `json:"hash"`            // of the token
	Names   map[string]time.Time `json:"names,omitempty"` // and when each was last seen, to the day
}

// TokenApplicationsKey returns the key of a token's applications by the hash of its secret.
func TokenApplicationsKey(hash string) flags.Key {
	return flags.Key{Entity: EntityTokenApplications, ID: hash}
}

// Key returns the key of the applications.
func (t *TokenApplications) Key() flags.Key { return TokenApplicationsKey(t.Hash) }

// StoredVersion returns the version at which the list was loaded; 0 before the first report with the token.
func (t *TokenApplications) StoredVersion() int64 { return t.Version }

// A Report is what an application reported from one environment with one token.
type Report struct {
	Application string
	Environment string // "" if it does not exist
	Projects    []string
	Public      bool      // anyone can report it: the token is one for browsers, or none is needed
	At          time.Time // of the last post
	Strategies  []string
	Features    []string
	Uses        []string // the projects of the flags
	Unknown     []string
	Instances   []Instance
}
