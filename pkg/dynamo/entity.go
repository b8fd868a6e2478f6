package dynamo

import (
	"time"

	"guidon/pkg/flags"
)

// An entity describes how the aggregates of one entity are stored. To add one, describe it in a file of its own and
// list it in entities.
//
// The functions of a descriptor must not look anything up in entities: Go refuses such a cycle between variables.
type entity struct {
	name  flags.Entity
	key   func(id string) itemKey // where the aggregate with that id is stored
	title func(id string) string  // names the aggregate in a message

	codec // the stored form

	// The other fields are optional.

	// list is the partition that List reads: the aggregates themselves, or a row for each.
	list string

	// history is the partition of the aggregate's events; nil for the partition of the aggregate.
	history func(flags.Aggregate) string

	// uid tells an aggregate from a later one with the same key; nil if a key is never used again.
	uid func(flags.Aggregate) string

	// exists is the error for a new aggregate whose key is already stored; nil for a permanent NameExists.
	exists func(id string) conditionError

	// row is the list row of an aggregate and its key; an empty document if lists do not show it.
	row func(flags.Aggregate) (document string, at itemKey, err error)

	// expires is when DynamoDB may delete the aggregate, which must be of no use from then on.
	expires func(flags.Aggregate) time.Time

	// unique lists the names that no other aggregate may have.
	unique func(flags.Aggregate) []uniqueName

	// dependents adds the other items that change with the aggregate, such as counts. before is nil for a new aggregate,
	// after for a deleted one.
	dependents func(s *Store, tx *transaction, before, after flags.Aggregate) error
}

// entities has one descriptor for each flags.Entity.
var entities = [...]*entity{
	&featureEntity,
	&projectEntity,
	&environmentsEntity,
	&tokenEntity,
	&tokenUseEntity,
	&signupEntity,
	&userEntity,
	&rolesEntity,
	&tagTypesEntity,
	&strategyTypesEntity,
	&contextFieldsEntity,
	&addonsEntity,
	&segmentEntity,
	&releaseTemplateEntity,
	&signalsEntity,
	&codeReferencesEntity,
	&useEntity,
	&useCountEntity,
	&feedEntity,
	&snapshotEntity,
	&applicationEntity,
	&instancesEntity,
	&applicationNamesEntity,
	&tokenApplicationsEntity,
	&askedForAllEntity,
	&usageCursorEntity,
	&sessionsEntity,
	&signInLinkEntity,
	&identityEntity,
	&favoritesEntity,
	&requestEntity,
	&commentEntity,
}

// entityOf is the descriptor of an entity.
func entityOf(name flags.Entity) *entity {
	for _, e := range entities {
		if e.name == name {
			return e
		}
	}
	panic("dynamo: the entity " + string(name) + " is not in the table entities") // a defect: TestEveryEntityIsDescribed
}

// keyOf is the key of the item that the aggregate of that key is stored in.
func keyOf(key flags.Key) itemKey { return entityOf(key.Entity).key(key.ID) }

// historyOf is the partition of an aggregate's events.
func historyOf(a flags.Aggregate) string {
	key := a.Key()
	e := entityOf(key.Entity)
	if e.history != nil {
		return e.history(a)
	}
	return e.key(key.ID).pk
}

// uidOf tells an aggregate from a later one with the same key; "" if a key is never used again.
func uidOf(a flags.Aggregate) string {
	if e := entityOf(a.Key().Entity); e.uid != nil {
		return e.uid(a)
	}
	return ""
}

// existsError is the error for a new aggregate whose key is already stored.
func (e *entity) existsError(id string) conditionError {
	if e.exists != nil {
		return e.exists(id)
	}
	return permanent(flags.Errorf(flags.NameExists, "%s already exists", e.title(id)))
}
