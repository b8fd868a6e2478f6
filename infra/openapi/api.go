package main

import (
	"cmp"
	"reflect"
	"strings"

	"guidon/pkg/admin"
	"guidon/pkg/admin/eventlog"
	"guidon/pkg/admin/features"
	"guidon/pkg/admin/transfer"
	"guidon/pkg/admin/users"
	"guidon/pkg/admin/wire"
	"guidon/pkg/httpapi"
	"guidon/pkg/ingest"
	"guidon/pkg/jsonbody"
	"guidon/pkg/serving"
)

// This file is the only one that knows how pkg/httpapi declares its operations.

// A group is a set of operations that are documented together.
type group struct {
	name       string
	operations []endpoint
}

// An endpoint is what the code declares about one operation.
type endpoint struct {
	route      string // such as "GET /api/admin/projects"
	permission string // "" for public, forApplications for tokens of applications
	status     int    // of a success; 0 if it is not declared
	body       reflect.Type
	optional   bool         // whether the body may be absent
	answer     reflect.Type // nil for none
}

// forApplications is in place of a permission: these operations check the token themselves.
const forApplications = "applications"

// withoutToken is the same for what Unleash Edge calls without a token, and for how people sign in.
const withoutToken = "none"

func groups() (all []group) {
	all = describeGroups(admin.Groups(), "")
	all = append(all, describeGroups(serving.Groups(nil, nil, httpapi.Config{}), forApplications)...)
	usage := httpapi.Join(ingest.Groups(nil, nil, httpapi.Config{})...) // two functions serve it
	usage.Name = "usage"
	return append(all, describeGroups([]httpapi.Group{usage}, forApplications)...)
}

// describeGroups describes groups. permission is that of operations that have none.
func describeGroups(groups []httpapi.Group, permission string) (all []group) {
	for _, g := range groups {
		described := group{name: g.Name}
		for _, op := range g.Operations {
			shape := op.Shape()
			needed := cmp.Or(string(op.Permission), permission)
			_, path, _ := strings.Cut(op.Route, " ")
			if permission != "" && strings.HasPrefix(path, "/edge/") || needed == "" && (strings.HasPrefix(path, "/auth/") || strings.HasPrefix(path, "/api/")) {
				needed = withoutToken
			}
			described.operations = append(described.operations, endpoint{
				route: op.Route, permission: needed, status: shape.Status,
				body: reflect.TypeOf(shape.Takes), optional: shape.Optional, answer: reflect.TypeOf(shape.Answers),
			})
		}
		all = append(all, described)
	}
	return all
}

// apiBounds are the limits that pkg/httpapi checks itself.
var apiBounds = map[string]int{
	"MaxBulk": wire.MaxBulk, "MaxEvents": eventlog.MaxEvents, "MaxPage": httpapi.MaxPage, "MaxPatchOperations": jsonbody.MaxPatchOperations, "MaxPointer": jsonbody.MaxPointer,
	"MaxRoleName": users.MaxRoleName, "MaxStatusValue": features.MaxStatusValue, "MaxTagFilter": transfer.MaxTagFilter, "MaxTitle": wire.MaxTitle,
}
