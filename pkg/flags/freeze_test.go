package flags_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"guidon/pkg/flags"
)

// frozenAt asks at a moment whether an environment with that freeze is frozen, and returns until when; "" if it is not.
func frozenAt(t *testing.T, f flags.Freeze, at string) string {
	t.Helper()
	moment, err := time.Parse(time.RFC3339, at)
	if err != nil {
		t.Fatal(err)
	}
	env := flags.Environment{Name: "production", UID: "p"}
	f.EnvironmentUID = env.UID
	registry := &flags.Environments{List: []flags.Environment{env}, Freezes: []flags.Freeze{f}}
	frozen, is := registry.Frozen(nil, env, moment)
	if !is {
		return ""
	}
	return frozen.Until.Format(time.RFC3339)
}

// TestWeeklyFreezes checks weekly windows across the end of the week and where the clocks of the zone change.
func TestWeeklyFreezes(t *testing.T) {
	t.Parallel()
	weekend := flags.Weekly{From: "Fri 17:00", To: "Mon 08:00", Zone: "Europe/Zurich"}
	night := func(from, to, zone string) flags.Weekly { return flags.Weekly{From: from, To: to, Zone: zone} }
	for _, tt := range []struct {
		name   string
		weekly flags.Weekly
		at     string
		until  string
	}{
		{"before a weekend in winter", weekend, "2026-01-09T15:59:59.999Z", ""},
		{"a weekend begins", weekend, "2026-01-09T16:00:00Z", "2026-01-12T07:00:00Z"},
		{"Saturday", weekend, "2026-01-10T12:00:00Z", "2026-01-12T07:00:00Z"},
		{"Sunday at midnight in the zone", weekend, "2026-01-10T23:00:00Z", "2026-01-12T07:00:00Z"},
		{"the last moment", weekend, "2026-01-12T06:59:59.999Z", "2026-01-12T07:00:00Z"},
		{"a weekend ends", weekend, "2026-01-12T07:00:00Z", ""},
		{"Wednesday", weekend, "2026-01-14T12:00:00Z", ""},
		{"a weekend in summer", weekend, "2026-07-10T15:00:00Z", "2026-07-13T06:00:00Z"},
		{"before it", weekend, "2026-07-10T14:59:59Z", ""},
		{"the clocks go forward in it", weekend, "2026-03-27T16:00:00Z", "2026-03-30T06:00:00Z"},
		{"the clocks go back in it", weekend, "2026-10-23T15:00:00Z", "2026-10-26T07:00:00Z"},
		{"the end of a year", weekend, "2027-01-01T16:00:00Z", "2027-01-04T07:00:00Z"},
		{"within a day", night("Tue 09:00", "Tue 10:30", "UTC"), "2026-01-13T09:30:00Z", "2026-01-13T10:30:00Z"},
		{"after it", night("Tue 09:00", "Tue 10:30", "UTC"), "2026-01-13T10:30:00Z", ""},
		{"all week but an hour", night("Tue 10:00", "Tue 09:00", "UTC"), "2026-01-13T08:59:59Z", "2026-01-13T09:00:00Z"},
		{"that hour", night("Tue 10:00", "Tue 09:00", "UTC"), "2026-01-13T09:30:00Z", ""},
		{"the week after", night("Tue 10:00", "Tue 09:00", "UTC"), "2026-01-13T10:00:00Z", "2026-01-20T09:00:00Z"},
		{"Saturday to Sunday", night("Sat 23:00", "Sun 01:00", "UTC"), "2026-01-11T00:30:00Z", "2026-01-11T01:00:00Z"},
		{"far in the east", night("Mon 00:00", "Mon 01:00", "Pacific/Kiritimati"), "2026-01-11T10:30:00Z", "2026-01-11T11:00:00Z"},
		{"far in the west", night("Sun 23:00", "Mon 00:00", "Pacific/Pago_Pago"), "2026-01-12T10:30:00Z", "2026-01-12T11:00:00Z"},
		{"half an hour from UTC", night("Mon 00:00", "Mon 01:00", "Asia/Kolkata"), "2026-01-11T18:30:00Z", "2026-01-11T19:30:00Z"},

		// On 2026-03-29 in Zurich, 02:30 does not exist: the clocks go from 02:00 to 03:00 at 01:00 UTC.
		{"a skipped beginning is early", night("Sun 02:30", "Sun 06:00", "Europe/Zurich"), "2026-03-29T00:30:00Z", "2026-03-29T04:00:00Z"},
		{"not earlier", night("Sun 02:30", "Sun 06:00", "Europe/Zurich"), "2026-03-29T00:29:59Z", ""},
		{"a skipped end is late", night("Sat 22:00", "Sun 02:30", "Europe/Zurich"), "2026-03-29T01:29:59Z", "2026-03-29T01:30:00Z"},
		{"not later", night("Sat 22:00", "Sun 02:30", "Europe/Zurich"), "2026-03-29T01:30:00Z", ""},
		// On 2026-10-25, 02:30 is at 00:30 and at 01:30 UTC.
		{"a repeated beginning is early", night("Sun 02:30", "Sun 06:00", "Europe/Zurich"), "2026-10-25T00:30:00Z", "2026-10-25T05:00:00Z"},
		{"a repeated end is late", night("Sat 22:00", "Sun 02:30", "Europe/Zurich"), "2026-10-25T01:29:59Z", "2026-10-25T01:30:00Z"},
		// In Cairo, the clocks skip the first hour of Friday 2026-04-24: the beginning is on Thursday by both offsets or on Friday.
		{"a day that begins at one", night("Fri 00:00", "Fri 12:00", "Africa/Cairo"), "2026-04-23T21:00:00Z", "2026-04-24T09:00:00Z"},
		{"before it in Cairo", night("Fri 00:00", "Fri 12:00", "Africa/Cairo"), "2026-04-23T20:59:59Z", ""},
		// Samoa had no Friday 2011-12-30: it moved from one side of the date line to the other.
		{"a skipped day", night("Thu 20:00", "Sat 08:00", "Pacific/Apia"), "2011-12-30T10:00:00Z", "2011-12-30T18:00:00Z"},
		{"after the skipped day", night("Thu 20:00", "Sat 08:00", "Pacific/Apia"), "2011-12-30T18:00:00Z", ""},
		// Istanbul stayed with the time of summer in 2016, and so has no change in October.
		{"a zone that gave up its winter", night("Sun 03:00", "Sun 05:00", "Europe/Istanbul"), "2016-11-06T00:30:00Z", "2016-11-06T02:00:00Z"},
		{"a year before", night("Sun 03:00", "Sun 05:00", "Europe/Istanbul"), "2015-11-15T01:30:00Z", "2015-11-15T03:00:00Z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := frozenAt(t, flags.Freeze{Weekly: &tt.weekly}, tt.at); got != tt.until {
				t.Errorf("%s to %s in %s: at %s frozen until %q, want %q", tt.weekly.From, tt.weekly.To, tt.weekly.Zone, tt.at, got, tt.until)
			}
		})
	}
}

// TestWeeklyFreezesCoverTheirWallTimes asks at each half hour of a year with changes of the clocks, and compares with what these show.
func TestWeeklyFreezesCoverTheirWallTimes(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Europe/Zurich", "Australia/Lord_Howe", "Africa/Cairo", "America/Santiago"} {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		weekend := flags.Weekly{From: "Fri 17:00", To: "Mon 08:00", Zone: zone}
		for at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() == 2026; at = at.Add(30 * time.Minute) {
			clock := at.In(location).Format("15:04")
			want := false
			switch at.In(location).Weekday() {
			case time.Friday:
				want = clock >= "17:00"
			case time.Saturday, time.Sunday:
				want = true
			case time.Monday:
				want = clock < "08:00"
			}
			if got := frozenAt(t, flags.Freeze{Weekly: &weekend}, at.Format(time.RFC3339)); (got != "") != want {
				t.Fatalf("%s: at %s, which is %s, frozen until %q, want %t", zone, at, at.In(location), got, want)
			}
		}
	}
}

// TestOverlappingFreezes checks which of several freezes in effect an environment names.
func TestOverlappingFreezes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)
	freeze := func(id string, hours int, offAllowed bool) flags.Freeze {
		return flags.Freeze{ID: id, EnvironmentUID: "p", Reason: "because of " + id, From: at, To: at.Add(time.Duration(hours) * time.Hour), OffAllowed: offAllowed}
	}
	env := flags.Environment{Name: "production", UID: "p"}
	for _, tt := range []struct {
		name             string
		service, project []flags.Freeze
		want             string
	}{
		{"none", nil, nil, "not frozen"},
		{"one of the service", []flags.Freeze{freeze("a", 1, true)}, nil, "a of the service until 13:00, off allowed"},
		{"one of the project", nil, []flags.Freeze{freeze("b", 1, true)}, "b until 13:00, off allowed"},
		{"the one that ends last", []flags.Freeze{freeze("a", 1, true), freeze("b", 3, true)}, []flags.Freeze{freeze("c", 2, true)}, "b of the service until 15:00, off allowed"},
		{"a longer one of the project", []flags.Freeze{freeze("a", 1, true)}, []flags.Freeze{freeze("c", 2, true)}, "c until 14:00, off allowed"},
		{"off only if all allow it", []flags.Freeze{freeze("a", 1, false)}, []flags.Freeze{freeze("c", 2, true)}, "c until 14:00"},
		{"in any order", []flags.Freeze{freeze("a", 2, true)}, []flags.Freeze{freeze("c", 1, false)}, "a of the service until 14:00"},
		{"of another environment", []flags.Freeze{{ID: "x", EnvironmentUID: "earlier", From: at, To: at.Add(time.Hour)}}, nil, "not frozen"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			registry := &flags.Environments{List: []flags.Environment{env}, Freezes: tt.service}
			got := "not frozen"
			if f, is := registry.Frozen(&flags.Project{Freezes: tt.project}, env, at); is {
				got = f.ID
				if f.OfService {
					got += " of the service"
				}
				got += " until " + f.Until.Format("15:04")
				if f.OffAllowed {
					got += ", off allowed"
				}
				if f.Reason != "because of "+f.ID {
					t.Errorf("the reason of %s is %q", f.ID, f.Reason)
				}
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestFreezeLimits checks which freezes can be added.
func TestFreezeLimits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)
	registry := func() *flags.Environments {
		return &flags.Environments{List: []flags.Environment{{Name: "production", UID: "p"}}}
	}
	for _, tt := range []struct {
		name     string
		from, to time.Duration
		problem  string
	}{
		{"an hour", 0, time.Hour, ""},
		{"that has begun", -time.Hour, time.Hour, ""},
		{"a year", 0, 366 * 24 * time.Hour, ""},
		{"more than a year", 0, 366*24*time.Hour + 1, "/to: must be at most 366 days after from"},
		{"that is over", -2 * time.Hour, 0, "/to: must be in the future; it is now 2026-01-10T12:00:00Z"},
		{"backwards", time.Hour, time.Hour, "/to: must be after from"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := registry().AddFreeze(flags.Freeze{EnvironmentUID: "p", From: now.Add(tt.from), To: now.Add(tt.to)}, now)
			if got := fmt.Sprint(err); err != nil && got != tt.problem || err == nil && tt.problem != "" {
				t.Errorf("%v, want %q", err, tt.problem)
			}
		})
	}
	full := registry()
	add := func(to time.Duration, uid string) error {
		return full.AddFreeze(flags.Freeze{ID: fmt.Sprint(len(full.Freezes)), EnvironmentUID: uid, From: now, To: now.Add(to)}, now)
	}
	for i := range flags.MaxFreezes {
		if err := add(time.Hour, "p"); err != nil {
			t.Fatalf("freeze %d: %v", i, err)
		}
	}
	if err := add(time.Hour, "p"); flags.KindOf(err) != flags.Invalid || !strings.Contains(err.Error(), "lift one first") {
		t.Errorf("one more: %v, want a refusal", err)
	}
	now = now.Add(2 * time.Hour) // all have ended
	if err := add(time.Hour, "p"); err != nil || len(full.Freezes) != 1 {
		t.Errorf("after their end: %v with %d freezes, want one", err, len(full.Freezes))
	}
	full.Freezes[0].EnvironmentUID = "gone"
	if err := add(time.Hour, "p"); err != nil || len(full.Freezes) != 1 || full.Freezes[0].EnvironmentUID != "p" {
		t.Errorf("beside one of a deleted environment: %v with %+v, want one", err, full.Freezes)
	}
}

// TestWeeklyFreezeTexts checks which wall times and zones a weekly freeze can have.
func TestWeeklyFreezeTexts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		weekly flags.Weekly
		path   string // of the first problem; "" for none
	}{
		{flags.Weekly{From: "Fri 17:00", To: "Mon 08:00", Zone: "Europe/Zurich"}, ""},
		{flags.Weekly{From: "Fri 00:00", To: "Fri 23:59", Zone: "UTC"}, ""},
		{flags.Weekly{From: "Fri 00:00", To: "Fri 24:00", Zone: "UTC"}, "/to"},
		{flags.Weekly{From: "fri 17:00", To: "Mon 08:00", Zone: "UTC"}, "/from"},
		{flags.Weekly{From: "Friday 17:00", To: "Mon 08:00", Zone: "UTC"}, "/from"},
		{flags.Weekly{From: "Fri 7:00", To: "Mon 08:00", Zone: "UTC"}, "/from"},
		{flags.Weekly{From: "Fri 17:00 ", To: "Mon 08:00", Zone: "UTC"}, "/from"},
		{flags.Weekly{From: "", To: "Mon 08:00", Zone: "UTC"}, "/from"},
		{flags.Weekly{From: "Mon 08:00", To: "Mon 08:00", Zone: "UTC"}, "/to"},
		{flags.Weekly{From: "Fri 17:00", To: "Mon 08:00"}, "/zone"},
		{flags.Weekly{From: "Fri 17:00", To: "Mon 08:00", Zone: "Local"}, "/zone"},
		{flags.Weekly{From: "Fri 17:00", To: "Mon 08:00", Zone: "localtime"}, "/zone"},
		{flags.Weekly{From: "Fri 17:00", To: "Mon 08:00", Zone: "posix/Europe/Zurich"}, "/zone"},
		{flags.Weekly{From: "Fri 17:00", To: "Mon 08:00", Zone: "Mars/Olympus"}, "/zone"},
		{flags.Weekly{From: "Fri 17:00", To: "Mon 08:00", Zone: "../../etc/passwd"}, "/zone"},
		{flags.Weekly{From: "Fri 17:00", To: "Mon 08:00", Zone: strings.Repeat("a", 1<<20)}, "/zone"},
	} {
		var problems flags.Problems
		tt.weekly.Check(&problems)
		got := ""
		if len(problems) > 0 {
			got = problems[0].Path
		}
		if got != tt.path {
			t.Errorf("%.80v: problems %v, want the first at %q", tt.weekly, problems, tt.path)
		}
	}
}
