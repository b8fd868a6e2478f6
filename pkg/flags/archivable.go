package flags

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// For how long a flag must have been unused, and off, to be safe to archive, and how old a scan of the code can be.
const (
	quietDays = 30
	scanDays  = 7
	day       = 24 * time.Hour
)

// An ArchiveCheck has what decides, beside a flag of a project, whether it is safe to archive.
type ArchiveCheck struct {
	Environments []ProjectEnvironment // of the project
	References   *CodeReferences      // of the project; nil for none
	AskedForAll  time.Time            // when a page last asked for all flags of the project by OFREP; zero for never
	Now          time.Time
}

// Against returns what stands against archiving an active flag, in sentences; nothing if it is safe.
//
// It is safe if nothing depends on it any more: it is completed, or on for everyone, or off for 30 days; no application has evaluated it for
// 30 days; and a full scan of each known repository in the last week looked for it and did not find it.
func (c ArchiveCheck) Against(s FeatureSummary) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	born := s.CreatedAt // or revived
	if phase := s.Phase(); phase.Stage == StageInitial {
		born = phase.EnteredAt
	}
	if reason := c.unfinished(s, born); reason != "" {
		add("%s", reason)
	}
	switch {
	case c.within(s.LastSeenAt, quietDays):
		add("An application evaluated it on %s.", dateOf(s.LastSeenAt))
	case c.within(born, quietDays):
		add("It was created or revived on %s, less than %d days ago.", dateOf(born), quietDays)
	}
	if c.within(c.AskedForAll, quietDays) {
		add("Pages ask for it by OFREP together with all other flags, last on %s. Whether they use it is unknown.", dateOf(c.AskedForAll))
	}
	if s.Relation == Parent {
		add("Other flags depend on it.")
	}
	return append(list, c.referenced(s.Name)...)
}

// unfinished returns why the flag still decides something; "" if it is completed, on for everyone or off for long.
func (c ArchiveCheck) unfinished(s FeatureSummary, born time.Time) string {
	if s.Phase().Stage == StageCompleted {
		return ""
	}
	production := slices.ContainsFunc(c.Environments, func(env ProjectEnvironment) bool { return env.Type == ProductionType })
	off, on := born, false
	var partly []string
	for _, env := range c.Environments {
		es, enabled := s.In(env)
		if on = on || enabled; es.OffSince.After(off) {
			off = es.OffSince
		}
		if (env.Type == ProductionType || !production) && (!enabled || es.Withheld > 0 || es.Split || s.Relation == Child) {
			partly = append(partly, env.Name)
		}
	}
	switch {
	case !on && c.within(off, quietDays):
		return fmt.Sprintf("It is off only since %s, less than %d days ago.", dateOf(off), quietDays)
	case on && len(partly) > 0:
		return fmt.Sprintf("It is not completed, and not the same for everyone in %s.", strings.Join(partly, ", "))
	}
	return ""
}

// referenced returns what the scans of the repositories have against a flag.
func (c ArchiveCheck) referenced(flag string) (list []string) {
	if c.References == nil || len(c.References.Repositories) == 0 {
		return []string{"No repository was scanned for it: run guidon refs."}
	}
	var found, old, partial, without []string
	for _, scan := range c.References.Repositories {
		places, looked := scan.Flags[flag]
		switch {
		case len(places) > 0:
			found = append(found, scan.Repository)
		case !looked:
			without = append(without, scan.Repository)
		case !c.within(scan.ScannedAt, scanDays):
			old = append(old, scan.Repository)
		case scan.Partial:
			partial = append(partial, scan.Repository)
		}
	}
	for _, one := range []struct {
		what         string
		repositories []string
	}{
		{"The code names it", found}, {"The last scan did not look for it", without},
		{fmt.Sprintf("The last scan is older than %d days", scanDays), old}, {"The last scan left out files", partial},
	} {
		if names := one.repositories; len(names) > 3 {
			list = append(list, fmt.Sprintf("%s: %s and %d more repositories.", one.what, strings.Join(names[:3], ", "), len(names)-3))
		} else if len(names) > 0 {
			list = append(list, fmt.Sprintf("%s: %s.", one.what, strings.Join(names, ", ")))
		}
	}
	return list
}

// within reports whether a time is less than so many days ago.
func (c ArchiveCheck) within(at time.Time, days int) bool {
	return !at.IsZero() && c.Now.Sub(at) < time.Duration(days)*day
}

func dateOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// offSince returns when the flag was last switched off in an environment; zero for never.
func (fe FeatureEnvironment) offSince() time.Time {
	if fe.OffSince == 0 {
		return time.Time{}
	}
	return time.Unix(fe.OffSince, 0).UTC()
}

// RecordSwitches notes in which environments a change of a flag switches it off, for ArchiveCheck.
func (f *Feature) RecordSwitches(before *Feature, at time.Time) {
	if before == nil {
		return
	}
	for name, fe := range f.Environments {
		if before.Environments[name].EnabledIn != "" && fe.EnabledIn == "" {
			fe.OffSince = at.Unix()
			f.Environments[name] = fe
		}
	}
}
