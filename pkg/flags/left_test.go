package flags

import "testing"

// TestLeft tells which project a flag or segment leaves for applications.
func TestLeft(t *testing.T) {
	flag := func(project string, archived bool) *Feature {
		return &Feature{Name: "f", Project: project, ProjectUID: project + "-uid", Archived: archived}
	}
	segment := func(project string) *Segment { return &Segment{ID: 1, Project: project} }
	for name, tt := range map[string]struct {
		write Write
		want  *FeedProject
	}{
		"created":                             {Write{After: flag("a", false)}, nil},
		"changed":                             {Write{Before: flag("a", false), After: flag("a", false)}, nil},
		"moved":                               {Write{Before: flag("a", false), After: flag("b", false)}, &FeedProject{"a", "a-uid"}},
		"archived":                            {Write{Before: flag("a", false), After: flag("a", true)}, &FeedProject{"a", "a-uid"}},
		"deleted while archived":              {Write{Before: flag("a", true)}, nil},
		"revived":                             {Write{Before: flag("a", true), After: flag("a", false)}, nil},
		"a deleted segment":                   {Write{Before: segment("a")}, &FeedProject{ID: "a"}},
		"a segment of all projects, deleted":  {Write{Before: segment("")}, &FeedProject{}},
		"a segment of all projects, assigned": {Write{Before: segment(""), After: segment("a")}, &FeedProject{}},
		"a segment for all projects":          {Write{Before: segment("a"), After: segment("")}, &FeedProject{ID: "a"}},
		"a project":                           {Write{Before: &Project{ID: "a"}}, nil},
	} {
		got := tt.write.Left()
		if (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
