package flags

import "slices"

// addonEvents are the types of events that addons can send: all of them.
var addonEvents = []EventType{
	FeatureCreated, FeatureMetadataUpdated, FeatureUpdated, FeatureArchived, FeatureRevived, FeatureMoved,
	FeatureEnvironmentEnabled, FeatureEnvironmentDisabled, FeatureStrategyAdd, FeatureStrategyUpdate, FeatureStrategyRemove,
	FeatureStrategyOrder, FeatureVariantsUpdated, FeatureAllVariantsUpdated, FeatureStaleOn, FeatureStaleOff, FeatureTagged,
	FeatureUntagged, FeatureDependencyAdded, FeatureDependencyRemoved, FeatureDependenciesRemoved, FeatureCompleted,
	FeatureUncompleted, FeatureLinkAdded, FeatureLinkUpdated, FeatureLinkRemoved, FeatureCommented,
	TagTypeCreated, TagTypeUpdated, TagTypeDeleted,
	ContextFieldCreated, ContextFieldUpdated, ContextFieldDeleted,
	SegmentCreated, SegmentUpdated, SegmentDeleted,
	SignalCreated, SignalRotated, SignalDeleted,
	ReleaseTemplateCreated, ReleaseTemplateUpdated, ReleaseTemplateArchived, ReleaseTemplateDeleted,
	ReleasePlanAdded, ReleasePlanRemoved, ReleasePlanStarted, ReleasePlanPaused, ReleasePlanResumed, ProgressionChanged, ProgressionDeleted, SafeguardChanged, SafeguardDeleted, SafeguardTriggered,
	StrategyTypeCreated, StrategyTypeUpdated, StrategyTypeDeleted, StrategyTypeDeprecated, StrategyTypeReactivated,
	ProjectCreated, ProjectEnvironmentAdded, ProjectUpdated, ProjectDeleted,
	ProjectEnvironmentRemoved, DefaultStrategyUpdated,
	EnvironmentCreated, EnvironmentUpdated, EnvironmentDeleted, EnvironmentsSeeded,
	ApplicationCreated, ApplicationUpdated, ApplicationDeleted,
	AddonCreated, AddonUpdated, AddonDeleted,
	APITokenCreated, APITokenUpdated, APITokenDeleted, PersonalTokenCreated, PersonalTokenDeleted,
	SignupTokenCreated, SignupTokenUpdated, RolesSeeded,
	UserCreated, UserUpdated, UserDeleted, UserSignedIn, UserSignedOut, UserSignedOutEverywhere, SignInLinkCreated,
	ServiceAccountCreated, ServiceAccountUpdated, ServiceAccountDeleted,
	RoleCreated, RoleUpdated, RoleDeleted,
	ProjectUserAdded, ProjectUserRoleChanged, ProjectUserRemoved, ProjectAccessUpdated,
	ReviewsConfigured, GlassBroken, FreezeSet, FreezeLifted, FreezeSkipped,
	RequestCreated, RequestDiscarded, RequestSent, RequestApprovalAdded, RequestApproved, RequestRejected, RequestCancelled, RequestApplied,
	RequestScheduled, RequestScheduleApplied, RequestScheduleFailed, RequestScheduleSuspended,
	RequestRebased, RequestTitled, RequestCommented, ReviewersRequested, ChangeAdded, ChangeEdited, ChangeDiscarded,
}

// unleashOnlyEvents are types of events of Unleash that never happen in Guidon. Addons accept them, so that those of Unleash
// and of Terraform configurations work unchanged.
var unleashOnlyEvents = []EventType{
	"feature-deleted", "feature-potentially-stale-on", "feature-import", "features-exported", "features-imported",
	"group-created", "group-updated", "group-deleted", "banner-created", "banner-updated",
	"banner-deleted", "feature-favorited", "feature-unfavorited", "project-favorited", "project-unfavorited",
}

// AddonTest is the type of the event of a test of an addon. It is in no log, and addons cannot select it.
const AddonTest EventType = "addon-test"

// AddonEvents returns the types of events that addons can send.
func AddonEvents() []EventType { return slices.Clone(addonEvents) }

func isAddonEvent(e EventType) bool {
	return slices.Contains(addonEvents, e) || slices.Contains(unleashOnlyEvents, e)
}
