package dynamo

import (
	"time"

	"guidon/pkg/flags"
)

var addonsEntity = entity{
	name:   flags.EntityAddons,
	key:    func(string) itemKey { return registryKey(flags.EntityAddons) },
	title:  func(string) string { return "the list of addons" },
	exists: registryExists,
	codec:  jsonCodec(storeAddons, addonsDocument.addons),
	kept:   true,
}

// An addonsDocument is the stored form of the registry of addons. Sensitive parameters are stored encrypted.
type addonsDocument struct {
	Format int             `json:"format"`
	List   []addonDocument `json:"list"`
}

type addonDocument struct {
	ID           int64             `json:"id"`
	Provider     string            `json:"provider"`
	Enabled      bool              `json:"enabled"`
	Description  *string           `json:"description,omitzero"`
	Parameters   map[string]string `json:"parameters,omitempty"`
	Sealed       map[string]string `json:"sealed,omitempty"`
	Events       []flags.EventType `json:"events,omitempty"`
	Projects     []string          `json:"projects,omitempty"`
	Environments []string          `json:"environments,omitempty"`
	CreatedAt    time.Time         `json:"createdAt"`
}

func storeAddons(s *flags.Addons) addonsDocument {
	return addonsDocument{format, convert(s.List, func(a flags.Addon) addonDocument { return addonDocument(a) })}
}

func (doc addonsDocument) addons(version int64) *flags.Addons {
	return &flags.Addons{Version: version, List: convert(doc.List, func(a addonDocument) flags.Addon { return flags.Addon(a) })}
}
