package flags

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEventNumber(t *testing.T) {
	ids := []string{ // in order
		"01944a2e-2c00-7000-8000-000000000000",
		"01944a2e-2c00-7001-8000-000000000000",
		"01944a2e-2c00-7fff-bfff-ffffffffffff",
		"01944a2e-2c01-7000-8000-000000000000",
		"03941f29-7bff-7fff-8000-000000000000", // the latest, in 2094
	}
	last := int64(0)
	for _, id := range ids {
		n := Event{ID: id}.Number()
		if n <= last || n >= 1<<53 {
			t.Errorf("%s has the number %d, want one above %d that fits 53 bits", id, n, last)
		}
		last = n
	}
	if got, want := (Event{ID: ids[1]}).Number(), (EventTime(ids[1]).UnixMilli()-eventEpoch)<<12|1; got != want {
		t.Errorf("%s has the number %d, want %d", ids[1], got, want)
	}
	for _, id := range []string{"", "event", "zzzzzzzz-zzzz-7zzz-8000-000000000000"} {
		_ = Event{ID: id}.Number() // must not panic
	}
}

func TestEventTime(t *testing.T) {
	want := time.Date(2025, 1, 9, 8, 28, 47, 488e6, time.UTC)
	if got := EventTime("01944a2e-2c00-7fff-bfff-ffffffffffff"); !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestReservedEvents finds a type of event about users and tokens that is not reserved.
func TestReservedEvents(t *testing.T) {
	source, err := os.ReadFile("event.go")
	if err != nil {
		t.Fatal(err)
	}
	kinds := regexp.MustCompile(`EventType = "([^"]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(kinds) < 50 {
		t.Fatalf("found %d types of events, want all", len(kinds))
	}
	for _, match := range kinds {
		kind := EventType(match[1])
		about := slices.ContainsFunc([]string{"token", "pat-", "user", "role", "account", "access", "group", "sign-in"}, func(word string) bool {
			return strings.Contains(string(kind), word)
		})
		if got := slices.Contains(ReservedEvents(), kind); got != about {
			t.Errorf("%s: reserved %t, want %t", kind, got, about)
		}
	}
}
