package httpapi

import (
	"net/http"

	"guidon/pkg/flags"
)

// The names of path parameters, the same in every route.
const (
	projectParam     = "projectId"
	featureParam     = "featureName"
	environmentParam = "environment"
	strategyParam    = "strategyId"
)

// keysOf names the aggregates that reads needs for a request.
func keysOf(reads Reads) func(*http.Request) []flags.Key {
	return func(r *http.Request) []flags.Key {
		keys := make([]flags.Key, 0, 4) // room for the token too
		if reads.has(theProject) {
			keys = append(keys, flags.ProjectKey(r.PathValue(projectParam)))
		}
		if reads.has(theFeature) {
			keys = append(keys, flags.FeatureKey(r.PathValue(featureParam)))
		}
		if reads.has(theEnvironments) {
			keys = append(keys, flags.EnvironmentsKey())
		}
		return keys
	}
}

// find puts what the path names into the call. Every 404 about a path is made here: a project, flag or environment
// that is not there, a flag reached through another project, an archived flag.
func (c *call) find(reads Reads, view flags.View) error {
	if reads.has(theEnvironments) {
		if c.registry = flags.Find[*flags.Environments](view, flags.EnvironmentsKey()); c.registry == nil {
			return flags.Errorf(flags.Internal, "the store has not been set up: it has no environments")
		}
	}
	if reads.has(theProject) {
		id := c.param(projectParam)
		if c.project = flags.Find[*flags.Project](view, flags.ProjectKey(id)); c.project == nil {
			return flags.Errorf(flags.NotFound, "there is no project %q", id)
		}
	}
	if reads.has(theFeature) {
		if err := c.findFeature(reads, view); err != nil {
			return err
		}
	}
	if c.project != nil && c.registry != nil {
		c.environments = c.project.Available(c.registry)
	}
	if name := c.param(environmentParam); name != "" {
		return c.findEnvironment(name)
	}
	return nil
}

func (c *call) findFeature(reads Reads, view flags.View) error {
	name := c.param(featureParam)
	f := flags.Find[*flags.Feature](view, flags.FeatureKey(name))
	switch {
	case f == nil:
		return flags.Errorf(flags.NotFound, "there is no flag %q", name)
	case c.project != nil && f.ProjectUID != c.project.UID:
		return flags.Errorf(flags.NotFound, "there is no flag %q in project %q", name, c.project.ID)
	case f.Archived && !reads.has(evenArchived):
		return flags.Errorf(flags.NotFound, "flag %q is archived; revive it first, by POST /api/admin/archive/revive/%s", name, name)
	}
	c.feature = f
	return nil
}

func (c *call) findEnvironment(name string) error {
	for _, env := range c.environments {
		if env.Name == name {
			c.environment = env
			return nil
		}
	}
	return flags.Errorf(flags.NotFound, "there is no environment %q in project %q", name, c.project.ID)
}

// findStrategy is the strategy that the path names.
func (c *call) findStrategy() (flags.Strategy, error) {
	return c.feature.Strategy(c.environment, c.param(strategyParam))
}
