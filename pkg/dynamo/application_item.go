package dynamo

import (
	"strconv"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

var applicationEntity = entity{
	name:    usage.EntityApplication,
	key:     func(name string) itemKey { return itemKey{applicationList, name} },
	title:   func(name string) string { return "the application " + strconv.Quote(name) },
	codec:   jsonCodec(storeApplication, applicationDocument.application),
	list:    applicationList,
	history: func(a flags.Aggregate) string { return instancesPrefix + a.Key().ID + "#" + applicationUID(a) },
	uid:     applicationUID,
}

// applicationUID distinguishes an application from later ones of the same name, whose versions begin at 1 again: each has a history
// of its own.
func applicationUID(a flags.Aggregate) string {
	return strconv.FormatInt(a.(*usage.Application).CreatedAt.UnixMilli(), 10)
}

const (
	applicationList = "APPLICATIONS"
	instancesPrefix = "APP#"
)

// An applicationDocument is the stored form of an application.
type applicationDocument struct {
	Format       int                               `json:"format"`
	Name         string                            `json:"name"`
	CreatedAt    time.Time                         `json:"createdAt"`
	CreatedBy    string                            `json:"createdBy,omitzero"`
	LastSeenAt   time.Time                         `json:"lastSeenAt,omitzero"`
	Description  string                            `json:"description,omitzero"`
	URL          string                            `json:"url,omitzero"`
	Icon         string                            `json:"icon,omitzero"`
	Color        string                            `json:"color,omitzero"`
	Projects     map[string][]string               `json:"projects,omitempty"`
	Environments map[string]appEnvironmentDocument `json:"environments,omitempty"`
	Features     []string                          `json:"features,omitempty"`
	Strategies   []string                          `json:"strategies,omitempty"`
}

type appEnvironmentDocument struct {
	SDKs       []string  `json:"sdks,omitempty"`
	Unknown    []string  `json:"unknown,omitempty"`
	LastSeenAt time.Time `json:"lastSeenAt,omitzero"`
	Instances  int       `json:"instances,omitzero"`
}

func storeApplication(a *usage.Application) applicationDocument {
	doc := applicationDocument{
		Format: format, Name: a.Name, CreatedAt: a.CreatedAt, CreatedBy: a.CreatedBy, LastSeenAt: a.LastSeenAt,
		Description: a.Description, URL: a.URL, Icon: a.Icon, Color: a.Color,
		Projects: a.Projects, Features: a.Features, Strategies: a.Strategies,
		Environments: make(map[string]appEnvironmentDocument, len(a.Environments)),
	}
	for name, e := range a.Environments {
		doc.Environments[name] = appEnvironmentDocument(e)
	}
	return doc
}

func (doc applicationDocument) application(version int64) *usage.Application {
	a := &usage.Application{
		Version: version, Name: doc.Name, CreatedAt: doc.CreatedAt, CreatedBy: doc.CreatedBy, LastSeenAt: doc.LastSeenAt,
		ApplicationDetails: usage.ApplicationDetails{Description: doc.Description, URL: doc.URL, Icon: doc.Icon, Color: doc.Color},
		Projects:           doc.Projects, Features: doc.Features, Strategies: doc.Strategies,
		Environments: make(map[string]usage.ApplicationEnvironment, len(doc.Environments)),
	}
	for name, e := range doc.Environments {
		a.Environments[name] = usage.ApplicationEnvironment(e)
	}
	return a
}

// instancesEntity is the instances of an application in one environment.
var instancesEntity = entity{
	name: usage.EntityInstances,
	key: func(id string) itemKey {
		application, environment := usage.CutInstancesID(id)
		return itemKey{instancesPrefix + application, "INSTANCES#" + environment}
	},
	title: func(id string) string {
		application, environment := usage.CutInstancesID(id)
		return "the instances of the application " + strconv.Quote(application) + " in " + strconv.Quote(environment)
	},
	codec: jsonCodec(storeInstances, instancesDocument.instances),
}

// An instancesDocument is the stored form of the instances of an application. Its field names are short because there can be a
// thousand.
type instancesDocument struct {
	Format      int                `json:"f"`
	Application string             `json:"a"`
	Environment string             `json:"e"`
	List        []instanceDocument `json:"i,omitempty"`
}

type instanceDocument struct {
	Name       string    `json:"n,omitzero"`
	SDK        string    `json:"s,omitzero"`
	Address    string    `json:"a,omitzero"`
	CreatedAt  time.Time `json:"c"`
	LastSeenAt time.Time `json:"l"`
}

func storeInstances(i *usage.Instances) instancesDocument {
	return instancesDocument{format, i.Application, i.Environment, convert(i.List, func(i usage.Instance) instanceDocument { return instanceDocument(i) })}
}

func (doc instancesDocument) instances(version int64) *usage.Instances {
	return &usage.Instances{Version: version, Application: doc.Application, Environment: doc.Environment,
		List: convert(doc.List, func(i instanceDocument) usage.Instance { return usage.Instance(i) })}
}

// tokenApplicationsEntity is the applications that reported with a token.
var tokenApplicationsEntity = entity{
	name:  usage.EntityTokenApplications,
	key:   func(hash string) itemKey { return itemKey{usagePartition, "TOKEN#" + hash} },
	title: func(string) string { return "the applications of the token" },
	codec: jsonCodec(storeTokenApplications, tokenApplicationsDocument.applications),
}

// A tokenApplicationsDocument is the stored form of the applications of a token.
type tokenApplicationsDocument struct {
	Format int                  `json:"format"`
	Hash   string               `json:"hash"`
	Names  map[string]time.Time `json:"names,omitempty"`
}

func storeTokenApplications(t *usage.TokenApplications) tokenApplicationsDocument {
	return tokenApplicationsDocument{format, t.Hash, t.Names}
}

func (doc tokenApplicationsDocument) applications(version int64) *usage.TokenApplications {
	return &usage.TokenApplications{Version: version, Hash: doc.Hash, Names: doc.Names}
}
