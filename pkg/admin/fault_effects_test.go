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

	"guidon/pkg/apitest"
	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
)

// An item of the table, by attribute.
type item map[string]map[string]any

func (i item) text(name string) string {
	s, _ := i[name]["S"].(string)
	return s
}

// itemsIn returns the items of a table by key.
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

// changesOf compares two states of a table. The changes name the kind of each item instead of its key, so two calls that do the
// same to different flags have the same changes. events is the number of new events.
func changesOf(before, after map[string]item) (changes []string, events int) {
	note := func(key, change string) {
		if kind := kindOf(key); kind != "" {
			changes = append(changes, kind+" "+change)
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
		case !there && !strings.Contains(key, " GUARD"): // the first flag of a guard creates it
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

// numbers shows by how much each number of an item changed. Numbers are versions and counts.
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
	delete(by, "ttl") // a time
	maps.DeleteFunc(by, func(_ string, n int) bool { return n == 0 })
	return " " + strings.TrimPrefix(fmt.Sprint(by), "map")
}

// kindOf is the kind of the item at a key. It is "" for a counter, which may skip numbers.
func kindOf(key string) string {
	pk, sk, _ := strings.Cut(key, " ")
	head := func(s string) string { // without the part that differs between calls
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
	return head(pk) // a list, whose sort keys are names
}

// loggedEvents is the number of events in the audit log. Each must have a different id.
func (c *cell) loggedEvents(t *testing.T) int {
	t.Helper()
	page := apitest.Decode[struct{ Events []struct{ ID json.Number } }](t, c.Must(t, "GET", "/api/admin/events?limit=1000", "").Body)
	seen := map[json.Number]bool{}
	for _, e := range page.Events {
		if seen[e.ID] {
			t.Errorf("two events have the id %s", e.ID)
		}
		seen[e.ID] = true
	}
	return len(page.Events)
}

// A forgetful is a transport to an engine that forgets the request token of each transaction, if forgets is set.
type forgetful struct{ forgets bool }

func (f *forgetful) RoundTrip(r *http.Request) (*http.Response, error) {
	if f.forgets {
		return dynamotest.FreshTokens{}.RoundTrip(r)
	}
	return http.DefaultTransport.RoundTrip(r)
}
