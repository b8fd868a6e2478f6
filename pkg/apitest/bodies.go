package apitest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// PartialFailure is an error whose message contains part, with a detail for each flag that was not changed. details has
// pairs: the index of the flag in the list, and part of the reason.
func PartialFailure(name, part string, details ...string) string {
	var list []string
	for i := 0; i < len(details); i += 2 {
		message, _ := json.Marshal("<has " + details[i+1] + ">")
		list = append(list, fmt.Sprintf(`{"path":"/features/%s","message":%s}`, details[i], message))
	}
	message, _ := json.Marshal("<has " + part + ">")
	return fmt.Sprintf(`{"id":"<uuid>","name":%q,"message":%s,"details":[%s]}`, name, message, strings.Join(list, ","))
}

// Created is the response of create, update, patch and clone for a new flag. others replaces or adds fields.
func Created(name string, others ...string) string {
	return Object([]string{
		fmt.Sprintf(`"name":%q`, name), `"type":"release"`, `"description":""`, `"project":"default"`, `"stale":false`,
		`"impressionData":false`, `"createdAt":"<time>"`, `"lastSeenAt":null`, `"archived":false`, `"archivedAt":null`, `"enabled":false`, `"variants":null`,
	}, others)
}

// Object joins fields to a JSON object. A field of others replaces the field with the same name.
func Object(members, others []string) string {
	for _, other := range others {
		name, _, _ := strings.Cut(other, ":")
		i := slices.IndexFunc(members, func(m string) bool { return strings.HasPrefix(m, name+":") })
		if i < 0 {
			members = append(members, other)
		} else {
			members[i] = other
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// Row is a flag in an environment, as lists have it.
func Row(environment string, others ...string) string {
	sortOrder := map[string]int{"development": 2, "production": 3}[environment]
	return Object([]string{
		fmt.Sprintf(`"name":%q`, environment), fmt.Sprintf(`"displayName":%q`, environment), `"enabled":false`,
		fmt.Sprintf(`"type":%q`, environment), fmt.Sprintf(`"sortOrder":%d`, sortOrder), `"variantCount":0`,
		`"hasStrategies":false`, `"hasEnabledStrategies":false`, `"lastSeenAt":null`,
	}, others)
}

// Record is the response for one flag.
func Record(name string, environments []string, others ...string) string {
	return Object([]string{
		fmt.Sprintf(`"name":%q`, name), `"type":"release"`, `"description":""`, `"project":"default"`, `"stale":false`,
		`"impressionData":false`, `"createdAt":"<time>"`, `"lastSeenAt":null`, `"archived":false`, `"archivedAt":null`,
		`"enabled":false`, `"favorite":false`, `"environments":[` + strings.Join(environments, ",") + `]`, `"variants":[]`,
		`"strategies":[]`, `"children":[]`, `"dependencies":[]`, `"tags":[]`, `"links":[]`,
		`"lifecycle":{"stage":"initial","enteredStageAt":"<time>"}`,
	}, others)
}

// FeatureRow is a flag in the overview of its project.
func FeatureRow(name string, environments ...string) string {
	return fmt.Sprintf(`{"name":%q,"type":"release","description":"","stale":false,"impressionData":false,"createdAt":"<time>","lastSeenAt":null,"favorite":false,"environments":[%s]}`,
		name, strings.Join(environments, ","))
}

// Listed is a flag in the list of its project.
func Listed(name string, environments ...string) string {
	return strings.TrimSuffix(FeatureRow(name, environments...), "}") + `,"lifecycle":{"stage":"initial","enteredStageAt":"<time>"}}`
}

// A FlagPage is a page of a list of flags.
type FlagPage struct {
	Features []struct{ Name string }
	Next     string
}

// Names returns the names of the flags on the page.
func (p FlagPage) Names() []string {
	names := []string{}
	for _, f := range p.Features {
		names = append(names, f.Name)
	}
	return names
}

// Strategy is a strategy in a response.
func Strategy(flag string, others ...string) string {
	return Object([]string{
		`"id":"<uuid>"`, `"name":"default"`, `"title":null`, `"disabled":false`, fmt.Sprintf(`"featureName":%q`, flag),
		`"sortOrder":0`, `"segments":[]`, `"constraints":[]`, `"variants":[]`, `"parameters":{}`,
	}, others)
}

// Faulty is a 400 with a message and any details.
func Faulty(part string) string {
	return `{"...":0,` + Failure("ValidationError", part)[1:]
}
