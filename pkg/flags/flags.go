// Package flags is the domain of Guidon: feature flags with their environments, strategies, constraints and
// variants, the projects that hold them, and every rule about them.
//
// It knows no HTTP, no AWS and no clock: time and identifiers come in as arguments, and what it needs of a store is
// the small contract in store.go. An operation on a flag is a method on a copy of it that changes the copy or says, as
// an *Error, why it may not; storing the copy is somebody else's business. So every rule can be tried as a table of
// cases, and every rule stands here once.
//
// One file an entity: feature.go, strategy.go, constraint.go, variant.go, environment.go, project.go, token.go,
// event.go.
package flags
