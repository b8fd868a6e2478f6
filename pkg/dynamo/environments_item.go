package dynamo

import (
	"time"

	"guidon/pkg/flags"
)

var environmentsEntity = entity{
	name:   flags.EntityEnvironments,
	key:    func(string) itemKey { return registryKey(flags.EntityEnvironments) },
	title:  func(string) string { return "the list of environments" },
	exists: registryExists,
	codec:  jsonCodec(storeEnvironments, environmentsDocument.environments),
	kept:   true,
}

// An environmentsDocument is the stored form of the registry of environments.
type environmentsDocument struct {
	Format int                       `json:"format"`
	List   []registryEnvironmentItem `json:"list"`
}

type registryEnvironmentItem struct {
	Name      string    `json:"name"`
	UID       string    `json:"uid"`
	Type      string    `json:"type"`
	Enabled   bool      `json:"enabled"`
	Protected bool      `json:"protected,omitzero"`
	SortOrder int64     `json:"sortOrder"`
	CreatedAt time.Time `json:"createdAt"`
}

func storeEnvironments(e *flags.Environments) environmentsDocument {
	return environmentsDocument{Format: format, List: convert(e.List,
		func(env flags.Environment) registryEnvironmentItem { return registryEnvironmentItem(env) })}
}

func (doc environmentsDocument) environments(version int64) *flags.Environments {
	return &flags.Environments{Version: version, List: convert(doc.List,
		func(item registryEnvironmentItem) flags.Environment { return flags.Environment(item) })}
}
