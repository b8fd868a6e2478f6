package projects

import (
	"bytes"
	"encoding/csv"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

// unleashVersion is the version of Unleash whose API this service follows.
const unleashVersion = "5.12.8"

// statistics counts what the service has. It omits those fields of Unleash's statistics that need the log or every archived
// flag, or that are about usage.
type statistics struct {
	InstanceID           string                   `json:"instanceId"`
	Timestamp            shape.Time               `json:"timestamp"`
	VersionOSS           string                   `json:"versionOSS"`
	VersionEnterprise    string                   `json:"versionEnterprise"`
	Users                int                      `json:"users"`
	ServiceAccounts      int                      `json:"serviceAccounts"`
	APITokens            map[access.TokenType]int `json:"apiTokens"`
	Features             int                      `json:"featureToggles"`
	Projects             int                      `json:"projects"`
	ContextFields        int                      `json:"contextFields"`
	Roles                int                      `json:"roles"`
	CustomRootRoles      int                      `json:"customRootRoles"`
	CustomRootRolesInUse int                      `json:"customRootRolesInUse"`
	Groups               int                      `json:"groups"` // always 0
	Environments         int                      `json:"environments"`
	Segments             int                      `json:"segments"`
	Strategies           int                      `json:"strategies"`
	SAML                 bool                     `json:"SAMLenabled"` // always false
	OIDC                 bool                     `json:"OIDCenabled"` // always false
}

func statisticsOperations() []httpapi.Operation {
	const path = "/api/admin/instance-admin/statistics"
	registries := []flags.Key{flags.EnvironmentsKey(), access.RolesKey(), flags.StrategyTypesKey(), flags.ContextFieldsKey()}
	return []httpapi.Operation{
		{Route: "GET " + path, Permission: access.Admin, Ahead: registries, Handle: httpapi.Handle(readStatistics)},
		{Route: "GET " + path + "/csv", Permission: access.Admin, Ahead: registries, Handle: httpapi.Handle(readStatisticsCSV)},
	}
}

func readStatistics(tx *httpapi.Tx, _ httpapi.InService) (statistics, error) {
	users, projects, roles := tx.Users(), tx.Projects(), tx.Roles().List()
	serviceAccounts := count(users, func(u *access.User) bool { return u.ServiceAccount })
	s := statistics{
		Timestamp: shape.Time(tx.Now), VersionOSS: unleashVersion,
		Users: len(users) - serviceAccounts, ServiceAccounts: serviceAccounts, APITokens: map[access.TokenType]int{},
		Projects: len(projects), ContextFields: len(tx.ContextFields().List), Roles: len(roles),
		Environments: len(tx.Environments().List), Segments: len(tx.Segments()), Strategies: len(tx.StrategyTypes().All()),
	}
	for _, t := range tx.Tokens() {
		s.APITokens[t.NamedType()]++
	}
	counts := tx.CountsOf(projects)
	for _, p := range projects {
		s.Features += counts[p.UID].Active
		if p.ID == flags.DefaultProject { // it cannot be deleted, so its UID never changes
			s.InstanceID = p.UID
		}
	}
	for _, role := range roles {
		if role.Type != access.CustomRootRole {
			continue
		}
		s.CustomRootRoles++
		if slices.ContainsFunc(users, func(u *access.User) bool { return u.RootRole == role.ID }) {
			s.CustomRootRolesInUse++
		}
	}
	return s, nil
}

// readStatisticsCSV returns a row of names and a row of values. A value that is an object is JSON.
func readStatisticsCSV(tx *httpapi.Tx, at httpapi.InService) (httpapi.CSV, error) {
	s, err := readStatistics(tx, at)
	if err != nil {
		return "", err
	}
	document, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		return "", err
	}
	names, values, err := columnsOf(document)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll([][]string{names, values}); err != nil {
		return "", err
	}
	return httpapi.CSV(text.String()), nil
}

// columnsOf returns the names and values of a JSON object, in order.
func columnsOf(document []byte) (names, values []string, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(document))
	if _, err := d.ReadToken(); err != nil { // the brace
		return nil, nil, err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, nil, err
		}
		names = append(names, name.String())
		value, err := d.ReadValue()
		if err != nil {
			return nil, nil, err
		}
		text := string(value)
		if value.Kind() == '"' {
			if err := json.Unmarshal(value, &text); err != nil {
				return nil, nil, err
			}
		}
		values = append(values, text)
	}
	return names, values, nil
}
