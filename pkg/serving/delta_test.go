package serving

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"guidon/pkg/answers"
	"guidon/pkg/flags"
)

// deltaOf polls with an ETag, and returns the types and subjects of the events; "304" for none.
func (c *client) deltaOf(path, token, etag string) string {
	c.t.Helper()
	answer := c.get(path, token, "If-None-Match", etag)
	if answer.Code != http.StatusOK {
		return fmt.Sprint(answer.Code)
	}
	var delta answers.ClientDelta
	c.decode(answer, &delta)
	var list []string
	for _, e := range delta.Events {
		text := e.Type
		switch {
		case e.Feature != nil:
			text += " " + e.Feature.Name
		case e.FeatureName != "":
			text += " " + e.FeatureName + " of " + e.Project
		case e.Segment != nil:
			text += fmt.Sprintf(" %d", e.Segment.ID)
		case e.SegmentID != 0:
			text += fmt.Sprintf(" %d", e.SegmentID)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// TestDelta checks the events of changes, one after the other, for a token of one project and one of all with a filter.
func TestDelta(t *testing.T) {
	w := newWorld(t)
	w.addProject("other")
	tag := []flags.Tag{{Type: "simple", Value: "yes"}}
	setTags := func(name string, add, remove []flags.Tag) {
		w.changeFlag(name, func(f *flags.Feature) {
			if err := f.ChangeTags(add, remove, flags.DefaultLimits()); err != nil {
				t.Fatal(err)
			}
		})
	}
	move := func(name, project string) {
		w.changeFlag(name, func(f *flags.Feature) { f.Project, f.ProjectUID = project, w.projects[project].UID })
	}
	c := w.client(w.token("t", "default"), w.token("star"))
	const filtered = "/api/client/delta?tag=simple:yes&namePrefix=a"
	for _, tt := range []struct {
		name           string
		change         func()
		want, filtered string
	}{
		{"created", func() { w.addFlag("default", "a", nil) }, "feature-updated a", "feature-removed a of default"},
		{"of another project", func() { w.addFlag("other", "ab", nil) }, "304", "feature-removed ab of other"},
		{"tagged", func() { setTags("a", tag, nil) }, "304", "feature-updated a"},
		{"switched", func() { w.on("a", "development", w.strategy("a")) }, "feature-updated a", "feature-updated a"},
		{"lost its tag", func() { setTags("a", nil, tag) }, "304", "feature-removed a of default"},
		{"of another prefix", func() { w.addFlag("default", "b", nil) }, "feature-updated b", "304"},
		{"moved out", func() { setTags("b", tag, nil); move("b", "other") }, "feature-removed b of default", "304"},
		{"moved in", func() { move("b", "default") }, "feature-updated b", "304"},
		{"moved in and out", func() { move("ab", "default"); move("ab", "other") }, "feature-removed ab of default", "feature-removed ab of other"},
		{"segment", func() { w.setSegment(1, func(*flags.Segment) {}) }, "segment-updated 1", "segment-updated 1"},
		{"segment of another project", func() { w.setSegment(2, func(s *flags.Segment) { s.SetProject(w.projects["other"]) }) }, "304", "segment-updated 2"},
		{"segment for another project only", func() { w.setSegment(1, func(s *flags.Segment) { s.SetProject(w.projects["other"]) }) }, "segment-removed 1", "segment-updated 1"},
		{"segments are deleted", func() { w.deleteSegment(1); w.deleteSegment(2) }, "304", "segment-removed 1, segment-removed 2"},
		{"archived", func() { w.changeFlag("b", func(f *flags.Feature) { f.Archived = true }) }, "feature-removed b of default", "304"},
		{"several", func() {
			w.changeFlag("b", func(f *flags.Feature) { f.Archived = false })
			w.setSegment(3, func(*flags.Segment) {})
			w.addFlag("default", "c", nil)
		}, "feature-updated b, segment-updated 3, feature-updated c", "segment-updated 3"},
	} {
		scoped, filter := c.get("/api/client/delta", "t").Header().Get("ETag"), c.get(filtered, "star").Header().Get("ETag")
		tt.change()
		if got := c.deltaOf("/api/client/delta", "t", scoped); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if got := c.deltaOf(filtered, "star", filter); got != tt.filtered {
			t.Errorf("%s, with the filter: %q, want %q", tt.name, got, tt.filtered)
		}
	}
}

// TestHydration gives everything to a client of which it is not known what it has.
func TestHydration(t *testing.T) {
	w := newWorld(t)
	w.addFlag("default", "a", nil)
	seeded := w.token("seeded", "default")
	seeded.Projects, seeded.ProjectUIDs = append(seeded.Projects, "later"), append(seeded.ProjectUIDs, "")
	c := w.client(w.token("t"), seeded)
	const path = "/api/client/delta"
	etag := c.get(path, "t").Header().Get("ETag")
	early := w.state.Number
	w.addFlag("default", "b", nil)
	at := func(number int64) string {
		return strings.Replace(etag, fmt.Sprintf(":%d:", early), fmt.Sprintf(":%d:", number), 1)
	}
	for _, tt := range []struct{ name, etag, want string }{
		{"none", "", "hydration"},
		{"of an earlier number", etag, "feature-updated b"},
		{"weak", "W/" + etag, "feature-updated b"},
		{"a list: the oldest counts", etag + `, "other", ` + at(early-1), "feature-updated a, feature-updated b"},
		{"a list with the current one", etag + ", " + at(early+1), "304"},
		{"current", at(early + 1), "304"},
		{"of an instance that has read more", at(early + 5), "304"},
		{"any", "*", "304"},
		{"of another epoch", strings.Replace(etag, `"e:`, `"f:`, 1), "hydration"},
		{"of another filter", c.get(path+"?namePrefix=x", "t").Header().Get("ETag"), "hydration"},
		{"of another token", c.get(path, "seeded").Header().Get("ETag"), "hydration"},
		{"of the features", c.get("/api/client/features", "t").Header().Get("ETag"), "hydration"},
		{"without quotes", strings.Trim(etag, `"`), "hydration"},
		{"without a number", strings.Replace(etag, fmt.Sprintf(":%d:", early), "::", 1), "hydration"},
		{"of a negative number", at(-1), "hydration"},
		{"too large", at(early) + strings.Repeat("9", 30), "hydration"},
	} {
		if got := c.deltaOf(path, "t", tt.etag); got != tt.want {
			t.Errorf("%s (%s): %q, want %q", tt.name, tt.etag, got, tt.want)
		}
	}

	since := *w.state
	since.Since = early + 1
	w.state = &since
	if got := c.deltaOf(path, "t", etag); got != "hydration" {
		t.Errorf("older than the state can tell: %q", got)
	}

	seededTag := c.get(path, "seeded").Header().Get("ETag")
	w.addProject("later")
	w.addFlag("later", "c", nil)
	if got := c.deltaOf(path, "seeded", seededTag); got != "304" {
		t.Errorf("a seeded token that is not bound to the project yet: %q", got)
	}
	seededTag = c.get(path, "seeded").Header().Get("ETag")
	seeded.Bind(func(id string) *flags.Project { return w.projects[id] }, w.registry)
	if got := c.deltaOf(path, "seeded", seededTag); got != "hydration" {
		t.Errorf("the seeded token was bound to another project: %q", got)
	}
	if got := c.names(c.get("/api/client/features", "seeded")); got != "a b c" {
		t.Errorf("the seeded token sees %q", got)
	}

	adminTag := c.get(path+"?environment=development", "admin").Header().Get("ETag")
	before, after := w.registry, w.registry.Clone()
	after.List[0].UID = "another"
	after.Version++
	w.registry = after
	w.commit(flags.Write{Before: before, After: after})
	if got := c.deltaOf(path+"?environment=development", "admin", adminTag); got != "hydration" {
		t.Errorf("the environment was created again: %q", got)
	}
}

// TestInlinedSegments has a segment change: clients that know no segments get new constraints.
func TestInlinedSegments(t *testing.T) {
	w := newWorld(t)
	w.setSegment(1, func(*flags.Segment) {})
	w.addFlag("default", "a", nil)
	w.on("a", "development", w.strategy("a", 1))
	c := w.client(w.token("t", "default"))
	for _, path := range []string{"/api/client/features", "/api/client/features/a"} {
		etag := c.get(path, "t", "Unleash-Client-Spec", "").Header().Get("ETag")
		w.setSegment(1, func(s *flags.Segment) {
			s.Constraints = append(s.Constraints, flags.Constraint{ContextName: "userId", Operator: "IN", Values: []string{"new"}})
		})
		answer := c.get(path, "t", "Unleash-Client-Spec", "", "If-None-Match", etag)
		if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"values":["new"]`) || strings.Contains(answer.Body.String(), `"segments"`) {
			t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
		}
	}
}
