package flags

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestAddonEvents compares the list of types that addons can send with the constants.
func TestAddonEvents(t *testing.T) {
	source, err := os.ReadFile("event.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`EventType += "([a-z-]+)"`).FindAllSubmatch(source, -1)
	if len(found) < 70 || len(found) != len(addonEvents) {
		t.Errorf("event.go has %d types, addonEvents %d", len(found), len(addonEvents))
	}
	for _, match := range found {
		if !slices.Contains(addonEvents, EventType(match[1])) {
			t.Errorf("addonEvents lacks %s", match[1])
		}
	}
	for _, e := range unleashOnlyEvents {
		if slices.Contains(addonEvents, e) {
			t.Errorf("%s is not only of Unleash", e)
		}
	}
}

// TestMatches checks which events an addon sends.
func TestMatches(t *testing.T) {
	some, inShop := []EventType{FeatureCreated, FeatureEnvironmentEnabled}, []string{"shop"}
	created := Event{Type: FeatureCreated, Project: "shop"}
	enabled := Event{Type: FeatureEnvironmentEnabled, Project: "shop", Environment: "production"}
	global := Event{Type: SegmentCreated}
	for name, c := range map[string]struct {
		addon Addon
		event Event
		want  bool
	}{
		"everywhere":                       {Addon{Enabled: true, Events: some}, enabled, true},
		"disabled":                         {Addon{Events: some}, enabled, false},
		"another type":                     {Addon{Enabled: true, Events: some[:1]}, enabled, false},
		"no types":                         {Addon{Enabled: true}, created, false},
		"the star is no type":              {Addon{Enabled: true, Events: []EventType{All}}, created, false},
		"its project":                      {Addon{Enabled: true, Events: some, Projects: inShop}, created, true},
		"another project":                  {Addon{Enabled: true, Events: some, Projects: []string{"other"}}, created, false},
		"all projects":                     {Addon{Enabled: true, Events: some, Projects: []string{"other", All}}, created, true},
		"its environment":                  {Addon{Enabled: true, Events: some, Environments: []string{"production"}}, enabled, true},
		"another environment":              {Addon{Enabled: true, Events: some, Environments: []string{"development"}}, enabled, false},
		"all environments":                 {Addon{Enabled: true, Events: some, Environments: []string{All}}, enabled, true},
		"an event without environment":     {Addon{Enabled: true, Events: some, Environments: []string{"development"}}, created, true},
		"an event without project":         {Addon{Enabled: true, Events: []EventType{SegmentCreated}, Projects: inShop}, global, true},
		"its project, not its type":        {Addon{Enabled: true, Events: some, Projects: inShop}, global, false},
		"its environment, not its project": {Addon{Enabled: true, Events: some, Projects: []string{"other"}, Environments: []string{"production"}}, enabled, false},
	} {
		if got := c.addon.Matches(c.event); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// TestAddonLimits checks that the registry stays small.
func TestAddonLimits(t *testing.T) {
	var s Addons
	for i := range MaxAddons {
		if err := s.Add(Addon{ID: int64(i + 1), Events: addonEvents}); err != nil {
			t.Fatalf("addon %d: %v", i+1, err)
		}
	}
	if err := s.Add(Addon{ID: 99}); KindOf(err) != Invalid || err == nil {
		t.Errorf("one more: %v, want Invalid", err)
	}
	large := Addon{ID: 1, Parameters: map[string]string{AddonBodyTemplate: strings.Repeat("x", MaxAddonsSize)}}
	if err := s.Replace(large); KindOf(err) != Invalid || err == nil {
		t.Errorf("a large one: %v, want Invalid", err)
	}
}
