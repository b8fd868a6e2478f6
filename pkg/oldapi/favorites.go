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
