package dynamo

import "guidon/pkg/flags"

// An environmentsDocument is the registry of environments as it is stored.
type environmentsDocument struct {
	Format int                       `json:"format"`
	List   []registryEnvironmentItem `json:"list"`
}

type registryEnvironmentItem struct {
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Type      string `json:"type"`
	Enabled   bool   `json:"enabled"`
	Protected bool   `json:"protected,omitzero"`
	SortOrder int64  `json:"sortOrder"`
	CreatedAt stamp  `json:"createdAt"`
}

func storeEnvironments(e *flags.Environments) environmentsDocument {
	return environmentsDocument{Format: format, List: each(e.List,
		func(env flags.Environment) registryEnvironmentItem { return registryEnvironmentItem(env) })}
}

func (doc environmentsDocument) environments(version int64) *flags.Environments {
	return &flags.Environments{Version: version, List: each(doc.List,
		func(item registryEnvironmentItem) flags.Environment { return flags.Environment(item) })}
}
