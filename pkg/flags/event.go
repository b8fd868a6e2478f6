package flags

import "time"

// An EventType names a kind of change. The names are those of Unleash.
type EventType string

// The event types.
const (
	FeatureCreated             EventType = "feature-created"
	FeatureMetadataUpdated     EventType = "feature-metadata-updated"
	FeatureUpdated             EventType = "feature-updated" // by an import, which may change any part
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
	FeatureDependenciesRemoved EventType = "feature-dependencies-removed" // all of a flag's dependencies
	FeatureCompleted           EventType = "feature-completed"
	FeatureUncompleted         EventType = "feature-uncompleted"
	FeatureLinkAdded           EventType = "feature-link-added"
	FeatureLinkUpdated         EventType = "feature-link-updated"
	FeatureLinkRemoved         EventType = "feature-link-removed"
	FeatureCommented           EventType = "feature-comment-added"
	TagTypeCreated             EventType = "tag-type-created"
	TagTypeUpdated             EventType = "tag-type-updated"
	TagTypeDeleted             EventType = "tag-type-deleted"
	ContextFieldCreated        EventType = "context-field-created"
	ContextFieldUpdated        EventType = "context-field-updated"
	ContextFieldDeleted        EventType = "context-field-deleted"
	SegmentCreated             EventType = "segment-created"
	SegmentUpdated             EventType = "segment-updated"
	SegmentDeleted             EventType = "segment-deleted"
	SignalCreated              EventType = "signal-created"
	SignalRotated              EventType = "signal-rotated"
	SignalDeleted              EventType = "signal-deleted"
	ReleaseTemplateCreated     EventType = "release-plan-template-created"
	ReleaseTemplateUpdated     EventType = "release-plan-template-updated"
	ReleaseTemplateArchived    EventType = "release-plan-template-archived"
	ReleaseTemplateDeleted     EventType = "release-plan-template-deleted"
	ReleasePlanAdded           EventType = "release-plan-added"
	ReleasePlanRemoved         EventType = "release-plan-removed" // or detached
	ReleasePlanStarted         EventType = "release-plan-milestone-started"
	ReleasePlanPaused          EventType = "release-plan-progressions-paused"
	ReleasePlanResumed         EventType = "release-plan-progressions-resumed"
	ProgressionChanged         EventType = "milestone-progression-changed"
	ProgressionDeleted         EventType = "milestone-progression-deleted"
	SafeguardChanged           EventType = "safeguard-changed"
	SafeguardDeleted           EventType = "safeguard-deleted"
	SafeguardTriggered         EventType = "safeguard-triggered"
	ApplicationCreated         EventType = "application-created"
	ApplicationUpdated         EventType = "application-updated"
	ApplicationDeleted         EventType = "application-deleted"
	StrategyTypeCreated        EventType = "strategy-created"
	StrategyTypeUpdated        EventType = "strategy-updated"
	StrategyTypeDeleted        EventType = "strategy-deleted"
	StrategyTypeDeprecated     EventType = "strategy-deprecated"
	StrategyTypeReactivated    EventType = "strategy-reactivated"
	ProjectCreated             EventType = "project-created"
	ProjectEnvironmentAdded    EventType = "project-environment-added"
	ProjectUpdated             EventType = "project-updated"
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
	UserSignedIn               EventType = "user-signed-in"
	UserSignedOut              EventType = "user-signed-out"
	UserSignedOutEverywhere    EventType = "user-signed-out-everywhere"
	SignInLinkCreated          EventType = "sign-in-link-created"
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
	AddonCreated               EventType = "addon-config-created"
	AddonUpdated               EventType = "addon-config-updated"
	AddonDeleted               EventType = "addon-config-deleted"
	RequestCreated             EventType = "change-request-created"
	RequestDiscarded           EventType = "change-request-discarded"
	RequestSent                EventType = "change-request-sent-to-review"
	RequestApprovalAdded       EventType = "change-request-approval-added"
	RequestApproved            EventType = "change-request-approved" // has the approvals that it needs
	RequestRejected            EventType = "change-request-rejected"
	RequestCancelled           EventType = "change-request-cancelled"
	RequestApplied             EventType = "change-request-applied"
	RequestScheduled           EventType = "change-request-scheduled"
	RequestScheduleApplied     EventType = "change-request-scheduled-application-success"
	RequestScheduleFailed      EventType = "change-request-scheduled-application-failure"
	RequestScheduleSuspended   EventType = "change-request-schedule-suspended"
	RequestRebased             EventType = "change-request-rebased"
	RequestTitled              EventType = "change-request-title-updated"
	RequestCommented           EventType = "change-request-comment-added"
	ReviewersRequested         EventType = "change-request-requested-approvers-updated"
	ChangeAdded                EventType = "change-added"
	ChangeEdited               EventType = "change-edited"
	ChangeDiscarded            EventType = "change-discarded"
	ReviewsConfigured          EventType = "change-request-configuration-updated"
	GlassBroken                EventType = "change-request-glass-broken" // an administrator skipped change requests that nobody skips
	FreezeSet                  EventType = "change-freeze-set"
	FreezeLifted               EventType = "change-freeze-lifted"
	FreezeSkipped              EventType = "change-freeze-skipped" // someone changed an environment in a freeze
)

// RequestGroup is the GroupType of events that the application of a change request caused.
const RequestGroup = "change-request"

// TokenUserID is the user ID in events of changes that were made with an API token. Unleash uses the same number
// for admin tokens.
const TokenUserID = -42

// An Event records a change. It is stored in the same transaction as the change. A change has one event or
// several, see Change.MoreEvents.
type Event struct {
	ID          string // a version 7 UUID, so that IDs sort by time
	Type        EventType
	CreatedAt   time.Time
	CreatedBy   string // name of the caller's token or user
	Agent       string // the program that acted for the caller, see access.Caller; "" for none
	UserID      int64  // TokenUserID for an API token, 0 for Guidon itself and seeded data
	Project     string
	Environment string
	FeatureName string
	Data        any // the state after the change, as a JSON document: only what changed, not the whole aggregate
	PreData     any // the state before the change

	FormerProject string // the project that a flag left: its log has the event, too

	GroupType string // RequestGroup for the events of the application of a change request; "" for others
	GroupID   string // the ID of the change request

	SkippedReviews []string // names of the environments whose change requests the caller skipped, or where switching off needs none
}
