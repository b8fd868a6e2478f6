package addons

import (
	"maps"
	"net/url"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

type addonList struct {
	Addons    []addonView    `json:"addons"`
	Providers []providerView `json:"providers"`
}

// An addonView is an addon in a response. The values of sensitive parameters are masked.
type addonView struct {
	ID           int64             `json:"id"`
	Provider     string            `json:"provider"`
	Enabled      bool              `json:"enabled"`
	Description  *string           `json:"description"`
	Parameters   map[string]string `json:"parameters"`
	Events       []flags.EventType `json:"events"`
	Projects     []string          `json:"projects"`
	Environments []string          `json:"environments"`
	CreatedAt    shape.Time        `json:"createdAt"`
	Host         string            `json:"host,omitzero"` // of the URL, for callers who may change the addon
}

func addonViewOf(tx *httpapi.Tx, a flags.Addon) addonView {
	parameters := map[string]string{}
	maps.Copy(parameters, a.Parameters)
	for name := range a.Sealed {
		parameters[name] = masked
	}
	return addonView{
		ID: a.ID, Provider: a.Provider, Enabled: a.Enabled, Description: a.Description, Parameters: parameters,
		Events: append([]flags.EventType{}, a.Events...), Projects: append([]string{}, a.Projects...),
		Environments: append([]string{}, a.Environments...), CreatedAt: shape.Time(a.CreatedAt), Host: hostOf(tx, a),
	}
}

// hostOf returns the host of the addon's URL for callers who may change the addon: some services have the secret in the host.
func hostOf(tx *httpapi.Tx, a flags.Addon) string {
	if !tx.Caller.HasPermission(access.UpdateAddon, nil, "") || authorize(tx, a) != nil {
		return ""
	}
	address, err := tx.Unseal(a.Sealed[flags.AddonURL], flags.AddonSecret(a.ID, flags.AddonURL))
	if err != nil {
		return ""
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// A providerView is a provider as Unleash describes it, for forms.
type providerView struct {
	Name             string            `json:"name"`
	DisplayName      string            `json:"displayName"`
	Description      string            `json:"description"`
	DocumentationURL string            `json:"documentationUrl"`
	Parameters       []parameterView   `json:"parameters"`
	Events           []flags.EventType `json:"events"`
	TagTypes         []addonTagType    `json:"tagTypes"`
}

type parameterView struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	Type        string `json:"type"`
	Description string `json:"description"`
	Placeholder string `json:"placeholder"`
	Required    bool   `json:"required"`
	Sensitive   bool   `json:"sensitive"`
}

// A addonTagType is a type of tags that an addon reads from flags.
type addonTagType struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Icon        string `json:"icon"`
}

func providerViewOf(p flags.AddonProvider) providerView {
	view := providerView{
		Name: p.Name, DisplayName: p.DisplayName, Description: p.Description, DocumentationURL: "/docs",
		Parameters: httpapi.Each(p.Parameters, parameterViewOf), Events: flags.AddonEvents(), TagTypes: []addonTagType{},
	}
	if p.Name == flags.AddonSlack {
		view.TagTypes = []addonTagType{{flags.AddonSlack, "The Slack channel to which the events of a flag are posted.", "S"}}
	}
	return view
}

func parameterViewOf(p flags.AddonParameter) parameterView {
	return parameterView{p.Name, p.DisplayName, p.Type, p.Description, p.Placeholder, p.Required, p.Sensitive}
}
