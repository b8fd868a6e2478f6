package httpapi

import (
	"net/http"

	"guidon/pkg/flags"
)

// Environments serves the environments of the service (contract: Environments).
func Environments() Group {
	return Group{Name: "environments", Operations: []Operation{
		{"POST /api/admin/environments", flags.CreateEnvironment, theEnvironments, takes(createEnvironment)},
	}}
}

// A createEnvironmentBody makes an environment.
type createEnvironmentBody struct {
	Name      string        `json:"name"`
	Type      maybe[string] `json:"type"`
	Enabled   maybe[bool]   `json:"enabled"`
	SortOrder maybe[int64]  `json:"sortOrder"`
}

func (b createEnvironmentBody) check(_ flags.Limits, problems *flags.Problems) {
	checkName("/name", b.Name, problems)
	if b.Type.Value == "" {
		problems.Add("/type", "is required, such as development, test, preproduction or production")
	}
}

// An environmentView is an environment as it is answered.
type environmentView struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Enabled   bool   `json:"enabled"`
	Protected bool   `json:"protected"`
	SortOrder int64  `json:"sortOrder"`
}

func createEnvironment(c *call, in createEnvironmentBody) (decision, error) {
	registry := c.registry.Clone()
	env := flags.Environment{
		Name: in.Name, UID: flags.ShortID(c.newID()), Type: in.Type.Value, Enabled: in.Enabled.or(true),
		SortOrder: in.SortOrder.or(registry.NextSortOrder()), CreatedAt: c.now,
	}
	if err := registry.Add(env, c.limits); err != nil {
		return decision{}, err
	}
	answer := environmentView{env.Name, env.Type, env.Enabled, env.Protected, env.SortOrder}
	event := flags.Event{Type: flags.EnvironmentCreated, Environment: env.Name, Data: answer}
	return c.changes(c.registry, registry, event, http.StatusCreated, answer)
}
