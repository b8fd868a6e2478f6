package flags

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Freeze is a time in which guarded parts of an environment do not change (see GuardedPart): from From to To, or in a weekly window.
// The registry of environments has those of all projects, a project has its own.
type Freeze struct {
	ID             string    `json:"id"`
	EnvironmentUID string    `json:"environment"` // UID of the environment: the freeze does not apply to a later one of that name
	Reason         string    `json:"reason"`
	From           time.Time `json:"from,omitzero"` // zero for a weekly one, like To
	To             time.Time `json:"to,omitzero"`
	Weekly         *Weekly   `json:"weekly,omitzero"`
	OffAllowed     bool      `json:"offAllowed,omitzero"` // flags on which no other depends can be switched off
}

// A Weekly is a window between two wall times of each week, such as Fri 17:00 to Mon 08:00. A wall time that a change of the clocks skips
// or repeats begins a window as early and ends it as late as it can be understood.
type Weekly struct {
	From string `json:"from"` // such as "Fri 17:00"
	To   string `json:"to"`
	Zone string `json:"zone"` // name in the IANA database, such as "Europe/Zurich"
}

// The limits of freezes.
const (
	MaxFreezes  = 50                   // of the service in all environments, and of a project in all environments
	maxFreeze   = 366 * 24 * time.Hour // how long one lasts that is not weekly
	MaxZone     = 64                   // the name of a zone, in bytes
	MaxWallTime = len("Fri 17:00")
)

// A Frozen is that an environment of a project is frozen at a moment.
type Frozen struct {
	Environment Environment
	ID          string    // of the freeze that ends last of those in effect; ties go to the service
	Reason      string    // of that freeze
	Until       time.Time // its end. Another freeze may begin then
	OfService   bool      // whether it is for all projects
	OffAllowed  bool      // whether all freezes in effect let flags be switched off
}

// Frozen returns whether an environment of a project is frozen at a moment, until when and why. Without a project, it only looks at the
// freezes for all projects.
func (e *Environments) Frozen(p *Project, env Environment, at time.Time) (frozen Frozen, is bool) {
	see := func(list []Freeze, ofService bool) {
		for _, f := range list {
			if f.EnvironmentUID != env.UID {
				continue
			}
			until, in := f.until(at)
			if !in {
				continue
			}
			offAllowed := f.OffAllowed && (!is || frozen.OffAllowed)
			if !is || until.After(frozen.Until) {
				frozen = Frozen{Environment: env, ID: f.ID, Reason: f.Reason, Until: until, OfService: ofService}
			}
			frozen.OffAllowed, is = offAllowed, true
		}
	}
	see(e.Freezes, true)
	if p != nil {
		see(p.Freezes, false)
	}
	return frozen, is
}

// Ended reports whether the freeze is over for good at a moment.
func (f Freeze) Ended(at time.Time) bool { return f.Weekly == nil && !at.Before(f.To) }

// until returns the end of the freeze, or of its present window; false if the moment is in none.
func (f Freeze) until(at time.Time) (time.Time, bool) {
	if f.Weekly != nil {
		return f.Weekly.until(at)
	}
	return f.To, !at.Before(f.From) && !f.Ended(at)
}

// until returns the end of the window that contains the moment; false if there is none.
func (w Weekly) until(at time.Time) (end time.Time, in bool) {
	zone, err := time.LoadLocation(w.Zone)
	if err != nil {
		zone = time.UTC // it was known when the freeze was set
	}
	from, _ := parseWallTime(w.From)
	to, _ := parseWallTime(w.To)
	local := at.In(zone)
	sunday := time.Date(local.Year(), local.Month(), local.Day()-int(local.Weekday()), 0, 0, 0, 0, time.UTC)
	days := 0
	if to <= from {
		days = 7
	}
	for _, week := range []int{-7, 0, 7} { // next week's can have begun where a change of the clocks skips its beginning
		first, _ := moments(sunday.AddDate(0, 0, week).Add(from), zone)
		_, last := moments(sunday.AddDate(0, 0, week+days).Add(to), zone)
		if !at.Before(first) && at.Before(last) && last.After(end) {
			end, in = last, true
		}
	}
	return end.UTC(), in
}

// moments returns the first and last moment at which clocks of the zone show a time, which is given in UTC. If they skip it, these are
// the moments by the offsets before and after the change.
func moments(wall time.Time, zone *time.Location) (first, last time.Time) {
	offset := func(at time.Time) time.Duration {
		_, seconds := at.In(zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	shows := func(at time.Time) bool { return at.Add(offset(at)).Equal(wall) }
	const around = 36 * time.Hour // more than the largest offset and the longest change of the clocks
	before, after := wall.Add(-offset(wall.Add(-around))), wall.Add(-offset(wall.Add(around)))
	switch {
	case shows(before) && !shows(after):
		return before, before
	case shows(after) && !shows(before):
		return after, after
	case after.Before(before):
		return after, before
	}
	return before, after
}

// parseWallTime returns how long after the beginning of a week, on Sunday, clocks show a time such as "Fri 17:00".
func parseWallTime(text string) (since time.Duration, ok bool) {
	name, clock, _ := strings.Cut(text, " ")
	day := slices.Index([]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}, name)
	t, err := time.Parse("15:04", clock)
	if day < 0 || err != nil || len(text) != MaxWallTime {
		return 0, false
	}
	return time.Duration(day)*24*time.Hour + time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, true
}

// Check adds the problems of a weekly window.
func (w Weekly) Check(problems *Problems) {
	from, fromOK := parseWallTime(w.From)
	to, toOK := parseWallTime(w.To)
	const example = "must be a day and a time from 00:00 to 23:59, such as %q"
	if !fromOK {
		problems.Add("/from", example, "Fri 17:00")
	}
	if !toOK {
		problems.Add("/to", example, "Mon 08:00")
	}
	if fromOK && toOK && from == to {
		problems.Add("/to", "must be another time than from: a weekly freeze is shorter than a week")
	}
	if _, err := time.LoadLocation(w.Zone); err != nil || w.Zone == "" || len(w.Zone) > MaxZone || ofMachine.MatchString(w.Zone) {
		problems.Add("/zone", "must be the name of a time zone, such as Europe/Zurich or UTC")
	}
}

// ofMachine matches names that only some machines know as time zones, or that mean another zone on each.
var ofMachine = regexp.MustCompile(`^(Local|localtime|posixrules|posix/.*|right/.*)$`)

// checkTime returns Invalid if a freeze that is not weekly ends before it begins, ended already, or lasts too long.
func (f Freeze) checkTime(now time.Time) error {
	var problems Problems
	switch {
	case f.Weekly != nil:
	case !f.To.After(f.From):
		problems.Add("/to", "must be after from")
	case f.Ended(now):
		problems.Add("/to", "must be in the future; it is now %s", now.UTC().Format(time.RFC3339))
	case f.To.Sub(f.From) > maxFreeze:
		problems.Add("/to", "must be at most %d days after from", int(maxFreeze.Hours()/24))
	}
	return problems.Err()
}

// AddFreeze freezes an environment in all projects. No change that was decided before it is committed after it. Freezes that have ended
// are forgotten. It returns Invalid if the time is not valid, or if there are too many freezes.
func (e *Environments) AddFreeze(f Freeze, now time.Time) error {
	list, err := withFreeze(e.Freezes, f, e, now)
	if err == nil {
		e.Freezes = list
		e.ReviewChanges++
	}
	return err
}

// AddFreeze freezes an environment of the project, like AddFreeze of the registry, which must be a clone: it is changed.
func (p *Project) AddFreeze(f Freeze, registry *Environments, now time.Time) error {
	list, err := withFreeze(p.Freezes, f, registry, now)
	if err == nil {
		p.Freezes = list
		p.ReviewChange = registry.noteReview(p.UID, now)
	}
	return err
}

func withFreeze(list []Freeze, f Freeze, registry *Environments, now time.Time) ([]Freeze, error) {
	if err := f.checkTime(now); err != nil {
		return nil, err
	}
	list = without(list, func(old Freeze) bool {
		return old.Ended(now) || !slices.ContainsFunc(registry.List, func(env Environment) bool { return env.UID == old.EnvironmentUID })
	})
	if len(list) >= MaxFreezes {
		return nil, Errorf(Invalid, "there are %d freezes, and no more than %d are allowed; lift one first", len(list), MaxFreezes)
	}
	return append(list, f), nil
}

// RemoveFreeze lifts a freeze of an environment in all projects. It returns NotFound if there is none of that id.
func (e *Environments) RemoveFreeze(env Environment, id string) (lifted Freeze, err error) {
	e.Freezes, lifted, err = withoutFreeze(e.Freezes, env, id)
	return lifted, err
}

// RemoveFreeze lifts a freeze that the project has set. It returns NotFound if there is none of that id, also if it is one for all
// projects: the project cannot lift those.
func (p *Project) RemoveFreeze(env Environment, id string, registry *Environments) (lifted Freeze, err error) {
	if slices.ContainsFunc(registry.Freezes, func(f Freeze) bool { return f.ID == id }) {
		return Freeze{}, Errorf(NotFound, "freeze %q is not of project %q but of environment %q in all projects; "+
			"someone with the permission UPDATE_ENVIRONMENT can lift it there", id, p.ID, env.Name)
	}
	p.Freezes, lifted, err = withoutFreeze(p.Freezes, env, id)
	return lifted, err
}

func withoutFreeze(list []Freeze, env Environment, id string) (left []Freeze, lifted Freeze, err error) {
	i := slices.IndexFunc(list, func(f Freeze) bool { return f.ID == id && f.EnvironmentUID == env.UID })
	if i < 0 {
		return list, Freeze{}, Errorf(NotFound, "environment %q has no freeze %q", env.Name, id)
	}
	return without(list, func(f Freeze) bool { return f.ID == id }), list[i], nil
}
