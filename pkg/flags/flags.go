// Package flags is the domain of Guidon: the types that users work with, and every rule about them. It does no
// I/O and knows neither HTTP nor AWS. Time, random IDs and other records come in as arguments.
//
// How the types relate:
//
//	Project             owns flags; each of its environments is an Attachment
//	  └ Feature         a flag: metadata, tags, dependencies, lifecycle
//	      └ FeatureEnvironment    per environment: on or off, strategies, variants
//	          ├ Strategy          decides for which users the flag is on
//	          │   └ Constraint, Variant, segment IDs
//	          └ Variant           a value that the flag resolves to
//	Segment             constraints that strategies of many flags share
//	Environments, TagTypes, StrategyTypes, ContextFields
//	                    registries: one record each, holding all entries
//	Event               the record of one change
//
// An Aggregate is a type that is loaded, changed and stored as a whole, under one Key and with one version.
// Feature, Project, Segment and the registries are aggregates, and so are those of pkg/access and pkg/usage. Store is what every
// user of the storage needs; interfaces such as SummaryStore add to it. pkg/dynamo implements and tests them.
//
// The json tags are the stored form: they name the fields in the table, so they never change. Responses have other types.
//
// An operation clones an aggregate, calls a method on the clone (such as Feature.Enable) and stores the result.
// The method either applies the change or returns an *Error that explains the refusal. Checks of request data
// add to a list of Problems, so that a caller sees all of them at once.
//
// Where to find a rule:
//
//	feature.go, strategy.go, constraint.go, variant.go, dependency.go, lifecycle.go, tag.go    flags
//	project.go, environment.go, member.go      projects, environments, who has roles in a project
//	segment.go, featureuse.go, contextfield.go segments and context fields, and which flags use them
//	pkg/access                                 who may do what, and credentials
//	pkg/usage                                  how applications use flags
//	import.go, importset.go, importfaults.go   imports; pkg/access/import.go has the permissions for them
//	limits.go, textlimits.go, bounds.go        limits
//
// Comments of the form "contract: Section" refer to a section of docs/contract.md.
package flags
