package admin_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
)

// An item is one of the table: its attributes, of which the document and what else is text are only compared.
type item map[string]map[string]any

func (i item) text(name string) string {
	s, _ := i[name]["S"].(string)
	return s
}

// itemsIn are the items of a table by their keys.
func itemsIn(t *testing.T, store *dynamo.Store) map[string]item {
	t.Helper()
	all := map[string]item{}
	pages := json.NewDecoder(strings.NewReader(dynamotest.Scan(t, store)))
	for {
		var page struct{ Items []item }
		if err := pages.Decode(&page); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.Items {
			all[i.text("pk")+" "+i.text("sk")] = i
		}
	}
}

// changesOf tells what became of each item between two looks at a table, by what sort of item it is: two calls that do
// the same to different flags have the same changes. events is how many events are new.
func changesOf(before, after map[string]item) (changes []string, events int) {
	note := func(key, change string) {
		if sort := sortOf(key); sort != "" {
			changes = append(changes, sort+" "+change)
		}
	}
	for key, was := range before {
		if _, there := after[key]; !there {
			note(key, "removed"+numbers(was, nil))
		}
	}
	for key, is := range after {
		was, there := before[key]
		switch {
		case !there && !strings.Contains(key, " GUARD"): // of which the first flag that falls on one makes it
			note(key, "added"+numbers(nil, is))
			if strings.Contains(key, " EVENT#") {
				events++
			}
		case fmt.Sprint(was) != fmt.Sprint(is):
			note(key, "changed"+numbers(was, is))
		}
	}
	slices.Sort(changes)
	return changes, events
}

// numbers tells by how much each number of an item changed: versions and counts.
func numbers(was, is item) string {
	by := map[string]int{}
	for i, sign := range map[*item]int{&was: -1, &is: 1} {
		for name, value := range *i {
			if text, ok := value["N"].(string); ok {
				n, _ := strconv.Atoi(text)
				by[name] += sign * n
			}
		}
	}
	maps.DeleteFunc(by, func(_ string, n int) bool { return n == 0 })
	return " " + strings.TrimPrefix(fmt.Sprint(by), "map")
}

// sortOf is what sort of item lies at a key; "" for a counter, of which a number may be left out.
func sortOf(key string) string {
	pk, sk, _ := strings.Cut(key, " ")
	head := func(s string) string { // up to what differs from one call to the other
		if before, _, found := strings.Cut(s, "#"); found {
			return before + "#"
		}
		return s
	}
	switch {
	case strings.HasPrefix(pk, "COUNTER#"):
		return ""
	case strings.Contains(sk, "#"), sk == strings.ToUpper(sk) && strings.Trim(sk, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "":
		return head(pk) + " " + head(sk)
	}
	return head(pk) // a list, whose items have names for sort keys
}

// logged is how many events the audit log has. No two may have an id in common.
func (c *cell) logged(t *testing.T) int {
	t.Helper()
	var page struct{ Events []struct{ ID json.Number } }
	if err := json.Unmarshal([]byte(c.must(t, "GET", "/api/admin/events?limit=1000", "").body), &page); err != nil {
		t.Fatal(err)
	}
	seen := map[json.Number]bool{}
	for _, e := range page.Events {
		if seen[e.ID] {
			t.Errorf("two events have the id %s", e.ID)
		}
		seen[e.ID] = true
	}
	return len(page.Events)
}

// A forgetful is a way to an engine that forgets each request token, if it is to, as soon as a transaction was sent.
type forgetful struct{ forgets bool }

func (f *forgetful) RoundTrip(r *http.Request) (*http.Response, error) {
	if f.forgets {
		return dynamotest.FreshTokens{}.RoundTrip(r)
	}
	return http.DefaultTransport.RoundTrip(r)
}
