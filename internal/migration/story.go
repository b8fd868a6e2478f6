package main

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
)

// An event of the audit log, as far as it tells of a flag.
type event struct {
	ID                                        int64
	Type, CreatedBy, FeatureName, Environment string
	Data, PreData                             object
}

// readEvents reads a log, from page to page, the oldest first.
func readEvents(ctx context.Context, c *client, path string) (events []event, err error) {
	for cursor := ""; ; {
		var page struct {
			Events []event
			Next   *string
		}
		query := url.Values{"limit": {strconv.Itoa(1000)}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		if err := c.get(ctx, path+"?"+query.Encode(), &page); err != nil {
			return nil, err
		}
		events = append(events, page.Events...)
		if page.Next == nil {
			slices.Reverse(events)
			return events, nil
		}
		cursor = *page.Next
	}
}

func countEvents(ctx context.Context, c *client) (int, error) {
	events, err := readEvents(ctx, c, "/api/admin/events")
	return len(events), err
}

// checkStory checks that the audit log tells all of it: who made every flag, step by step to what it is now; and everything
// that flags refer to.
func (s *stage) checkStory(ctx context.Context, c *client, now snapshot) error {
	events, err := readEvents(ctx, c, "/api/admin/events")
	if err != nil {
		return err
	}
	flags, others := map[string][]event{}, map[string]int{}
	for _, e := range events {
		switch {
		case e.FeatureName != "":
			flags[e.FeatureName] = append(flags[e.FeatureName], e)
		case e.CreatedBy != "bootstrap": // what is there from the start
			others[e.Type]++
		}
	}
	for kind, want := range map[string]int{
		"segment-created": len(now["segments"].(object)), "tag-type-created": len(now["tagTypes"].(object)) - 1, // simple is there from the start
		"context-field-created": len(now["contextFields"].(object)) - 5, "strategy-created": len(now["strategyTypes"].(object)) - 5,
	} {
		if others[kind] != want {
			s.fault("the log has %d events %s, want %d", others[kind], kind, want)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now["flags"].(object))) {
		s.checkFlagStory(name, flags[name], now["flags"].(object)[name].(object))
		own, err := readEvents(ctx, c, "/api/admin/events/"+url.PathEscape(name))
		if err != nil {
			return err
		}
		if len(own) != len(flags[name]) {
			s.fault("%s: its own log has %d events, and that of all %d of it", name, len(own), len(flags[name]))
		}
	}
	for name := range flags {
		if now["flags"].(object)[name] == nil {
			s.fault("the log tells of %s, which is not there", name)
		}
	}
	s.say("the audit log tells in %d events how %d flags came to be what they are", len(events), len(flags))
	return nil
}

// checkFlagStory plays the events of a flag, and compares what comes of it with what the flag is.
func (s *stage) checkFlagStory(name string, events []event, flag object) {
	told := object{} // by what it is of: the flag, or an environment
	for i, e := range events {
		want := "feature-updated"
		if i == 0 {
			want = "feature-created"
		}
		if e.Type != want || e.CreatedBy == "" || e.Environment == "" {
			s.fault("%s: event %d is %s by %q in %q, want %s by somebody in an environment", name, i, e.Type, e.CreatedBy, e.Environment, want)
		}
		data, pre := parts(e.Data), parts(e.PreData)
		for part, at := range map[string]string{"flag": "", "environment": e.Environment} {
			if before, known := told[at]; known && i > 0 {
				for _, d := range differences(before, pre[part]) {
					s.fault("%s: event %d says that before it was otherwise than the one before made it: %s", name, i, d)
				}
			}
			told[at] = data[part]
		}
	}
	if len(events) == 0 {
		s.fault("%s: the log does not tell of it", name)
		return
	}
	is := object{"": object{"dependencies": flag["dependencies"], "tags": flag["tags"]}}
	for _, member := range []string{"type", "description", "stale", "impressionData"} {
		is[""].(object)[member] = flag[member]
	}
	for environment, in := range flag["environments"].(object) {
		if told[environment] == nil { // nothing happened there
			told[environment] = object{"enabled": false, "strategies": list{}, "variants": list{}}
		}
		is[environment] = withoutSegments(in)
	}
	for _, d := range differences(is, told) {
		s.fault("%s: the log does not end with what it is: %s", name, d)
	}
}

// parts are what an event says of the flag, and what of the environment, in the words of a snapshot.
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

// withoutSegments leaves of the segments of strategies how many they are: events have their ids.
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
