package dynamo

import (
	"guidon/pkg/access"
	"guidon/pkg/flags"
)

var (
	environmentsEntity  = registry(flags.EntityEnvironments, func(r *flags.Environments) *int64 { return &r.Version })
	rolesEntity         = registry(access.EntityRoles, func(r *access.Roles) *int64 { return &r.Version })
	addonsEntity        = registry(flags.EntityAddons, func(r *flags.Addons) *int64 { return &r.Version })
	tagTypesEntity      = registry(flags.EntityTagTypes, func(r *flags.TagTypes) *int64 { return &r.Version })
	strategyTypesEntity = registry(flags.EntityStrategyTypes, func(r *flags.StrategyTypes) *int64 { return &r.Version })
	contextFieldsEntity = registry(flags.EntityContextFields, func(r *flags.ContextFields) *int64 { return &r.Version })
)

// registry describes an aggregate of which there is only one: a list of everything of one kind.
func registry[T any, A aggregate[T]](name flags.Entity, version func(A) *int64) entity {
	return entity{
		name:   name,
		key:    func(string) itemKey { return registryKey(name) },
		title:  func(string) string { return "the list of " + string(name) },
		exists: registryExists,
		codec:  jsonCodec(version),
	}
}
