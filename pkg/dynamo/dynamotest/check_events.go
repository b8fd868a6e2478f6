package dynamotest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"guidon/pkg/flags"
)

// checkEvents checks that each version of a flag has one event, and the same for other aggregates that never change along
// with another one.
func (c *checker) checkEvents() {
	ids := map[string]string{} // where each event ID was found
	byChildren, complete := c.versionsOfChildren()
	for pk, events := range c.events {
		slices.SortFunc(events, func(a, b item) int { return cmp.Compare(a.sk, b.sk) })
		last, missing := int64(0), 0
		for _, e := range events {
			version, err := strconv.ParseInt(strings.TrimPrefix(e.sk, "EVENT#"), 10, 64)
			if err != nil || version <= last {
				c.report("%s has an event %s after that of version %d", pk, e.sk, last)
			}
			missing += int(version - last - 1)
			last = version
			if e.id == "" || e.log != "LOG" || ids[e.id] != "" {
				c.report("the event %s %s has the ID %q, as has %q, and is in the index %q", pk, e.sk, e.id, ids[e.id], e.log)
			}
			ids[e.id] = pk + " " + e.sk
		}
		owner, alone := c.ownerOf(pk)
		if owner.version > 0 {
			missing += int(owner.version - last)
		}
		want := byChildren[pk]
		switch {
		case owner.version > 0 && owner.version < last:
			c.report("%s is at version %d, but has an event of version %d", pk, owner.version, last)
		case alone && complete && missing > want: // fewer if a step of the same transaction has given the version an event
			c.report("%s is at version %d, and %d of its versions have no event, want at most %d", pk, owner.version, missing, want)
		}
	}
	for k, i := range c.items {
		if version, is := strings.CutPrefix(k.sk, "FORMER#"); is && i.doc != c.items[key{k.pk, "EVENT#" + version}].doc {
			c.report("the copy %s %s of an event differs from it", k.pk, k.sk)
		}
		if strings.HasPrefix(k.pk, "FLAG#") && k.sk == "FLAG" && len(c.events[k.pk]) == 0 {
			c.report("%s has no event", k.pk)
		}
	}
}

// ownerOf is the aggregate of a partition of events. alone is false if not all of its versions have an event there: projects,
// users, roles and personal tokens change along with other aggregates, which then have the event.
func (c *checker) ownerOf(pk string) (owner item, alone bool) {
	kind, id, _ := strings.Cut(pk, "#")
	switch kind {
	case "FLAG":
		return c.items[key{pk, "FLAG"}], true
	case "REQUEST":
		return c.items[key{pk, "REQUEST"}], true
	case "REGISTRY":
		return c.items[key{pk, "REGISTRY"}], id != "roles" && id != "environments" // others change with them, without an event of their own
	case "SEGMENT":
		return c.items[key{"SEGMENTS", id}], true
	case "SIGNUP":
		return c.items[key{"SIGNUPS", id}], true
	case "TOKEN":
		return c.items[key{pk, "TOKEN"}], false
	case "SESSIONS":
		return c.items[key{pk, "SESSIONS"}], false
	case "IDENTITY":
		return c.items[key{pk, "IDENTITY"}], false
	case "SIGNIN":
		return c.items[key{pk, "LINK"}], false
	case "USER":
		return c.items[key{"USERS", id}], false
	}
	for k, i := range c.items {
		if k.sk == "PROJECT" && i.uid == id {
			return i, false
		}
	}
	return item{}, false
}

// eventSide is what the checker reads of Data or PreData.
type eventSide struct {
	Feature      string
	Dependencies []struct{ Feature string }
	Omitted      string
}

// parents are the flags that the flag of this side depends on.
func (s *eventSide) parents() (names []string) {
	if s == nil {
		return nil
	}
	for _, d := range s.Dependencies {
		names = append(names, d.Feature)
	}
	return names
}

// versionsOfChildren counts the versions of parents whose event is that of a child, by the parent's partition. complete is
// false if an event was too large to keep its data.
func (c *checker) versionsOfChildren() (counts map[string]int, complete bool) {
	counts = map[string]int{}
	for pk, events := range c.events {
		if !strings.HasPrefix(pk, "FLAG#") {
			continue
		}
		for _, i := range events {
			parents, omitted := c.parentsChanged(i)
			if omitted {
				return nil, false
			}
			for _, parent := range parents {
				counts["FLAG#"+parent]++
			}
		}
	}
	return counts, true
}

// parentsChanged lists the parents whose version the event of a child has changed.
func (c *checker) parentsChanged(i item) (parents []string, omitted bool) {
	var event struct{ Type flags.EventType }
	if err := json.Unmarshal([]byte(i.doc), &event); err != nil {
		c.report("the event %s %s: %v", i.pk, i.sk, err)
	}
	switch event.Type {
	case flags.FeatureDependencyAdded, flags.FeatureDependencyRemoved, flags.FeatureDependenciesRemoved,
		flags.FeatureArchived, flags.FeatureCreated, flags.FeatureUpdated:
	default:
		return nil, false
	}
	var sides struct{ Data, PreData *eventSide }
	if err := json.Unmarshal([]byte(i.doc), &sides); err != nil {
		c.report("the event %s %s: %v", i.pk, i.sk, err)
	}
	if sides.Data != nil && sides.Data.Omitted != "" || sides.PreData != nil && sides.PreData.Omitted != "" {
		return nil, true
	}
	switch event.Type {
	case flags.FeatureDependencyAdded:
		if sides.PreData == nil {
			parents = []string{sides.Data.Feature}
		}
	case flags.FeatureDependencyRemoved:
		parents = []string{sides.PreData.Feature}
	case flags.FeatureDependenciesRemoved, flags.FeatureArchived:
		parents = sides.PreData.parents()
	default:
		old := sides.PreData.parents()
		parents = slices.DeleteFunc(sides.Data.parents(), func(name string) bool { return slices.Contains(old, name) })
	}
	return parents, false
}

// checkBodies checks that each event has a body of the length that it says, and that each body has an event.
func (c *checker) checkBodies() {
	for k, i := range c.items {
		if version, is := strings.CutPrefix(k.sk, "EVENT#"); is {
			if body := c.items[key{k.pk, "BODY#" + version}]; len(body.doc) != i.numbers["bodyBytes"] {
				c.report("the event %s %s has a body of %d bytes, but bodyBytes is %d", k.pk, k.sk, len(body.doc), i.numbers["bodyBytes"])
			}
		}
		if version, is := strings.CutPrefix(k.sk, "BODY#"); is && c.items[key{k.pk, "EVENT#" + version}].id == "" {
			c.report("the body %s %s has no event", k.pk, k.sk)
		}
	}
}
