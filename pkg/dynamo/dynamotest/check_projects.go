package dynamotest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

// checkProjects compares projects with their list rows, and their guards with the flags.
func (c *checker) checkProjects() {
	c.compare("the list rows of projects", c.documents("PROJECT#", "PROJECT"), c.rows("PROJECTS"))
	want, got := map[key]map[string]int{}, map[key]map[string]int{}
	for _, f := range c.flags {
		if f.Archived {
			continue
		}
		h := fnv.New32a()
		_, _ = h.Write([]byte(f.Name))
		guard := key{"PROJECT#" + f.ProjectUID, fmt.Sprintf("GUARD#%02d", h.Sum32()%16)}
		if want[guard] == nil {
			want[guard] = map[string]int{}
		}
		want[guard]["active"]++
		want[guard]["type:"+string(f.Type)]++
		want[guard][fmt.Sprintf("day%d", flags.DayOf(f.CreatedAt))]++
		if f.Stale {
			want[guard]["stale"]++
		}
	}
	for k, i := range c.items {
		if !strings.HasPrefix(k.pk, "PROJECT#") || !strings.HasPrefix(k.sk, "GUARD#") {
			continue
		}
		got[k] = maps.Clone(i.numbers)
		delete(got[k], "segments")
		delete(got[k], "added")
		exists := c.projects[strings.TrimPrefix(k.pk, "PROJECT#")] != nil
		if exists == i.closed || !exists && want[k]["active"] > 0 {
			c.report("guard %s %s: closed is %t and there are %d active flags, but that the project exists is %t", k.pk, k.sk, i.closed, want[k]["active"], exists)
		}
	}
	// A guard may forget the days that were too long ago to be counted when the flag changed for the last time.
	oldest := c.lastDay() - flags.CountedDays + 1
	for _, guards := range []map[key]map[string]int{want, got} {
		for _, counts := range guards {
			maps.DeleteFunc(counts, func(name string, n int) bool {
				day, err := strconv.Atoi(strings.TrimPrefix(name, "day"))
				return n == 0 || err == nil && flags.Day(day) < oldest
			})
		}
		maps.DeleteFunc(guards, func(_ key, counts map[string]int) bool { return len(counts) == 0 })
	}
	c.compare("the counts of project guards", want, got)
}

// lastDay is the day of the newest event.
func (c *checker) lastDay() (day flags.Day) {
	for _, events := range c.events {
		for _, e := range events {
			var event struct{ CreatedAt time.Time }
			if err := json.Unmarshal([]byte(e.doc), &event); err != nil {
				c.report("the event %s %s: %v", e.pk, e.sk, err)
			}
			day = max(day, flags.DayOf(event.CreatedAt))
		}
	}
	return day
}

// checkMembers compares the members of projects with the projects of users.
func (c *checker) checkMembers() {
	for _, p := range c.projects {
		for id := range p.Members {
			if u := c.users[id]; u == nil || !slices.Contains(u.Projects, p.ID) {
				c.report("project %s has the member %d, but that user does not have the project: %+v", p.ID, id, u)
			}
		}
	}
}

// checkSegments compares the guards of segments with the segments and with the flags that use them.
func (c *checker) checkSegments() {
	want, got, exists := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, s := range c.segments {
		guard := c.segmentGuard(s.ID)
		exists[guard.pk] = true
		if owner := c.items[guard].owner; owner != s.ProjectUID {
			c.report("segment %d belongs to the project %q, but the owner in its guard is %q", s.ID, s.ProjectUID, owner)
		}
	}
	for name, f := range c.flags {
		for _, id := range f.Segments() {
			guard := c.segmentGuard(id)
			if want[guard.pk]++; !exists[guard.pk] {
				c.report("flag %s uses the segment %d, which was deleted", name, id)
			}
		}
	}
	for k, i := range c.items {
		if !strings.HasPrefix(k.pk, "SEGMENT#") || k.sk != "GUARD" {
			continue
		}
		if n := i.numbers["uses"]; n != 0 {
			got[k.pk] = n
		}
		if i.closed == exists[k.pk] {
			c.report("guard %s: closed is %t, but that the segment exists is %t", k.pk, i.closed, exists[k.pk])
		}
	}
	c.compare("the uses that segment guards count", want, got)
}

func (c *checker) segmentGuard(id int64) key { return key{fmt.Sprintf("SEGMENT#%d", id), "GUARD"} }

// checkSegmentUses reports a flag or a default strategy, in an environment that exists, with a segment that was deleted or
// belongs to another project.
func (c *checker) checkSegmentUses() {
	check := func(user, projectUID string, ids []int64) {
		for _, id := range ids {
			s := c.segments[id]
			switch {
			case s == nil:
				c.report("%s has the segment %d, which was deleted", user, id)
			case s.ProjectUID != "" && s.ProjectUID != projectUID:
				c.report("%s has the segment %d, which belongs to the project %s", user, id, s.Project)
			}
		}
	}
	for name, f := range c.flags {
		for _, s := range f.Use().Strategies {
			env := c.registry.Find(s.Environment)
			if env != nil && env.UID == s.EnvironmentUID && c.projects[f.ProjectUID] != nil {
				check("flag "+name, f.ProjectUID, s.Segments)
			}
		}
	}
	for _, t := range c.templates {
		for _, id := range t.Segments() {
			if c.segments[id] == nil || c.items[c.segmentGuard(id)].numbers["begun"] == 0 {
				c.report("the release template %s has the segment %d, which was deleted or whose guard counts no use that began", t.Name, id)
			}
		}
	}
	for _, p := range c.projects {
		for _, env := range p.AvailableEnvironments(c.registry) {
			user := fmt.Sprintf("the default strategy of project %s in environment %s", p.ID, env.Name)
			check(user, p.UID, env.Attachment.Segments())
			for _, id := range env.Attachment.Segments() {
				if c.items[c.segmentGuard(id)].numbers["begun"] == 0 {
					c.report("%s has the segment %d, but the segment's guard counts no use that began", user, id)
				}
			}
		}
	}
}

// checkTokens compares API tokens with their list rows, and personal tokens with their users.
func (c *checker) checkTokens() {
	rows := c.documents("TOKEN#", "TOKEN")
	for _, token := range c.tokens {
		if token.Deleted || token.Type == access.PersonalToken {
			delete(rows, token.Hash)
		}
		u := c.users[token.User]
		if token.Type != access.PersonalToken || token.Deleted || u == nil {
			continue
		}
		if !slices.ContainsFunc(u.Tokens, func(t access.UserToken) bool { return t.Hash == token.Hash }) {
			c.report("user %d does not have the personal token %q", u.ID, token.Name)
		}
	}
	c.compare("the list rows of tokens", rows, c.rows("TOKENS"))
}

// checkNames compares the reserved names with those that tokens, segments and users have.
func (c *checker) checkNames() {
	used, reserved := map[string]int{}, map[string]int{}
	use := func(kind, name string) {
		if name != "" {
			used["UNIQUE#"+kind+"#"+name]++
		}
	}
	for _, token := range c.tokens {
		if !token.Deleted && token.Type != access.PersonalToken {
			use("token", token.Name)
		}
	}
	for _, s := range c.segments {
		use("segment", s.Name)
	}
	for _, t := range c.templates {
		use("template", t.Name)
	}
	for _, u := range c.users {
		use("username", u.Username)
		use("email", strings.ToLower(u.Email))
	}
	for _, r := range c.requests {
		use("draft", r.DraftName())
	}
	for k := range c.items {
		if k.sk == "UNIQUE" {
			reserved[k.pk] = 1
		}
	}
	c.compare("the names in use, and the reserved names", used, reserved)
}
