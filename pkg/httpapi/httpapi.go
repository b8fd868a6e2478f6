// Package httpapi runs the operations of the HTTP API. Packages below pkg/admin define the operations, as plain functions. The kernel
// knows aggregates, callers and the places that paths name (a project, a flag, an environment), because it loads and authorizes them.
// It applies no rule about flags itself.
//
// An Operation is a route, the permission that it takes, and a function:
//
//	{Route: "POST " + env + "/on", Permission: access.UpdateFeatureEnvironment, Handle: httpapi.Handle(enableFeature)}
//
//	func enableFeature(tx *httpapi.Tx, at httpapi.InFeatureEnvironment) (featureRecord, error) {
//		f, env := at.Find(tx) // ends the transaction with the 404 if one of them does not exist
//		if err := enableIn(tx, f, env); err != nil {
//			return featureRecord{}, err
//		}
//		return switched(tx, at, f, env), nil
//	}
//
//	func enableIn(tx *httpapi.Tx, f *flags.Feature, env flags.ProjectEnvironment) error {
//		if err := f.Enable(env, tx.NewID, tx.Now); err != nil {
//			return err
//		}
//		tx.Save(events.FeatureSwitched(httpapi.Was(tx, f), f, env), f)
//		return nil
//	}
//
// The function reads and changes through a Tx, and runs again when another writer was first (run.go). The path and query
// are a Place (places.go), the body and the response are types: the description of the API is generated from them. An
// operation of several transactions takes a Many (many.go).
//
// A request takes these steps, and ends at the first error:
//
//  1. Load what the place names, with the caller's token, in one call.
//  2. Check the token (401).
//  3. Check the permission (403), and the operation's own Allow (403).
//  4. Check the content type and the size of the body (415, 413).
//  5. Decode and check the body (400).
//  6. Check the path and query (400).
//  7. Run the function.
package httpapi

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"guidon/pkg/flags"
)

// A Group is a set of operations that are documented together. One Lambda function serves it, perhaps with other groups.
type Group struct {
	Name       string
	Function   string // the name of the Lambda function, such as "access"
	Operations []Operation
	Gone       map[string]string // routes that Guidon does not have, and what their 404 says
	Site       *Site             // files; nil for none
}

// Join returns one group with everything that the groups of a function contain.
func Join(groups ...Group) Group {
	joined := Group{Gone: map[string]string{}}
	for _, g := range groups {
		joined.Name, joined.Function = g.Function, g.Function
		joined.Operations = append(joined.Operations, g.Operations...)
		maps.Copy(joined.Gone, g.Gone)
		joined.Site = joined.Site.join(g.Site)
	}
	return joined
}

// Routes lists the group's routes as net/http writes them: "GET /api/admin/projects/{projectId}".
func (g Group) Routes() []string {
	routes := make([]string, 0, len(g.Operations))
	for _, op := range g.Operations {
		routes = append(routes, op.Route)
	}
	return routes
}

// New serves the operations of a group and its site, and a JSON 404 for every other path and method. The group fallback needs no store.
func New(store Store, group Group, config Config) http.Handler {
	s := newService(store, config)
	mux, operations := &Mux{}, map[string]bool{}
	for _, op := range group.Operations {
		operations[op.Route] = true
		if op.Handle.serve != nil {
			mux.Handle(op.Route, s.serveHandler(op))
		} else {
			mux.Handle(op.Route, s.handler(op))
		}
	}
	for route, message := range group.Gone {
		mux.Handle(route, s.fails(route, flags.Errorf(flags.NotFound, "%s", message)))
	}
	s.page = s.serveSite(mux, group.Site)
	nothing := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.notFound(mux, operations, w, r) })
	mux.Handle("/", nothing)
	for _, op := range group.Operations {
		if before, tail := withoutTail(op.Route); tail && !slices.Contains(group.Routes(), before) { // net/http would add a slash and redirect
			mux.Handle(before, nothing)
		}
	}
	return s.guard(mux, nothing)
}

func newService(store Store, config Config) *service {
	if config.Now == nil {
		config.Now = time.Now
	}
	return &service{
		store: store, config: config, uses: NewTokenUses(store, config.Logger),
		cors: administrationCORS(config.Origins), frontendCORS: frontendCORS(config.FrontendOrigins), plain: NewPlainBudget(),
	}
}
