package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// dictionaries are values that Schemathesis is to try, by the names that schemathesis.toml knows them under.
type dictionaries map[string][]any

// toml is how its settings have them.
func (d dictionaries) toml() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d)) {
		values, _ := json.Marshal(d[name]) // texts and numbers; a list of them is the same in TOML
		_, _ = fmt.Fprintf(&b, "\n[dictionaries.%s]\nvalues = %s\n", name, values)
	}
	return b.String()
}

// personal is the dictionary with the personal token of an administrator, for what API tokens may not do.
const personal = "personal"

// How many strategies there are to ask for, and how many of each sort of thing to take away.
const (
	manyStrategies = 20
	doomed         = 25
)

// furnish puts things into the gateway that can be asked for, and others that can be taken away.
func (g *gateway) furnish(ctx context.Context) (dictionaries, error) {
	f := &furnisher{gateway: g, ctx: ctx, there: dictionaries{}}
	const (
		projects = "/api/admin/projects"
		flag     = projects + "/contract/features/contract-flag"
	)
	f.makes("environments", "contract", "/api/admin/environments", `{"name":"contract","type":"test"}`)
	f.makes("projects", "contract", projects, `{"id":"contract","environments":["contract"]}`)
	f.makes("flags", "contract-flag", projects+"/contract/features", `{"name":"contract-flag"}`)
	f.makes("strategyTypes", "contractType", "/api/admin/strategies", `{"name":"contractType","parameters":[{"name":"n","type":"number"}]}`)
	f.makes("tagTypes", "contract", "/api/admin/tag-types", `{"name":"contract"}`)
	f.send(http.MethodPost, "/api/admin/features/contract-flag/tags", `{"type":"contract","value":"checkout"}`)
	f.send(http.MethodPut, flag+"/variants", `[{"name":"blue","weight":500},{"name":"green","weight":500}]`)
	for range manyStrategies {
		f.makesNumbered("strategies", flag+"/environments/contract/strategies", `{"name":"default"}`)
	}
	f.makesNumbered("users", "/api/admin/user-admin", `{"username":"contract","rootRole":3}`)
	f.makesNumbered("users", "/api/admin/service-account", `{"username":"contract-account","name":"contract","rootRole":3}`)
	f.there["roles"] = []any{4, 5}
	f.makesNumbered("accounts", "/api/admin/service-account", `{"username":"contract-admin","name":"contract","rootRole":1}`)
	if f.err != nil {
		return nil, f.err
	}
	f.personal = fmt.Sprintf("/api/admin/service-account/%v/token", f.there["accounts"][0])
	for i := range doomed {
		name := fmt.Sprintf("doomed-%d", i)
		f.makes("doomedEnvironments", name, "/api/admin/environments", fmt.Sprintf(`{"name":%q,"type":"test","enabled":false}`, name))
		f.makes("doomedProjects", name, projects, fmt.Sprintf(`{"id":%q,"environments":[%q]}`, name, name))
		f.makes("doomedFlags", name, projects+"/contract/features", fmt.Sprintf(`{"name":%q}`, name))
		f.makes("doomedTypes", name, "/api/admin/strategies", fmt.Sprintf(`{"name":%q,"parameters":[]}`, name))
		f.send(http.MethodPost, "/api/admin/tag-types", fmt.Sprintf(`{"name":%q}`, name))
		f.makesNumbered("doomedUsers", "/api/admin/user-admin", fmt.Sprintf(`{"username":%q,"rootRole":3}`, name))
		f.makesNumbered("doomedRoles", "/api/admin/roles", fmt.Sprintf(`{"name":%q}`, name))
		f.makesNumbered("ownRoles", "/api/admin/roles", fmt.Sprintf(`{"name":"own-%d"}`, i))
		f.makesSecret("apiTokens", "/api/admin/api-tokens", fmt.Sprintf(`{"tokenName":"own-%d","type":"client","environment":"*"}`, i))
		f.makesSecret("doomedTokens", "/api/admin/api-tokens", fmt.Sprintf(`{"tokenName":%q,"type":"client","environment":"*"}`, name))
		f.makesSecret("doomedProjectTokens", projects+"/contract/api-tokens", fmt.Sprintf(`{"tokenName":"%s-of-contract","type":"client","environment":"contract"}`, name))
		f.makesSecret("signups", "/api/admin/invite-link/tokens", fmt.Sprintf(`{"name":%q,"expiresAt":"2999-01-01T00:00:00Z"}`, name))
		f.makesNumbered("personalTokens", f.personal, fmt.Sprintf(`{"description":%q,"expiresAt":"2999-01-01T00:00:00Z"}`, name))
	}
	f.makesSecret(personal, f.personal, `{"description":"kept","expiresAt":"2999-01-01T00:00:00Z"}`)
	return f.there, f.err
}

// A furnisher keeps the first error.
type furnisher struct {
	*gateway
	ctx   context.Context
	there dictionaries
	err   error

	personal string // where tokens of a service account that is an administrator are made
}

func (f *furnisher) send(method, path, body string) (answer string) {
	if f.err == nil {
		answer, f.err = f.gateway.send(f.ctx, method, path, body)
	}
	return answer
}

// makes makes a thing with a name.
func (f *furnisher) makes(dictionary, name, path, body string) {
	f.send(http.MethodPost, path, body)
	f.there[dictionary] = append(f.there[dictionary], name)
}

// makesSecret makes a token.
func (f *furnisher) makesSecret(dictionary, path, body string) {
	var made struct {
		Secret string `json:"secret"`
	}
	if answer := f.send(http.MethodPost, path, body); f.err == nil {
		f.err = json.Unmarshal([]byte(answer), &made)
	}
	f.there[dictionary] = append(f.there[dictionary], made.Secret)
}

// makesNumbered makes a thing that gets an id.
func (f *furnisher) makesNumbered(dictionary, path, body string) {
	var made struct {
		ID    any `json:"id"`
		Roles struct {
			ID any `json:"id"`
		} `json:"roles"` // the one role, so named
	}
	answer := f.send(http.MethodPost, path, body)
	if f.err != nil {
		return
	}
	if f.err = json.Unmarshal([]byte(answer), &made); made.ID == nil {
		made.ID = made.Roles.ID
	}
	f.there[dictionary] = append(f.there[dictionary], made.ID)
}
