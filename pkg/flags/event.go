package flags

import "time"

// EventType says what a change was; the names are those that Unleash users know.
type EventType string

// The event types.
const (
	FeatureCreated             EventType = "feature-created"
	FeatureMetadataUpdated     EventType = "feature-metadata-updated"
	FeatureArchived            EventType = "feature-archived"
	FeatureRevived             EventType = "feature-revived"
	FeatureEnvironmentEnabled  EventType = "feature-environment-enabled"
	FeatureEnvironmentDisabled EventType = "feature-environment-disabled"
	FeatureStrategyAdd         EventType = "feature-strategy-add"
	FeatureStrategyUpdate      EventType = "feature-strategy-update"
	FeatureStrategyRemove      EventType = "feature-strategy-remove"
	FeatureStrategyOrder       EventType = "strategy-order-changed"
	FeatureVariantsUpdated     EventType = "feature-environment-variants-updated"
	ProjectCreated             EventType = "project-created"
	ProjectEnvironmentAdded    EventType = "project-environment-added"
	EnvironmentCreated         EventType = "environment-created"
	EnvironmentsSeeded         EventType = "environments-seeded"
	APITokenCreated            EventType = "api-token-created"
)

// An Event tells of one change. It is stored in the transaction that makes the change, so there are as many events as
// changes.
type Event struct {
	ID          string // UUID version 7, so that ids sort by time
	Type        EventType
	CreatedAt   time.Time
	CreatedBy   string // the name of the caller's token or user
	Project     string
	Environment string
	FeatureName string
	Data        any // what is there now, as a JSON document; what changed, not the whole aggregate
	PreData     any // what was there before
}
