package events

import (
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// An addon is an addon in events, without its parameters, which may be secret.
type addon struct {
	ID           int64             `json:"id"`
	Provider     string            `json:"provider"`
	Enabled      bool              `json:"enabled"`
	Description  *string           `json:"description"`
	Events       []flags.EventType `json:"events"`
	Projects     []string          `json:"projects"`
	Environments []string          `json:"environments"`
	CreatedAt    shape.Time        `json:"createdAt"`
}

func addonOf(a flags.Addon) addon {
	same := func(text string) string { return text }
	return addon{
		ID: a.ID, Provider: a.Provider, Enabled: a.Enabled, Description: a.Description,
		Events:   shape.Each(a.Events, func(e flags.EventType) flags.EventType { return e }),
		Projects: shape.Each(a.Projects, same), Environments: shape.Each(a.Environments, same), CreatedAt: shape.Time(a.CreatedAt),
	}
}

// Addon has the events of addons. If only the parameters of one changed, the data before and after are the same.
var Addon = familyOf(flags.AddonCreated, flags.AddonUpdated, flags.AddonDeleted, addonOf)

// AddonTest is the event that tests an addon. It is sent, but is in no log.
func AddonTest(a flags.Addon) flags.Event {
	return flags.Event{Type: flags.AddonTest, Data: addonOf(a)}
}
