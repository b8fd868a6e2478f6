//go:build migration

package migration

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
)

// An event of the event log: the fields that concern flags.
type event struct {
	ID                                        int64
	Type, CreatedBy, FeatureName, Environment string
	Data, PreData                             object
}

// readEvents reads all pages of a log, oldest event first.
func (s *server) readEvents(path string) (events []event) {
	for cursor := ""; ; {
		var page struct {
			Events []event
			Next   *string
		}
		query := url.Values{"limit": {strconv.Itoa(1000)}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		s.call("GET", path+"?"+query.Encode(), nil, &page)
		events = append(events, page.Events...)
		if page.Next == nil {
			slices.Reverse(events)
			return events
		}
		cursor = *page.Next
	}
}

func (s *server) countEvents() int { return len(s.readEvents("/api/admin/events")) }

// checkStory checks that the event log has the creator and every change of each flag, and the creation of each item that flags
// refer to.
func (t *test) checkStory(c *server, now snapshot) {
	events := c.readEvents("/api/admin/events")
	flags, others := map[string][]event{}, map[string]int{}
	for _, e := range events {
		switch {
		case e.FeatureName != "":
			flags[e.FeatureName] = append(flags[e.FeatureName], e)
		case e.CreatedBy != "bootstrap": // initial data
			others[e.Type]++
		}
	}
	for kind, want := range map[string]int{
		"segment-created": len(now["segments"].(object)), "tag-type-created": len(now["tagTypes"].(object)) - 1, // without simple, which exists from the start
		"context-field-created": len(now["contextFields"].(object)) - 5, "strategy-created": len(now["strategyTypes"].(object)) - 8,
	} {
		if others[kind] != want {
			t.Errorf("the log has %d events %s, expected %d", others[kind], kind, want)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now["flags"].(object))) {
		t.checkFlagStory(name, flags[name], now["flags"].(object)[name].(object))
		own := c.readEvents("/api/admin/events/" + url.PathEscape(name))
		if len(own) != len(flags[name]) {
			t.Errorf("%s: its own log has %d events, the log of all flags has %d", name, len(own), len(flags[name]))
		}
	}
	for name := range flags {
		if now["flags"].(object)[name] == nil {
			t.Errorf("the log has events of %s, which does not exist", name)
		}
	}
	t.Logf("the event log explains the state of %d flags with %d events", len(flags), len(events))
}

// checkFlagStory replays the events of a flag and compares the result with the flag.
func (t *test) checkFlagStory(name string, events []event, flag object) {
	told := object{} // by environment, "" for the flag itself
	for i, e := range events {
		want := "feature-updated"
		if i == 0 {
			want = "feature-created"
		}
		if e.Type != want || e.CreatedBy == "" || e.Environment == "" {
			t.Errorf("%s: event %d is %s by %q in %q, expected %s with a creator and an environment", name, i, e.Type, e.CreatedBy, e.Environment, want)
		}
		data, pre := parts(e.Data), parts(e.PreData)
		for part, at := range map[string]string{"flag": "", "environment": e.Environment} {
			if before, known := told[at]; known && i > 0 {
				for _, d := range differences(before, pre[part]) {
					t.Errorf("%s: preData of event %d differs from data of the previous event: %s", name, i, d)
				}
			}
			told[at] = data[part]
		}
	}
	if len(events) == 0 {
		t.Errorf("%s: the log has no events", name)
		return
	}
	is := object{"": object{"dependencies": flag["dependencies"], "tags": flag["tags"]}}
	for _, member := range []string{"type", "description", "stale", "impressionData"} {
		is[""].(object)[member] = flag[member]
	}
	for environment, in := range flag["environments"].(object) {
		if told[environment] == nil { // no event
			told[environment] = object{"enabled": false, "strategies": list{}, "variants": list{}}
		}
		is[environment] = withoutSegments(in)
	}
	for _, d := range differences(is, told) {
		t.Errorf("%s: the state after the last event differs from the flag: %s", name, d)
	}
}

// parts splits the data of an event into flag and environment, in the form of a snapshot.
func parts(data object) map[string]any {
	if data == nil {
		return map[string]any{}
	}
	of := object{}
	for _, member := range []string{"type", "description", "stale", "impressionData"} {
		of[member] = data[member]
	}
	tags := list{}
	for _, t := range asList(data["tags"]) {
		tags = append(tags, t.(object)["type"].(string)+":"+t.(object)["value"].(string))
	}
	of["tags"], of["dependencies"] = sortedTexts(tags), sortedBy(data["dependencies"], "feature")
	in := object{"enabled": data["enabled"], "strategies": data["strategies"], "variants": sortedBy(data["variants"], "name")}
	clean(in)
	return map[string]any{"flag": of, "environment": withoutSegments(in)}
}

// withoutSegments replaces the segments of strategies by their number, because events have ids instead of names.
func withoutSegments(in any) object {
	of := maps.Clone(in.(object))
	strategies := list{}
	for _, s := range asList(of["strategies"]) {
		s := maps.Clone(s.(object))
		s["segments"] = len(asList(s["segments"]))
		strategies = append(strategies, s)
	}
	of["strategies"] = strategies
	return of
}
