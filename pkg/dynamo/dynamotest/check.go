package dynamotest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
)

// Check fails a test for whatever in the store's table does not agree with the rest of it: half a change that somebody
// left. It reads the whole table as it lies there, so nothing may be under way, and it says what it finds wrong:
//
//   - a flag without its list row, or one that says something else, or a row without its flag;
//   - a project's guard that counts other flags than those that are there, or is open though the project is gone;
//   - a version of a flag that no event tells of: neither one of its own nor, for a parent, one of a child's;
//   - what a flag uses of segments, and a segment's count of its users, that are not what the flag says;
//   - a flag or a default strategy with a segment that was deleted, or that belongs to another project; a segment's guard
//     that names another owner, or counts no use though a default strategy has the segment;
//   - a child that its parent does not know of, and the other way round; members of projects and the projects of users;
//   - a name that is taken by nobody, or had but not taken; a list row of a project or token that differs from it;
//   - an item that nobody knows.
//
// A store with a faulty transport may be given: another one, over the same table, does the reading.
func Check(t testing.TB, store *dynamo.Store) {
	t.Helper()
	CheckAt(t, shared.URL(), store.Table())
}

// CheckAt does so for a table of any engine.
func CheckAt(t testing.TB, url, table string) {
	t.Helper()
	for _, fault := range Faulty(t, url, table) {
		t.Errorf("the table is not consistent: %s", fault)
	}
}

// Faulty lists what Check finds, for those who report it in another way.
func Faulty(t testing.TB, url, table string) []string {
	t.Helper()
	store, err := dynamo.Open(context.WithoutCancel(t.Context()), dynamo.Options{Table: table, Endpoint: url})
	if err != nil {
		t.Fatal(err)
	}
	a := &audit{t: t, store: store, items: map[at]item{}, events: map[string][]item{}}
	a.read(scanAt(t, url, table))
	a.checkFlags()
	a.checkProjects()
	a.checkSegments()
	a.checkTokens()
	a.checkNames()
	a.checkEvents()
	a.checkBodies()
	return a.faults
}

// An at is where an item lies.
type at struct{ pk, sk string }

// An item is an item of the table as it lies there.
type item struct {
	at
	doc     string
	version int64
	uid     string
	numbers map[string]int // the other numbers: what guards count
	closed  bool           // of a guard
	owner   string         // of a segment's guard
	log, id string         // of an event: what the indexes of the log are made of
}

// An audit is a check under way.
type audit struct {
	t      testing.TB
	store  *dynamo.Store
	items  map[at]item
	events map[string][]item // by partition
	faults []string

	flags    map[string]*flags.Feature
	projects map[string]*flags.Project // by UID
	users    map[int64]*flags.User
	tokens   []*flags.Token
	segments []*flags.Segment
	registry *flags.Environments
}

func (a *audit) fault(format string, values ...any) {
	a.faults = append(a.faults, fmt.Sprintf(format, values...))
}

// read takes in the pages of a scan, and loads what they name.
func (a *audit) read(pages string) {
	a.t.Helper()
	for decoder := json.NewDecoder(strings.NewReader(pages)); ; {
		var page struct{ Items []map[string]map[string]any }
		err := decoder.Decode(&page)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			a.t.Fatalf("a page of the scan: %v", err)
		}
		for _, attributes := range page.Items {
			i := itemOf(attributes)
			a.items[i.at] = i
			if strings.HasPrefix(i.sk, "EVENT#") {
				a.events[i.pk] = append(a.events[i.pk], i)
			}
		}
	}
	a.load()
}

func itemOf(attributes map[string]map[string]any) item {
	text := func(name string) string { s, _ := attributes[name]["S"].(string); return s }
	i := item{at: at{text("pk"), text("sk")}, doc: text("doc"), uid: text("uid"), log: text("log"), id: text("id"), owner: text("owner"), numbers: map[string]int{}}
	i.closed, _ = attributes["closed"]["BOOL"].(bool)
	for name, value := range attributes {
		digits, is := value["N"].(string)
		n, err := strconv.ParseInt(digits, 10, 64)
		switch {
		case !is || err != nil:
		case name == "version":
			i.version = n
		default:
			i.numbers[name] = int(n)
		}
	}
	return i
}

// load brings every aggregate by the store's own means. An item that nobody knows is a fault.
func (a *audit) load() {
	a.t.Helper()
	var keys []flags.Key
	for _, i := range a.items {
		key, known := keyOf(i.at)
		if !known {
			a.fault("there is an item %s %s, which nobody knows", i.pk, i.sk)
		}
		if key != (flags.Key{}) {
			keys = append(keys, key)
		}
	}
	view, err := a.store.Load(context.WithoutCancel(a.t.Context()), append(keys, flags.EnvironmentsKey()))
	if err != nil {
		a.t.Fatal(err)
	}
	a.registry = &flags.Environments{}
	a.flags, a.projects, a.users = map[string]*flags.Feature{}, map[string]*flags.Project{}, map[int64]*flags.User{}
	for _, one := range view {
		switch one := one.(type) {
		case *flags.Feature:
			a.flags[one.Name] = one
		case *flags.Project:
			a.projects[one.UID] = one
		case *flags.User:
			a.users[one.ID] = one
		case *flags.Token:
			a.tokens = append(a.tokens, one)
		case *flags.Segment:
			a.segments = append(a.segments, one)
		case *flags.Environments:
			a.registry = one
		}
	}
}

// keyOf names the aggregate that lies at a place; the zero Key where it is something else that is known.
func keyOf(p at) (key flags.Key, known bool) {
	kind, rest, _ := strings.Cut(p.pk, "#")
	part, _, _ := strings.Cut(p.sk, "#")
	if part == "BODY" {
		part = "EVENT" // beside which it lies
	}
	switch kind + " " + part {
	case "FLAG FLAG":
		return flags.FeatureKey(rest), true
	case "PROJECT PROJECT":
		return flags.ProjectKey(rest), true
	case "TOKEN TOKEN":
		return flags.TokenKey(rest), true
	case "FLAG EVENT", "PROJECT EVENT", "REGISTRY EVENT", "TOKEN EVENT", "USER EVENT", "SEGMENT EVENT", "SIGNUP EVENT",
		"PROJECT FLAG", "PROJECT ARCHIVED", "PROJECT GUARD", "SEGMENT GUARD", "REGISTRY REGISTRY", "TOKEN SEEN",
		"UNIQUE UNIQUE", "COUNTER COUNTER":
		return flags.Key{}, true
	}
	switch p.pk {
	case "USERS":
		return flags.Key{Entity: flags.EntityUser, ID: p.sk}, true
	case "SEGMENTS":
		return flags.Key{Entity: flags.EntitySegment, ID: p.sk}, true
	case "PROJECTS", "TOKENS", "SIGNUPS", "USES":
		return flags.Key{}, true
	}
	return flags.Key{}, false
}

// same compares two of anything; a list that is empty is one that is not there.
func (a *audit) same(what string, want, got any) {
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		a.fault("%s (-want +there):\n%s", what, diff)
	}
}

// checkFlags compares each flag with its list row, with what it uses, and with its parents and children.
func (a *audit) checkFlags() {
	a.t.Helper()
	uids := map[string]bool{}
	for _, f := range a.flags {
		uids[f.ProjectUID] = true
	}
	for p := range a.items {
		if uid, of := strings.CutPrefix(p.pk, "PROJECT#"); of && (strings.HasPrefix(p.sk, "FLAG#") || strings.HasPrefix(p.sk, "ARCHIVED#")) {
			uids[uid] = true
		}
	}
	want, got := map[string]flags.FeatureSummary{}, map[string]flags.FeatureSummary{}
	for name, f := range a.flags {
		want[fmt.Sprint(f.ProjectUID, f.Archived, name)] = f.Summary()
	}
	for uid := range uids {
		for _, archived := range []bool{false, true} {
			rows, err := a.store.Summaries(context.WithoutCancel(a.t.Context()), uid, archived)
			if err != nil {
				a.t.Fatal(err)
			}
			for _, row := range rows {
				got[fmt.Sprint(uid, archived, row.Name)] = row
			}
		}
	}
	a.same("the list rows of flags", want, got)
	a.checkUses()
	a.checkFamilies()
}

func (a *audit) checkUses() {
	list, err := a.store.List(context.WithoutCancel(a.t.Context()), flags.EntityUse)
	if err != nil {
		a.t.Fatal(err)
	}
	want, got := map[string]flags.FeatureUse{}, map[string]flags.FeatureUse{}
	for name, f := range a.flags {
		if use := f.Use(); len(use.Strategies) > 0 {
			want[name] = use
		}
	}
	for _, use := range list {
		got[use.(flags.FeatureUse).Feature] = use.(flags.FeatureUse)
	}
	a.same("what flags use", want, got)
}

// checkFamilies compares what children say with what their parents say.
func (a *audit) checkFamilies() {
	said, known := map[string]bool{}, map[string]bool{}
	for name, f := range a.flags {
		for _, d := range f.Dependencies {
			said[name+" depends on "+d.Feature] = true
		}
		for _, child := range f.Children {
			known[child+" depends on "+name] = true
		}
		if len(f.Dependencies) > 0 && (f.Archived || len(f.Children) > 0) {
			a.fault("flag %s has parents, is archived: %t, and has the children %q", name, f.Archived, f.Children)
		}
	}
	a.same("dependencies, as children have them and as parents do", said, known)
}

// checkProjects compares projects with their list rows, their guards with the flags that are there, and their members
// with the users.
func (a *audit) checkProjects() {
	type count struct{ Active, Stale int }
	want, got, rows := map[at]count{}, map[at]count{}, map[string]string{}
	for _, f := range a.flags {
		h := fnv.New32a()
		_, _ = h.Write([]byte(f.Name))
		guard := at{"PROJECT#" + f.ProjectUID, fmt.Sprintf("GUARD#%02d", h.Sum32()%16)}
		active, stale := f.Count()
		want[guard] = count{want[guard].Active + active, want[guard].Stale + stale}
	}
	for p, i := range a.items {
		switch {
		case strings.HasPrefix(p.pk, "PROJECT#") && strings.HasPrefix(p.sk, "GUARD#"):
			got[p] = count{i.numbers["active"], i.numbers["stale"]}
			gone := a.projects[strings.TrimPrefix(p.pk, "PROJECT#")] == nil
			if want[p] == (count{}) && got[p] == (count{}) {
				delete(want, p)
				delete(got, p)
			}
			if gone != i.closed || gone && want[p].Active > 0 {
				a.fault("guard %s %s is closed: %t, with %d active flags, and its project is gone: %t", p.pk, p.sk, i.closed, want[p].Active, gone)
			}
		case p.pk == "PROJECTS":
			rows[p.sk] = i.doc
		}
	}
	maps.DeleteFunc(want, func(p at, c count) bool { return c == count{} })
	a.same("the counts of projects' guards", fmt.Sprint(want), fmt.Sprint(got))
	a.same("the list rows of projects", a.documents("PROJECT#", "PROJECT"), rows)
	for _, p := range a.projects {
		for id := range p.Members {
			if u := a.users[id]; u == nil || !slices.Contains(u.Projects, p.ID) {
				a.fault("project %s has the member %d, who does not know of it: %+v", p.ID, id, u)
			}
		}
	}
}

// documents are those of all items with that sort key in a partition of that kind, by what is behind it.
func (a *audit) documents(kind, sk string) map[string]string {
	all := map[string]string{}
	for p, i := range a.items {
		if id, is := strings.CutPrefix(p.pk, kind); is && p.sk == sk {
			all[id] = i.doc
		}
	}
	return all
}

// checkSegments compares the guards of segments with the segments, and with the flags that use them.
func (a *audit) checkSegments() {
	want, got := map[string]int{}, map[string]int{}
	there := map[string]bool{}
	for _, s := range a.segments {
		pk := fmt.Sprintf("SEGMENT#%d", s.ID)
		there[pk] = true
		if guard := a.items[at{pk, "GUARD"}]; guard.owner != s.ProjectUID {
			a.fault("segment %d belongs to the project %q, and its guard says %q", s.ID, s.ProjectUID, guard.owner)
		}
	}
	a.checkUsability()
	for name, f := range a.flags {
		for _, id := range f.Segments() {
			pk := fmt.Sprintf("SEGMENT#%d", id)
			if want[pk]++; !there[pk] {
				a.fault("flag %s uses the segment %d, which is gone", name, id)
			}
		}
	}
	for p, i := range a.items {
		if !strings.HasPrefix(p.pk, "SEGMENT#") || p.sk != "GUARD" {
			continue
		}
		if n := i.numbers["uses"]; n != 0 {
			got[p.pk] = n
		}
		if i.closed == there[p.pk] {
			a.fault("guard %s is closed: %t, and its segment is there: %t", p.pk, i.closed, there[p.pk])
		}
	}
	a.same("the counts of segments' guards", want, got)
}

// checkUsability sees that no flag and no default strategy, in an environment that exists, has a segment that was deleted or
// that belongs to another project.
func (a *audit) checkUsability() {
	check := func(user, projectUID string, ids []int64) {
		for _, id := range ids {
			i := slices.IndexFunc(a.segments, func(s *flags.Segment) bool { return s.ID == id })
			switch {
			case i < 0:
				a.fault("%s has the segment %d, which was deleted", user, id)
			case a.segments[i].ProjectUID != "" && a.segments[i].ProjectUID != projectUID:
				a.fault("%s has the segment %d, which belongs to the project %s alone", user, id, a.segments[i].Project)
			}
		}
	}
	for name, f := range a.flags {
		for _, s := range f.Use().Strategies {
			env := a.registry.Find(s.Environment)
			if env != nil && env.UID == s.EnvironmentUID && a.projects[f.ProjectUID] != nil {
				check("flag "+name, f.ProjectUID, s.Segments)
			}
		}
	}
	for _, p := range a.projects {
		for _, env := range p.AvailableEnvironments(a.registry) {
			user := fmt.Sprintf("the default strategy of project %s in environment %s", p.ID, env.Name)
			check(user, p.UID, env.Attachment.Segments())
			for _, id := range env.Attachment.Segments() {
				if guard := a.items[at{fmt.Sprintf("SEGMENT#%d", id), "GUARD"}]; guard.numbers["begun"] == 0 {
					a.fault("%s has the segment %d, whose guard counts no use", user, id)
				}
			}
		}
	}
}

// checkTokens compares API tokens with their list rows, and personal ones with their users.
func (a *audit) checkTokens() {
	rows, got := a.documents("TOKEN#", "TOKEN"), map[string]string{}
	for _, token := range a.tokens {
		if token.Deleted || token.Type == flags.PersonalToken {
			delete(rows, token.Hash)
		}
		u := a.users[token.User]
		if token.Type != flags.PersonalToken || token.Deleted || u == nil {
			continue
		}
		if !slices.ContainsFunc(u.Tokens, func(t flags.UserToken) bool { return t.Hash == token.Hash }) {
			a.fault("user %d does not know of the personal token %q", u.ID, token.Name)
		}
	}
	for p, i := range a.items {
		if p.pk == "TOKENS" {
			got[p.sk] = i.doc
		}
	}
	a.same("the list rows of tokens", rows, got)
}

// checkNames compares the names that are taken with those that somebody has.
func (a *audit) checkNames() {
	had, taken := map[string]int{}, map[string]int{}
	have := func(kind, name string) {
		if name != "" {
			had["UNIQUE#"+kind+"#"+name]++
		}
	}
	for _, token := range a.tokens {
		if !token.Deleted && token.Type != flags.PersonalToken {
			have("token", token.Name)
		}
	}
	for _, s := range a.segments {
		have("segment", s.Name)
	}
	for _, u := range a.users {
		have("username", u.Username)
		have("email", strings.ToLower(u.Email))
	}
	for p := range a.items {
		if p.sk == "UNIQUE" {
			taken[p.pk] = 1
		}
	}
	a.same("the names that somebody has, and those that are taken", had, taken)
}

// checkEvents sees that each version of a flag is told of by one event, and so with everything else that has events of
// its own alone.
func (a *audit) checkEvents() {
	ids := map[string]string{}
	touched := a.touched()
	for pk, events := range a.events {
		slices.SortFunc(events, func(a, b item) int { return cmp.Compare(a.sk, b.sk) })
		last, missing := int64(0), 0
		for _, e := range events {
			version, err := strconv.ParseInt(strings.TrimPrefix(e.sk, "EVENT#"), 10, 64)
			if err != nil || version <= last {
				a.fault("%s has an event %s behind that of version %d", pk, e.sk, last)
			}
			missing += int(version - last - 1)
			last = version
			if e.id == "" || e.log != "LOG" || ids[e.id] != "" {
				a.fault("the event %s %s has the id %q, which %s has too, and is in the index %q", pk, e.sk, e.id, ids[e.id], e.log)
			}
			ids[e.id] = pk + " " + e.sk
		}
		owner, alone := a.ownerOf(pk)
		if owner.version > 0 {
			missing += int(owner.version - last)
		}
		want, sure := touched[pk], touched != nil
		switch {
		case owner.version > 0 && owner.version < last:
			a.fault("%s is at version %d, and has an event of version %d", pk, owner.version, last)
		case alone && sure && missing != want:
			a.fault("%s is at version %d, and %d of its versions have no event, want %d", pk, owner.version, missing, want)
		}
	}
	for p := range a.items {
		if strings.HasPrefix(p.pk, "FLAG#") && p.sk == "FLAG" && len(a.events[p.pk]) == 0 {
			a.fault("%s has no event", p.pk)
		}
	}
}

// ownerOf is what a partition of events tells of, and whether each of its versions has an event there. Projects, users,
// roles and personal tokens are changed along with others, whose events tell of it.
func (a *audit) ownerOf(pk string) (owner item, alone bool) {
	kind, id, _ := strings.Cut(pk, "#")
	switch kind {
	case "FLAG":
		return a.items[at{pk, "FLAG"}], true
	case "REGISTRY":
		return a.items[at{pk, "REGISTRY"}], id != "roles"
	case "SEGMENT":
		return a.items[at{"SEGMENTS", id}], true
	case "SIGNUP":
		return a.items[at{"SIGNUPS", id}], true
	case "TOKEN":
		return a.items[at{pk, "TOKEN"}], false
	case "USER":
		return a.items[at{"USERS", id}], false
	}
	for p, i := range a.items {
		if p.sk == "PROJECT" && i.uid == id {
			return i, false
		}
	}
	return item{}, false
}

// touched counts, by partition, the changes of parents that events of their children tell of; nil when an event was too
// large to tell.
func (a *audit) touched() map[string]int {
	type side struct {
		Feature      string
		Dependencies []struct{ Feature string }
		Omitted      string
	}
	names := func(s *side) (list []string) {
		if s == nil {
			return nil
		}
		for _, d := range s.Dependencies {
			list = append(list, d.Feature)
		}
		return list
	}
	counts := map[string]int{}
	for pk, events := range a.events {
		if !strings.HasPrefix(pk, "FLAG#") {
			continue
		}
		for _, i := range events {
			var e struct{ Type flags.EventType }
			var of struct{ Data, PreData *side }
			if err := json.Unmarshal([]byte(i.doc), &e); err != nil {
				a.fault("the event %s %s: %v", i.pk, i.sk, err)
			}
			var parents []string
			switch e.Type {
			case flags.FeatureDependencyAdded, flags.FeatureDependencyRemoved, flags.FeatureDependenciesRemoved,
				flags.FeatureArchived, flags.FeatureCreated, flags.FeatureUpdated:
				if err := json.Unmarshal([]byte(i.doc), &of); err != nil {
					a.fault("the event %s %s: %v", i.pk, i.sk, err)
				}
			default:
				continue
			}
			if of.Data != nil && of.Data.Omitted != "" || of.PreData != nil && of.PreData.Omitted != "" {
				return nil
			}
			switch e.Type {
			case flags.FeatureDependencyAdded:
				if of.PreData == nil {
					parents = []string{of.Data.Feature}
				}
			case flags.FeatureDependencyRemoved:
				parents = []string{of.PreData.Feature}
			case flags.FeatureDependenciesRemoved, flags.FeatureArchived:
				parents = names(of.PreData)
			default:
				was := names(of.PreData)
				parents = slices.DeleteFunc(names(of.Data), func(name string) bool { return slices.Contains(was, name) })
			}
			for _, parent := range parents {
				counts["FLAG#"+parent]++
			}
		}
	}
	return counts
}
