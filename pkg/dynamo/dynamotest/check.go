package dynamotest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"guidon/pkg/access"
	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
	"guidon/pkg/review"
)

// Check fails a test if the items of the store's table contradict each other, for example because only half of a change was
// made. It reads the whole table, so no requests may be running. It reports
//
//   - a flag without its list row, a list row without its flag, and one that differs from its flag;
//   - two strategies with the same ID;
//   - a project guard that counts other flags than exist, or that is open although the project was deleted;
//   - a version of a flag without an event, neither its own nor, for a parent, one of a child;
//   - uses of segments, and counts of them, that differ from the flags;
//   - a flag or default strategy with a segment that was deleted or belongs to another project; a segment's guard with
//     another owner, or without a use although a default strategy has the segment;
//   - dependencies that only the child or only the parent has; members that only the project or only the user has;
//   - a reserved name that nothing has, and a name that is not reserved; a list row that differs from its project or token;
//   - an entry of the feed that is missing, or that names a version that was never stored;
//   - an entry of an outbox without its event, and one that is in two places;
//   - a change request without its list row, or with another one; a scheduled one that will not be due, or another that will; a release plan that will not be due; another number of open ones or of comments than is counted;
//   - an item of no known kind.
//
// The store may have a faulty transport: Check reads the table through another store.
func Check(t testing.TB, store *dynamo.Store) {
	t.Helper()
	CheckAt(t, shared.URL(), store.Table())
}

// CheckAt is Check for a table of any engine.
func CheckAt(t testing.TB, url, table string) {
	t.Helper()
	for _, found := range Inconsistencies(t, url, table) {
		t.Errorf("the table is not consistent: %s", found)
	}
}

// Inconsistencies lists what CheckAt would report.
func Inconsistencies(t testing.TB, url, table string) []string {
	t.Helper()
	store, err := dynamo.Open(context.WithoutCancel(t.Context()), dynamo.Options{Table: table, Endpoint: url})
	if err != nil {
		t.Fatal(err)
	}
	c := &checker{t: t, store: store, items: map[key]item{}, events: map[string][]item{}}
	c.read(scanAt(t, url, table))
	c.load()
	c.checkRows()
	c.checkStrategyIDs()
	c.checkUses()
	c.checkDependencies()
	c.checkProjects()
	c.checkMembers()
	c.checkSegments()
	c.checkSegmentUses()
	c.checkTokens()
	c.checkNames()
	c.checkEvents()
	c.checkBodies()
	c.checkFeed()
	c.checkOutbox()
	c.checkRequests()
	return c.found
}

// A key is the primary key of an item.
type key struct{ pk, sk string }

// An item is what the checker reads of an item.
type item struct {
	key
	doc     string
	version int64
	uid     string
	numbers map[string]int // the other numbers, such as the counts of guards
	closed  bool           // of a guard
	owner   string         // of a segment's guard
	log, id string         // of an event: attributes of the log's indexes
}

// A checker checks one table.
type checker struct {
	t      testing.TB
	store  *dynamo.Store
	items  map[key]item
	events map[string][]item // by partition
	found  []string

	flags     map[string]*flags.Feature
	projects  map[string]*flags.Project // by UID
	users     map[int64]*access.User
	tokens    []*access.Token
	segments  map[int64]*flags.Segment
	templates []*flags.ReleaseTemplate
	registry  *flags.Environments
	requests  []*review.Request
	comments  int
}

func (c *checker) report(format string, values ...any) {
	c.found = append(c.found, fmt.Sprintf(format, values...))
}

// compare reports a difference. Empty and nil are the same.
func (c *checker) compare(what string, want, got any) {
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		c.report("%s (-want +got):\n%s", what, diff)
	}
}

// read parses the pages of a scan.
func (c *checker) read(pages string) {
	c.t.Helper()
	for decoder := json.NewDecoder(strings.NewReader(pages)); ; {
		var page struct{ Items []map[string]map[string]any }
		err := decoder.Decode(&page)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			c.t.Fatalf("a page of the scan: %v", err)
		}
		for _, attributes := range page.Items {
			i := parseItem(attributes)
			c.items[i.key] = i
			if strings.HasPrefix(i.sk, "EVENT#") {
				c.events[i.pk] = append(c.events[i.pk], i)
			}
		}
	}
}

func parseItem(attributes map[string]map[string]any) item {
	text := func(name string) string { s, _ := attributes[name]["S"].(string); return s }
	i := item{
		key: key{text("pk"), text("sk")}, doc: text("doc"), uid: text("uid"), owner: text("owner"),
		log: text("log"), id: text("id"), numbers: map[string]int{},
	}
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

// load loads every aggregate through the store, and reports items of no known kind.
func (c *checker) load() {
	c.t.Helper()
	keys := []flags.Key{flags.EnvironmentsKey()}
	for _, i := range c.items {
		aggregate, known := aggregateOf(i.key)
		if !known {
			c.report("the item %s %s is of no known kind", i.pk, i.sk)
		}
		if aggregate != (flags.Key{}) {
			keys = append(keys, aggregate)
		}
	}
	view, err := c.store.Load(context.WithoutCancel(c.t.Context()), keys)
	if err != nil {
		c.t.Fatal(err)
	}
	c.registry = &flags.Environments{}
	c.flags, c.projects = map[string]*flags.Feature{}, map[string]*flags.Project{}
	c.users, c.segments = map[int64]*access.User{}, map[int64]*flags.Segment{}
	for _, one := range view {
		switch one := one.(type) {
		case *flags.Feature:
			c.flags[one.Name] = one
		case *flags.Project:
			c.projects[one.UID] = one
		case *access.User:
			c.users[one.ID] = one
		case *access.Token:
			c.tokens = append(c.tokens, one)
		case *flags.Segment:
			c.segments[one.ID] = one
		case *flags.ReleaseTemplate:
			c.templates = append(c.templates, one)
		case *flags.Environments:
			c.registry = one
		case *review.Request:
			c.requests = append(c.requests, one)
		case *review.Comment:
			c.comments++
		}
	}
}

// aggregateOf is the key of the aggregate in an item; the zero Key for other known items.
//
// The checker has its own knowledge of the items, so that it also finds mistakes in the keys of pkg/dynamo.
func aggregateOf(k key) (_ flags.Key, known bool) {
	kind, rest, _ := strings.Cut(k.pk, "#")
	part, _, _ := strings.Cut(k.sk, "#")
	if part == "BODY" { // is in the partition of its event
		part = "EVENT"
	}
	switch kind + " " + part {
	case "FLAG FLAG":
		return flags.FeatureKey(rest), true
	case "PROJECT PROJECT":
		return flags.ProjectKey(rest), true
	case "TOKEN TOKEN":
		return access.TokenKey(rest), true
	case "SESSIONS SESSIONS":
		user, _ := strconv.ParseInt(rest, 10, 64)
		return access.SessionsKey(user), true
	case "SIGNIN LINK":
		return access.SignInLinkKey(rest), true
	case "IDENTITY IDENTITY":
		return flags.Key{Entity: access.EntityIdentity, ID: rest}, true
	case "FAVORITES FAVORITES":
		return flags.FavoritesKey(rest), true
	case "REFERENCES REFERENCES":
		return flags.CodeReferencesKey(rest), true
	case "SIGNALS SIGNALS":
		return flags.SignalsKey(rest), true
	case "REQUEST REQUEST":
		return flags.Key{Entity: review.EntityRequest, ID: rest}, true
	case "REQUEST COMMENT":
		return flags.Key{Entity: review.EntityComment, ID: rest + "#" + strings.TrimPrefix(k.sk, "COMMENT#")}, true
	case "REQUEST EVENT", "PROJECT REQUEST", "PROJECT REQUESTS", "FLAG EVENT", "FLAG FORMER", "PROJECT EVENT", "REGISTRY EVENT", "TOKEN EVENT", "USER EVENT", "SEGMENT EVENT", "TEMPLATE EVENT", "SIGNALS EVENT", "SIGNUP EVENT",
		"SESSIONS EVENT", "SIGNIN EVENT", "IDENTITY EVENT",
		"PROJECT FLAG", "PROJECT ARCHIVED", "PROJECT GUARD", "SEGMENT GUARD", "REGISTRY REGISTRY", "SEEN SEEN",
		"UNIQUE UNIQUE", "COUNTER COUNTER", "FEED FEED", "FEED PAGE", "SNAPSHOT FORM", "SNAPSHOT LEASE", "SNAPSHOT CHUNK",
		"APP INSTANCES", "APP NAMES", "APP EVENT", "USAGE CURSOR", "USAGE TOKEN", "USAGE ALL", "USAGE HOUR", "USAGE DAY", "BATCH BATCH":
		return flags.Key{}, true
	}
	switch k.pk {
	case "USERS":
		return flags.Key{Entity: access.EntityUser, ID: k.sk}, true
	case "SEGMENTS":
		return flags.Key{Entity: flags.EntitySegment, ID: k.sk}, true
	case "TEMPLATES":
		return flags.ReleaseTemplateKey(k.sk), true
	case "DUE", "PROJECTS", "TOKENS", "SIGNUPS", "USES", "APPLICATIONS":
		return flags.Key{}, true
	}
	switch kind {
	case "POST", "OUTBOX", "DELIVERED", "PARKED":
		return flags.Key{}, true
	}
	return flags.Key{}, false
}

// documents are the documents of the items with a sort key, by the rest of their partition key after a prefix.
func (c *checker) documents(prefix, sk string) map[string]string {
	all := map[string]string{}
	for k, i := range c.items {
		if id, is := strings.CutPrefix(k.pk, prefix); is && k.sk == sk {
			all[id] = i.doc
		}
	}
	return all
}

// rows are the documents in the partition of a list, by sort key.
func (c *checker) rows(partition string) map[string]string {
	all := map[string]string{}
	for k, i := range c.items {
		if k.pk == partition {
			all[k.sk] = i.doc
		}
	}
	return all
}
