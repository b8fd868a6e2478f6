package serving

import (
	"slices"
	"testing"

	"guidon/pkg/answers"
	"guidon/pkg/flags"
)

// TestGoneOnEveryInstance compares an instance that read after each change with one that read after all of them, and with one that
// read newer versions than the entries of the feed name. A client can get each delta from another of them, so they must tell
// the same removals and changes.
func TestGoneOnEveryInstance(t *testing.T) {
	a, b := &flags.FeedProject{ID: "a", UID: "a-uid"}, &flags.FeedProject{ID: "b", UID: "b-uid"}
	flag := func(version int64, in *flags.FeedProject) *flags.Feature {
		return &flags.Feature{Name: "f", Version: version, Project: in.ID, ProjectUID: in.UID, Archived: version == 9}
	}
	project := func(version int64, attached string) *flags.Project {
		return &flags.Project{ID: "a", UID: "a-uid", Version: version, Environments: map[string]flags.Attachment{attached: {ID: "attached"}}}
	}
	on := func(version int64, enabledIn string) *flags.Feature {
		f := flag(version, a)
		f.Environments = map[string]flags.FeatureEnvironment{"development": {EnvironmentState: flags.EnvironmentState{EnabledIn: enabledIn}}}
		return f
	}
	registry := &flags.Environments{Version: 1, List: []flags.Environment{{Name: "development", UID: "development-uid"}}}
	key, segment, projectKey := flags.FeatureKey("f"), flags.SegmentKey(3), flags.ProjectKey("a")
	for _, tt := range []struct {
		name     string
		entries  []flags.FeedChange // one each, from number 1
		versions []flags.Aggregate  // after each
		want     []answers.Gone
		since    int64 // if newer versions are loaded: a client that knows less has to read everything
	}{
		{
			"created and archived",
			[]flags.FeedChange{{Key: key, Version: 1}, {Key: key, Version: 9, Left: a}},
			[]flags.Aggregate{flag(1, a), flag(9, a)},
			[]answers.Gone{{Number: 2, Flag: "f", Project: "a", ProjectUID: "a-uid"}},
			1,
		},
		{
			"moved and moved back",
			[]flags.FeedChange{{Key: key, Version: 1}, {Key: key, Version: 2, Left: a}, {Key: key, Version: 3, Left: b}},
			[]flags.Aggregate{flag(1, a), flag(2, b), flag(3, a)},
			[]answers.Gone{{Number: 2, Flag: "f", Project: "a", ProjectUID: "a-uid"}, {Number: 3, Flag: "f", Project: "b", ProjectUID: "b-uid"}},
			2,
		},
		{
			"a segment created and deleted",
			[]flags.FeedChange{{Key: segment, Version: 1}, {Key: segment, Left: &flags.FeedProject{}}},
			[]flags.Aggregate{&flags.Segment{ID: 3, Version: 1}, nil},
			[]answers.Gone{{Number: 2, Segment: 3}},
			0,
		},
		{
			"switched on and off",
			[]flags.FeedChange{{Key: key, Version: 1}, {Key: key, Version: 2}, {Key: key, Version: 3}},
			[]flags.Aggregate{on(1, ""), on(2, "attached"), on(3, "")},
			nil,
			1,
		},
		{
			"environments of a project",
			[]flags.FeedChange{{Key: key, Version: 1}, {Key: projectKey, Version: 2, UID: "a-uid"}, {Key: projectKey, Version: 3, UID: "a-uid"}},
			[]flags.Aggregate{flag(1, a), project(2, "development"), project(3, "production")},
			nil,
			0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			empty := &State{
				Flags: map[string]*Flag{}, Segments: map[int64]*Segment{}, Projects: map[string]*flags.Project{}, Environments: registry,
			}
			each, newer := empty, empty
			for i, change := range tt.entries {
				entry := []flags.FeedEntry{{Number: int64(i + 1), Changes: []flags.FeedChange{change}}}
				loaded := func(i int) flags.View {
					if tt.versions[i] == nil {
						return flags.View{}
					}
					return flags.View{change.Key: tt.versions[i]}
				}
				each = each.with(int64(i+1), updatesOf(lastChangesOf(entry), loaded(i)), goneOf(entry))
				newest := i // of the same aggregate
				for j := i; j < len(tt.entries) && tt.entries[j].Key == change.Key && tt.versions[j] != nil; j++ {
					newest = j
				}
				newer = newer.with(int64(i+1), updatesOf(lastChangesOf(entry), loaded(newest)), goneOf(entry))
			}
			var all []flags.FeedEntry
			loaded := flags.View{}
			for i, change := range tt.entries {
				all = append(all, flags.FeedEntry{Number: int64(i + 1), Changes: []flags.FeedChange{change}})
				loaded[change.Key] = tt.versions[i]
			}
			once := empty.with(int64(len(all)), updatesOf(lastChangesOf(all), loaded), goneOf(all))
			if each.Since != 0 || newer.Since != tt.since || once.Since != 0 {
				t.Errorf("since %d, %d and %d; want 0, %d and 0", each.Since, newer.Since, once.Since, tt.since)
			}
			for name, state := range map[string]*State{"each entry": each, "newer versions": newer, "all entries": once} {
				if !slices.Equal(state.Gone, tt.want) {
					t.Errorf("%s: gone %+v, want %+v", name, state.Gone, tt.want)
				}
				if f := state.Flags["f"]; f != nil && f.changedIn("development") != int64(len(all)) {
					t.Errorf("%s: the flag changed at %d, want %d", name, f.changedIn("development"), len(all))
				}
			}
		})
	}
}
