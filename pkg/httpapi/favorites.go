package httpapi

import (
	"net/http"

	"guidon/pkg/flags"
)

// Favorites are the caller's own, so whoever may read a flag may have it among them. To add what is one already, and to
// remove what is none, changes nothing.

func addFavorite(c *call) (decision, error) { return c.setFavorite(true, flags.FeatureFavorited) }

func removeFavorite(c *call) (decision, error) { return c.setFavorite(false, flags.FeatureUnfavorited) }

func (c *call) setFavorite(favorite bool, event flags.EventType) (decision, error) {
	f := c.feature.Clone()
	f.SetFavorite(c.caller, favorite)
	return c.changesFeature(f, flags.Event{Type: event}, http.StatusOK, nil)
}
