package oldapi

import (
	"cmp"
	"net/http"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// deleteSegment deletes a segment that nobody uses. Strategies that are gone may have it still: flags keep what they had in
// an environment that was deleted. They are taken away first, each in a round of its own, as every one is a change of a
// flag with an event of its own; the segment goes with the last round.
func deleteSegment(c *call) (decision, error) {
	if err := c.authorizeThis(flags.DeleteSegment); err != nil {
		return decision{}, err
	}
	registry := c.latestRegistry()
	if err := c.segment.CheckDeletable(c.uses(), c.projects(), registry); err != nil {
		return decision{}, err
	}
	if left, found := c.segment.FindOrphan(c.uses(), c.projects(), registry); found {
		return c.removeLeftover(left)
	}
	return c.changes(c.segment, nil, events.SegmentDeleted(c.segment), http.StatusNoContent, nil)
}

// latestRegistry is the registry of environments that was loaded last. An environment that was created while the call was
// loaded has not been deleted: what flags have there counts.
func (c *call) latestRegistry() *flags.Environments {
	return cmp.Or(flags.Find[*flags.Environments](c.more, flags.EnvironmentsKey()), c.registry)
}

// leftoverKeys names the flag of the next strategy that is to be taken away.
func leftoverKeys(c *call) []flags.Key {
	left, found := c.segment.FindOrphan(c.uses(), c.projects(), c.registry)
	if !found || c.segment.CheckDeletable(c.uses(), c.projects(), c.registry) != nil {
		return nil
	}
	return []flags.Key{flags.FeatureKey(left.Feature), flags.EnvironmentsKey()}
}

// removeLeftover takes a strategy that is gone out of its flag. Who has changed the flag since may have done so before.
func (c *call) removeLeftover(left flags.FeatureStrategyUse) (decision, error) {
	c.environment = left.ProjectEnvironment()
	if c.feature = flags.Find[*flags.Feature](c.more, flags.FeatureKey(left.Feature)); c.feature == nil {
		return decision{}, flags.Errorf(flags.VersionConflict, "flag %q was not the one that was loaded", left.Feature)
	}
	s, err := c.feature.Strategy(c.environment, left.ID)
	if err != nil {
		return decision{}, flags.Errorf(flags.VersionConflict, "flag %q has lost its strategy in the meantime", left.Feature)
	}
	d, err := c.removesStrategy(s)
	d.unfinished = true
	return d, err
}
