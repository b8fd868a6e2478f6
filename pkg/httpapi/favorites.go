package httpapi

import (
	"net/http"

	"guidon/pkg/flags"
)

// Favorites are the caller's own, so READ is enough. Adding a favorite twice, or removing what is none, changes nothing.

func addFavorite(c *call) (decision, error) { return c.setFavorite(true, flags.FeatureFavorited) }

func removeFavorite(c *call) (decision, error) { return c.setFavorite(false, flags.FeatureUnfavorited) }

func (c *call) setFavorite(favorite bool, event flags.EventType) (decision, error) {
	f := c.feature.Clone()
	if err := f.SetFavorite(c.caller, favorite); err != nil {
		return decision{}, err
	}
	return c.changesFeature(f, flags.Event{Type: event}, http.StatusOK, nil)
}

func addFavoriteProject(c *call) (decision, error) {
	return c.setFavoriteProject(true, flags.ProjectFavorited)
}

func removeFavoriteProject(c *call) (decision, error) {
	return c.setFavoriteProject(false, flags.ProjectUnfavorited)
}

// A favoriteProject is what events tell of a favorite.
type favoriteProject struct {
	Project string `json:"project"`
}

func (c *call) setFavoriteProject(favorite bool, event flags.EventType) (decision, error) {
	p := c.project.Clone()
	if err := p.SetFavorite(c.caller, favorite); err != nil {
		return decision{}, err
	}
	return c.changesProject(p, flags.Event{Type: event, Data: favoriteProject{p.ID}}, nil)
}
