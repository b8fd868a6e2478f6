// Package httpapi is the HTTP interface: what Guidon answers, to what, and who may ask.
//
// An operation is a row of its group's table (projects.go, features.go, tags.go and so on): a
// route, the permission it needs, what it reads, and a pure function that decides. One executor does the I/O for all of
// them: load, decide, commit (execute.go). Wire types stand beside the operations that use them; the rules themselves
// are methods of pkg/flags.
package oldapi

import (
	"guidon/pkg/httpapi"
)

// A Group is the operations that one Lambda function serves.
type Group struct {
	Name       string
	Operations []Operation
}

// Groups lists every group that has not moved.
func Groups() []Group {
	return []Group{Features()}
}

// Routes lists the group's routes as net/http writes them: "GET /api/admin/projects/{projectId}".
func (g Group) Routes() []string {
	routes := make([]string, 0, len(g.Operations))
	for _, op := range g.Operations {
		routes = append(routes, op.Route)
	}
	return routes
}

// Config is the kernel's.
type Config = httpapi.Config
