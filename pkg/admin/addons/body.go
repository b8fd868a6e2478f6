package addons

import (
	"maps"
	"slices"
	"strings"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/webhook"
)

// masked stands for the value of a sensitive parameter in responses. In the body of an update, it keeps the stored value.
const masked = "*****"

// An addonBody creates or replaces an addon. An update keeps the description, the projects and the environments if they are
// left out, as Unleash does.
type addonBody struct {
	Provider     jsonbody.Maybe[string]            `json:"provider"`
	Enabled      jsonbody.Maybe[bool]              `json:"enabled"`
	Description  jsonbody.Maybe[*string]           `json:"description"`
	Parameters   jsonbody.Maybe[map[string]string] `json:"parameters"`
	Events       jsonbody.Maybe[[]string]          `json:"events"`
	Projects     jsonbody.Maybe[[]string]          `json:"projects"`
	Environments jsonbody.Maybe[[]string]          `json:"environments"`
}

// Check adds the problems of the body.
func (b addonBody) Check(_ flags.Limits, problems *flags.Problems) {
	provider, known := flags.FindAddonProvider(b.Provider.Value)
	switch {
	case !b.Provider.Set:
		problems.Add("/provider", "is required")
	case !known:
		problems.Add("/provider", "must be %s or %s, not %q", flags.AddonWebhook, flags.AddonSlack, jsonbody.Shorten(b.Provider.Value))
	}
	if !b.Enabled.Set {
		problems.Add("/enabled", "is required")
	}
	if !b.Events.Set {
		problems.Add("/events", "is required; send [] for none")
	}
	switch {
	case !b.Parameters.Set:
		problems.Add("/parameters", "is required")
	case known:
		given, kept := b.parameters(provider)
		provider.CheckParameters(given, kept, problems)
		for _, p := range provider.Parameters {
			if err := webhook.CheckParameter(p.Name, given[p.Name]); err != nil {
				problems.Add("/parameters/"+p.Name, "%s", err.Error())
			}
		}
	}
	before := len(*problems)
	b.applyTo(flags.Addon{}).Check(problems)
	for i, p := range (*problems)[before:] {
		if strings.HasPrefix(p.Path, "/events/") {
			(*problems)[before+i].Message += "; GET /api/admin/addons lists all"
		}
	}
}

// parameters returns the parameters with their values, and the sensitive ones whose stored value is to be kept.
func (b addonBody) parameters(provider flags.AddonProvider) (given map[string]string, kept map[string]bool) {
	given, kept = map[string]string{}, map[string]bool{}
	for name, value := range b.Parameters.Value {
		if p, _ := provider.Parameter(name); p.Sensitive && value == masked {
			kept[name] = true
		} else {
			given[name] = value
		}
	}
	return given, kept
}

// provider returns the provider of the body, which Check has found.
func (b addonBody) provider() flags.AddonProvider {
	p, _ := flags.FindAddonProvider(b.Provider.Value)
	return p
}

// applyTo returns the addon with the fields of the body, except the sensitive parameters: seal adds those.
func (b addonBody) applyTo(a flags.Addon) flags.Addon {
	a = a.Clone()
	a.Provider, a.Enabled = b.Provider.Value, b.Enabled.Value
	if b.Description.Set {
		a.Description = b.Description.Value
	}
	a.Events = httpapi.Each(b.Events.Value, func(e string) flags.EventType { return flags.EventType(e) })
	if b.Projects.Set {
		a.Projects = b.Projects.Value
	}
	if b.Environments.Set {
		a.Environments = b.Environments.Value
	}
	provider := b.provider()
	a.Parameters = map[string]string{}
	for name, value := range b.Parameters.Value {
		if p, known := provider.Parameter(name); known && !p.Sensitive {
			a.Parameters[name] = value
		}
	}
	return a
}

// seal returns the addon with the sensitive parameters of the body, encrypted. Those that have not changed stay as they are
// stored, so that an update with the same values changes nothing.
func (b addonBody) seal(tx *httpapi.Tx, a flags.Addon) flags.Addon {
	provider := b.provider()
	given, kept := b.parameters(provider)
	sealed := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(b.Parameters.Value)) { // in order: what Seal returns is fixed by the order of calls
		p, _ := provider.Parameter(name)
		stored, isStored := a.Sealed[name]
		switch {
		case !p.Sensitive:
		case isStored && (kept[name] || opensTo(tx, a, name, given[name])):
			sealed[name] = stored
		case given[name] != "":
			sealed[name] = tx.Seal(given[name], flags.AddonSecret(a.ID, name))
		}
	}
	a.Sealed = sealed
	return a
}

// opensTo reports whether the stored value of a sensitive parameter is value.
func opensTo(tx *httpapi.Tx, a flags.Addon, name, value string) bool {
	opened, err := tx.Unseal(a.Sealed[name], flags.AddonSecret(a.ID, name))
	return err == nil && opened == value
}

// checkNothingKept refuses ***** in a new addon, which has nothing that could be kept.
func (b addonBody) checkNothingKept() error {
	_, kept := b.parameters(b.provider())
	var problems flags.Problems
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		problems.Add("/parameters/"+name, "must be the value itself: %s keeps a stored value, and a new addon has none", masked)
	}
	return problems.Err()
}

// checkNetwork refuses a URL to which nothing can be sent. A stored one may stay, so that its addon can be disabled.
func (b addonBody) checkNetwork(tx *httpapi.Tx, before flags.Addon) error {
	given, _ := b.parameters(b.provider())
	url, hasURL := given[flags.AddonURL]
	if !hasURL || opensTo(tx, before, flags.AddonURL, url) {
		return nil
	}
	var problems flags.Problems
	if err := tx.CheckWebhook(url); err != nil {
		problems.Add("/parameters/"+flags.AddonURL, "%s", err)
	}
	return problems.Err()
}

// checkKept checks the parameters that keep their stored values: a required one must be stored, and a secret is only sent to
// the URL that it was stored for. Otherwise callers who can change an addon could read its secrets by changing its URL.
func (b addonBody) checkKept(tx *httpapi.Tx, before flags.Addon) error {
	provider := b.provider()
	given, kept := b.parameters(provider)
	url, hasURL := given[flags.AddonURL]
	urlChanges := hasURL && len(kept) > 0 && !opensTo(tx, before, flags.AddonURL, url)
	var problems flags.Problems
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		p, _ := provider.Parameter(name)
		_, stored := before.Sealed[name]
		switch {
		case p.Required && !stored:
			problems.Add("/parameters/"+name, "is required for the provider %s, and no value is stored", provider.Name)
		case stored && urlChanges:
			problems.Add("/parameters/"+name, "must be the value itself, because the url changes: %s keeps the stored value, which is only for the stored url", masked)
		}
	}
	return problems.Err()
}
