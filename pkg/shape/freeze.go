package shape

import "guidon/pkg/flags"

// A FreezeView is a freeze of an environment: a single one or a weekly one.
type FreezeView struct {
	ID         string      `json:"id"`
	Reason     string      `json:"reason"`
	From       *Time       `json:"from"` // null for a weekly one, like To
	To         *Time       `json:"to"`
	Weekly     *WeeklyView `json:"weekly"` // null for a single one
	OffAllowed bool        `json:"offAllowed"`
	OfService  bool        `json:"ofService"` // for all projects
}

// A WeeklyView is the window of a weekly freeze, in wall times.
type WeeklyView struct {
	From string `json:"from"`
	To   string `json:"to"`
	Zone string `json:"zone"`
}

// FreezeViewOf is the shape of a freeze.
func FreezeViewOf(f flags.Freeze, ofService bool) FreezeView {
	return FreezeView{f.ID, f.Reason, TimeOrNull(f.From), TimeOrNull(f.To), (*WeeklyView)(f.Weekly), f.OffAllowed, ofService}
}
