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
//	Environments, Roles, TagTypes, StrategyTypes, ContextFields
//	                    registries: one record each, holding all entries
//	User, Token, SignupToken
//	                    who may call; Caller is the user or token behind one request
//	Event               the record of one change
//
// An Aggregate is a type that is loaded, changed and stored as a whole, under one Key and with one version.
// Feature, Project, Segment, User, Token and the registries are aggregates. Store is the interface that the
// storage implements; pkg/dynamo implements and tests it.
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
//	caller.go, permission.go, role.go          who may do what
//	token.go, tokenscope.go, user.go, usertoken.go, signuptoken.go    credentials
//	import.go, importset.go, importfaults.go, importpermissions.go    imports
//	limits.go, textlimits.go, bounds.go        limits
//
// Comments of the form "contract: Section" refer to a section of docs/contract.md.
package flags
