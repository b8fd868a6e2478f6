package oldapi

import (
	"bytes"
	"encoding/csv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
)

// unleashVersion is the version of Unleash whose interface this service follows.
const unleashVersion = "5.12.8"

// A statistics is how much of everything the service has. Members of Unleash's that would take a look through the log or
// at every archived flag, or that are about usage, are absent.
type statistics struct {
	InstanceID           string                  `json:"instanceId"`
	Timestamp            timestamp               `json:"timestamp"`
	VersionOSS           string                  `json:"versionOSS"`
	VersionEnterprise    string                  `json:"versionEnterprise"`
	Users                int                     `json:"users"`
	ServiceAccounts      int                     `json:"serviceAccounts"`
	APITokens            map[flags.TokenType]int `json:"apiTokens"`
	Features             int                     `json:"featureToggles"`
	Projects             int                     `json:"projects"`
	ContextFields        int                     `json:"contextFields"`
	Roles                int                     `json:"roles"`
	CustomRootRoles      int                     `json:"customRootRoles"`
	CustomRootRolesInUse int                     `json:"customRootRolesInUse"`
	Groups               int                     `json:"groups"` // always 0
	Environments         int                     `json:"environments"`
	Segments             int                     `json:"segments"`
	Strategies           int                     `json:"strategies"`
	SAML                 bool                    `json:"SAMLenabled"` // always false
	OIDC                 bool                    `json:"OIDCenabled"` // always false
}

// csvText is an answer that is CSV and not JSON.
type csvText string

func statisticsOperations() []Operation {
	const path = "/api/admin/instance-admin/statistics"
	const read = theEnvironments | theRoles | theStrategyTypes | theContextFields
	counted := func(d decider) decider {
		return d.listing(flags.EntityUser, flags.EntityToken, flags.EntityProject, flags.EntitySegment).counting()
	}
	return []Operation{
		{"GET " + path, flags.Admin, read, counted(does(readStatistics)).answers(200, statistics{})},
		{"GET " + path + "/csv", flags.Admin, read, counted(does(readStatisticsCSV)).answers(200, csvText(""))},
	}
}

func readStatistics(c *call) (decision, error) { return ok(c.statistics()) }

func (c *call) statistics() statistics {
	s := statistics{
		Timestamp: timestamp(c.now), VersionOSS: unleashVersion,
		Users: len(c.usersWhere(isPerson)), ServiceAccounts: len(c.usersWhere(isAccount)), APITokens: map[flags.TokenType]int{},
		Projects: len(c.projects()), ContextFields: len(c.fields.List), Roles: len(c.roles.List()),
		Environments: len(c.registry.List), Segments: len(c.lists[flags.EntitySegment]), Strategies: len(c.types.All()),
	}
	for _, a := range c.lists[flags.EntityToken] {
		s.APITokens[a.(*flags.Token).Type]++
	}
	for _, p := range c.projects() {
		s.Features += c.count[p.UID].active
		if p.ID == flags.DefaultProject { // it is never deleted
			s.InstanceID = p.UID
		}
	}
	for _, role := range c.roles.List() {
		if role.Type != flags.CustomRootRole {
			continue
		}
		s.CustomRootRoles++
		if len(c.usersWhere(func(u *flags.User) bool { return u.RootRole == role.ID })) > 0 {
			s.CustomRootRolesInUse++
		}
	}
	return s
}

// readStatisticsCSV answers with a row of names and a row of values. A value that is an object is JSON.
func readStatisticsCSV(c *call) (decision, error) {
	document, err := json.Marshal(c.statistics(), json.Deterministic(true))
	if err != nil {
		return decision{}, err
	}
	names, values, err := columnsOf(document)
	if err != nil {
		return decision{}, err
	}
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll([][]string{names, values}); err != nil {
		return decision{}, err
	}
	return ok(csvText(text.String()))
}

// columnsOf are the names and values of a JSON object, in order.
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
