package dynamo

import (
	"guidon/pkg/access"
	"guidon/pkg/flags"
)

var (
	environmentsEntity  = registry(flags.EntityEnvironments, true, func(r *flags.Environments) *int64 { return &r.Version })
	rolesEntity         = registry(access.EntityRoles, true, func(r *access.Roles) *int64 { return &r.Version })
	addonsEntity        = registry(flags.EntityAddons, true, func(r *flags.Addons) *int64 { return &r.Version })
	tagTypesEntity      = registry(flags.EntityTagTypes, false, func(r *flags.TagTypes) *int64 { return &r.Version })
	strategyTypesEntity = registry(flags.EntityStrategyTypes, false, func(r *flags.StrategyTypes) *int64 { return &r.Version })
	contextFieldsEntity = registry(flags.EntityContextFields, false, func(r *flags.ContextFields) *int64 { return &r.Version })
)

// registry describes an aggregate of which there is only one: a list of everything of one kind.
func registry[T any, A aggregate[T]](name flags.Entity, kept bool, version func(A) *int64) entity {
	return entity{
		name:   name,
		key:    func(string) itemKey { return registryKey(name) },
		title:  func(string) string { return "the list of " + string(name) },
		exists: registryExists,
		codec:  jsonCodec(version),
		kept:   kept,
	}
}
