package oldapi

import (
	"net/http"

	"guidon/pkg/events"
)

// Favorites are the caller's own, so READ is enough. Adding a favorite twice, or removing what is none, changes nothing.

func addFavorite(c *call) (decision, error) { return c.setFavorite(true) }

func removeFavorite(c *call) (decision, error) { return c.setFavorite(false) }

func (c *call) setFavorite(favorite bool) (decision, error) {
	f := c.feature.Clone()
	if err := f.SetFavorite(c.caller, favorite); err != nil {
		return decision{}, err
	}
	return c.changesFeature(f, events.FeatureFavorite(c.feature, f, c.caller), http.StatusOK, nil)
}

func addFavoriteProject(c *call) (decision, error) {
	return c.setFavoriteProject(true)
}

func removeFavoriteProject(c *call) (decision, error) {
	return c.setFavoriteProject(false)
}

func (c *call) setFavoriteProject(favorite bool) (decision, error) {
	p := c.project.Clone()
	if err := p.SetFavorite(c.caller, favorite); err != nil {
		return decision{}, err
	}
	return c.changesProject(p, events.ProjectFavorite(p, c.caller), nil)
}
