package flags

import "time"

// EventType says what a change was; the names are those that Unleash users know.
type EventType string

// The event types.
const (
	FeatureCreated             EventType = "feature-created"
	FeatureMetadataUpdated     EventType = "feature-metadata-updated"
	FeatureUpdated             EventType = "feature-updated" // by an import: any part of it
	FeatureArchived            EventType = "feature-archived"
	FeatureRevived             EventType = "feature-revived"
	FeatureMoved               EventType = "feature-project-change"
	FeatureEnvironmentEnabled  EventType = "feature-environment-enabled"
	FeatureEnvironmentDisabled EventType = "feature-environment-disabled"
	FeatureStrategyAdd         EventType = "feature-strategy-add"
	FeatureStrategyUpdate      EventType = "feature-strategy-update"
	FeatureStrategyRemove      EventType = "feature-strategy-remove"
	FeatureStrategyOrder       EventType = "strategy-order-changed"
	FeatureVariantsUpdated     EventType = "feature-environment-variants-updated"
	FeatureAllVariantsUpdated  EventType = "feature-variants-updated" // in all environments
	FeatureStaleOn             EventType = "feature-stale-on"
	FeatureStaleOff            EventType = "feature-stale-off"
	FeatureTagged              EventType = "feature-tagged"
	FeatureUntagged            EventType = "feature-untagged"
	FeatureDependencyAdded     EventType = "feature-dependency-added" // or changed
	FeatureDependencyRemoved   EventType = "feature-dependency-removed"
	FeatureDependenciesRemoved EventType = "feature-dependencies-removed" // all of them
	FeatureCompleted           EventType = "feature-completed"
	FeatureUncompleted         EventType = "feature-uncompleted"
	FeatureFavorited           EventType = "feature-favorited"
	FeatureUnfavorited         EventType = "feature-unfavorited"
	TagTypeCreated             EventType = "tag-type-created"
	TagTypeUpdated             EventType = "tag-type-updated"
	TagTypeDeleted             EventType = "tag-type-deleted"
	ContextFieldCreated        EventType = "context-field-created"
	ContextFieldUpdated        EventType = "context-field-updated"
	ContextFieldDeleted        EventType = "context-field-deleted"
	SegmentCreated             EventType = "segment-created"
	SegmentUpdated             EventType = "segment-updated"
	SegmentDeleted             EventType = "segment-deleted"
	StrategyTypeCreated        EventType = "strategy-created"
	StrategyTypeUpdated        EventType = "strategy-updated"
	StrategyTypeDeleted        EventType = "strategy-deleted"
	StrategyTypeDeprecated     EventType = "strategy-deprecated"
	StrategyTypeReactivated    EventType = "strategy-reactivated"
	ProjectCreated             EventType = "project-created"
	ProjectEnvironmentAdded    EventType = "project-environment-added"
	ProjectUpdated             EventType = "project-updated"
	ProjectFavorited           EventType = "project-favorited"
	ProjectUnfavorited         EventType = "project-unfavorited"
	ProjectDeleted             EventType = "project-deleted"
	ProjectEnvironmentRemoved  EventType = "project-environment-removed"
	DefaultStrategyUpdated     EventType = "default-strategy-updated"
	EnvironmentCreated         EventType = "environment-created"
	EnvironmentUpdated         EventType = "environment-updated"
	EnvironmentDeleted         EventType = "environment-deleted"
	EnvironmentsSeeded         EventType = "environments-seeded"
	APITokenCreated            EventType = "api-token-created"
	APITokenUpdated            EventType = "api-token-updated"
	APITokenDeleted            EventType = "api-token-deleted"
	PersonalTokenCreated       EventType = "pat-created"
	PersonalTokenDeleted       EventType = "pat-deleted"
	SignupTokenCreated         EventType = "public-signup-token-created"
	SignupTokenUpdated         EventType = "public-signup-token-updated"
	RolesSeeded                EventType = "roles-seeded"
	UserCreated                EventType = "user-created"
	UserUpdated                EventType = "user-updated"
	UserDeleted                EventType = "user-deleted"
	ServiceAccountCreated      EventType = "service-account-created"
	ServiceAccountUpdated      EventType = "service-account-updated"
	ServiceAccountDeleted      EventType = "service-account-deleted"
	RoleCreated                EventType = "role-created"
	RoleUpdated                EventType = "role-updated"
	RoleDeleted                EventType = "role-deleted"
	ProjectUserAdded           EventType = "project-user-added"
	ProjectUserRoleChanged     EventType = "project-user-role-changed"
	ProjectUserRemoved         EventType = "project-user-removed"
	ProjectAccessUpdated       EventType = "project-access-updated"
)

// TokenUserID stands for the user of an API token, who does not exist. It is Unleash's number for admin tokens.
const TokenUserID = -42

// An Event tells of a change, and is stored in the transaction that makes it. A change has one event, or several: see
// Change.Further.
type Event struct {
	ID          string // UUID version 7, so that ids sort by time
	Type        EventType
	CreatedAt   time.Time
	CreatedBy   string // the name of the caller's token or user
	UserID      int64  // who that is; TokenUserID for an API token, 0 for the seeding
	Project     string
	Environment string
	FeatureName string
	Data        any // what is there now, as a JSON document; what changed, not the whole aggregate
	PreData     any // what was there before
}
