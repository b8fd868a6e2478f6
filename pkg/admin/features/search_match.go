package features

import (
	"cmp"
	"slices"
	"strings"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// matchesAll reports whether the query has no filters but those of projects.
func (c criteria) matchesAll() bool {
	return c.state.name == "" && c.kind.name == "" && c.owner.name == "" && c.lifecycle.name == "" && c.tag.name == "" && c.segment.name == "" &&
		c.createdAt == nil && len(c.texts) == 0 && len(c.status) == 0
}

// needsEnvironments reports whether a filter or the order needs the environments of each flag.
func (c criteria) needsEnvironments() bool {
	return len(c.status) > 0 || strings.HasPrefix(c.sortBy, "environment:")
}

// match compares a flag with all filters but status, which needs its environments.
func (c criteria) match(f *finding) bool {
	if c.matchesAll() { // the projects were selected before
		return true
	}
	state := "active"
	if f.Stale {
		state = "stale"
	}
	return c.project.matches([]string{f.Project}) && c.state.matches([]string{state}) && c.kind.matches([]string{string(f.Type)}) &&
		c.owner.matches([]string{f.Owner}) && c.lifecycle.matches([]string{string(f.Phase().Stage)}) && c.tag.matches(f.tags()) && c.segment.matches(f.segments) &&
		(c.createdAt == nil || c.createdAt(f.CreatedAt)) && c.matchText(f)
}

func (c criteria) matchText(f *finding) bool {
	if len(c.texts) == 0 {
		return true
	}
	has := []string{strings.ToLower(f.Name)}
	for _, tag := range f.tags() {
		has = append(has, strings.ToLower(tag))
	}
	return slices.ContainsFunc(c.texts, func(text string) bool {
		return slices.ContainsFunc(has, func(h string) bool { return strings.Contains(h, text) })
	})
}

func (c criteria) matchStatus(f *finding) bool {
	return len(c.status) == 0 || slices.ContainsFunc(f.environments, func(env flags.ProjectEnvironment) bool {
		return slices.Contains(c.status, env.Name+":"+f.status(env)) || slices.Contains(c.status, env.Name+":plan") && f.hasPlan(env)
	})
}

// compare puts a before b, by name where they are the same otherwise.
func (s *search) compare(a, b *finding) int {
	if s.favorites {
		if first := compareBool(s.favoritesOf.HasFlag(a.Name), s.favoritesOf.HasFlag(b.Name)); first != 0 {
			return -first
		}
	}
	order := s.compareBy(a, b)
	if s.descending {
		order = -order
	}
	return cmp.Or(order, strings.Compare(a.Name, b.Name))
}

func (c criteria) compareBy(a, b *finding) int {
	switch c.sortBy {
	case "name":
		return strings.Compare(a.Name, b.Name)
	case "type":
		return strings.Compare(string(a.Type), string(b.Type))
	case "project":
		return strings.Compare(a.Project, b.Project)
	case "stale":
		return compareBool(a.Stale, b.Stale)
	case "archivedAt":
		return a.ArchivedAt.Compare(b.ArchivedAt)
	case "lastSeenAt":
		return a.LastSeenAt.Compare(b.LastSeenAt)
	case "createdAt":
		return a.CreatedAt.Compare(b.CreatedAt)
	}
	name, _ := strings.CutPrefix(c.sortBy, "environment:")
	return strings.Compare(a.statusIn(name), b.statusIn(name))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (f *finding) tags() []string {
	return httpapi.Each(f.Tags, func(t flags.Tag) string { return t.Type + ":" + t.Value })
}

// status is enabled or disabled.
func (f *finding) status(env flags.ProjectEnvironment) string {
	if _, enabled := f.In(env); enabled && !f.Archived {
		return "enabled"
	}
	return "disabled"
}

// hasPlan reports whether the flag is on by a release plan.
func (f *finding) hasPlan(env flags.ProjectEnvironment) bool {
	summary, enabled := f.In(env)
	return enabled && !f.Archived && summary.PlanIn(env) != nil
}

// statusIn orders flags by an environment: those that are on last, those that do not have it first.
func (f *finding) statusIn(name string) string {
	for _, env := range f.environments {
		if env.Name == name {
			return map[string]string{"enabled": "2", "disabled": "1"}[f.status(env)]
		}
	}
	return ""
}
