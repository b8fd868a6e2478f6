package aggregate

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// maxNames is how many names of flags count for a token in one batch: those that are reported most often. Each is looked for, so that a client
// that sends random names would cost as much as thousands of others. It must not replace the names of the others with the same token, which is
// public for browsers.
const maxNames = 10_000

// A source is the token that posts came with.
type source struct {
	hash         string // "" without a token, if the deployment needs none
	public       bool   // anyone can post with it
	scope        access.TokenScope
	applications *usage.TokenApplications // as stored; nil if there are none
	known        *usage.TokenApplications // the same, without applications that were deleted if there is no room for others
	admitted     map[string]bool          // applications of this batch that are within the limits
	names        map[string]int           // of the flags in its posts, and how often each is in them
	reported     map[string]bool          // applications in its posts
}

// invents tells whether anyone who has seen the token can invent applications. Without tokens, it stands for all applications.
func (s *source) invents() bool { return s.public && s.hash != "" }

// admit returns the name under which an application counts.
func (s *source) admit(application string) string {
	if s.admitted[application] {
		return application
	}
	return usage.Other
}

// covers tells whether a post with the token counts for a flag: the token gives access to its project, or the post is one of
// Unleash Edge, see usage.Post.
func (s *source) covers(p *usage.Post, f *flags.Feature) bool {
	return s.scope.All || slices.Contains(p.Projects, flags.All) || slices.ContainsFunc(s.scope.Projects, func(p *flags.Project) bool { return p.UID == f.ProjectUID })
}

// sources are the tokens of a batch, and what is needed to judge its posts.
type sources struct {
	byHash   map[string]*source // only tokens whose project and environment exist
	registry *flags.Environments
}

// names returns the names of all flags in the posts, and for those that came with public tokens of one project only, its UID.
func (l *sources) names() map[string]string {
	names := map[string]string{}
	for _, s := range l.byHash {
		project := ""
		if s.invents() && !s.scope.All && len(s.scope.Projects) == 1 {
			project = s.scope.Projects[0].UID
		}
		for name := range s.names {
			if other, has := names[name]; has && other != project {
				names[name] = ""
			} else {
				names[name] = project
			}
		}
	}
	return names
}

// loadSources loads the tokens of the posts with their scopes, and decides which applications are admitted.
func (a *Aggregator) loadSources(ctx context.Context, posts []*usage.Post) (*sources, error) {
	l := &sources{byHash: map[string]*source{}, registry: &flags.Environments{}}
	for _, p := range posts {
		l.collect(p)
	}
	for _, s := range l.byHash {
		if skipped := s.limitNames(); skipped > 0 {
			a.logger.WarnContext(ctx, "usage: too many names of flags with one token", slog.Int("names", skipped))
		}
	}
	keys := []flags.Key{flags.EnvironmentsKey()}
	for hash := range l.byHash {
		keys = append(keys, access.TokenKey(hash), usage.TokenApplicationsKey(hash))
	}
	view, err := a.store.Load(ctx, keys)
	if err != nil {
		return nil, err
	}
	if registry := flags.Find[*flags.Environments](view, flags.EnvironmentsKey()); registry != nil {
		l.registry = registry
	}
	if err := a.judgeTokens(ctx, l, view); err != nil {
		return nil, err
	}
	return l, a.admit(ctx, l)
}

// collect notes which names a post has.
func (l *sources) collect(p *usage.Post) {
	s := l.byHash[p.TokenHash]
	if s == nil {
		s = &source{hash: p.TokenHash, names: map[string]int{}, reported: map[string]bool{}}
		l.byHash[p.TokenHash] = s
	}
	for _, c := range p.Counts {
		s.reported[c.Application] = true
		s.names[c.Feature]++
	}
	for _, i := range p.Instances {
		s.reported[i.Application] = true
	}
}

// limitNames removes the names beyond maxNames that are reported least often, and returns how many those are.
func (s *source) limitNames() (skipped int) {
	if len(s.names) <= maxNames {
		return 0
	}
	list := slices.SortedFunc(maps.Keys(s.names), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.names[b], s.names[a]), strings.Compare(a, b))
	})
	for _, name := range list[maxNames:] {
		delete(s.names, name)
	}
	return len(list) - maxNames
}

// judgeTokens removes the tokens that have lost their projects or environment. What came with a token before it was deleted
// counts.
func (a *Aggregator) judgeTokens(ctx context.Context, l *sources, tokens flags.View) error {
	var keys []flags.Key
	for hash := range l.byHash {
		if token := flags.Find[*access.Token](tokens, access.TokenKey(hash)); token != nil {
			for _, id := range token.Projects {
				keys = append(keys, flags.ProjectKey(id))
			}
		}
	}
	projects, err := a.store.Load(ctx, keys)
	if err != nil {
		return err
	}
	for hash, s := range l.byHash {
		token := flags.Find[*access.Token](tokens, access.TokenKey(hash))
		s.applications = flags.Find[*usage.TokenApplications](tokens, usage.TokenApplicationsKey(hash))
		s.public = hash == "" || token != nil && token.Type == access.FrontendToken
		valid := true
		switch {
		case hash == "" || token != nil && token.Type == access.AdminToken:
			s.scope.All = true
		case token == nil:
			valid = false
		default:
			s.scope, valid = token.Scope(func(id string) *flags.Project {
				return flags.Find[*flags.Project](projects, flags.ProjectKey(id))
			}, l.registry)
		}
		if !valid {
			delete(l.byHash, hash)
		}
	}
	return nil
}

// admit decides which applications count under their names: those within the limit of the token, and of those the known ones and
// as many new ones as there may be in all.
func (a *Aggregator) admit(ctx context.Context, l *sources) error {
	var keys []flags.Key
	for _, hash := range slices.Sorted(maps.Keys(l.byHash)) {
		s := l.byHash[hash]
		s.known = &usage.TokenApplications{Hash: hash}
		if s.applications != nil {
			s.known = s.applications.Clone()
		}
		reported := slices.Sorted(maps.Keys(s.reported))
		if s.known.Refuses(reported, s.invents(), a.now()) {
			if err := a.forgetDeleted(ctx, s.known); err != nil {
				return err
			}
		}
		s.admitted = s.known.Clone().Admit(reported, s.invents(), a.now())
		for name := range s.admitted {
			keys = append(keys, usage.ApplicationKey(name))
		}
	}
	stored, err := a.store.Load(ctx, keys)
	if err != nil {
		return err
	}
	created := map[string]bool{}
	for _, key := range keys {
		if stored[key] == nil {
			created[key.ID] = true
		}
	}
	if len(created) == 0 {
		return nil
	}
	n, err := a.store.CountApplications(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(created)) {
		if n++; n > usage.MaxApplications {
			for _, s := range l.byHash {
				delete(s.admitted, name)
			}
		}
	}
	return nil
}

// forgetDeleted removes the names of applications that do not exist, because a user has deleted them to make room.
func (a *Aggregator) forgetDeleted(ctx context.Context, t *usage.TokenApplications) error {
	var keys []flags.Key
	for name := range t.Names {
		keys = append(keys, usage.ApplicationKey(name))
	}
	stored, err := a.store.Load(ctx, keys)
	maps.DeleteFunc(t.Names, func(name string, _ time.Time) bool { return err == nil && stored[usage.ApplicationKey(name)] == nil })
	return err
}
