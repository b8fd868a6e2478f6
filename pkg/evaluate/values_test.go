package evaluate

import (
	"cmp"
	"math"
	"math/big"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	library "github.com/Masterminds/semver/v3"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// TestAddresses compares addresses and networks with package net. Unlike there, an IPv4 address in the form of IPv6 is an IPv6 address.
func TestAddresses(t *testing.T) {
	texts := []string{"127.0.0.1", "10.0.0.1", "10.255.0.1", "11.0.0.1", "::1", "2001:db8::1", "2001:db9::1", "::ffff:10.0.0.1", "::ffff:a00:1", "::10.0.0.1", "::",
		"0.0.0.0", "255.255.255.255", "fe80::1", "fe80::1%eth0", "10.0.0", "010.0.0.1", "10.0.0.256", "10.0.0.1.1", "abc", "", " 10.0.0.1 ", "[::1]", "10.0.0.1:80"}
	networks := []string{"10.0.0.0/8", "10.0.0.5/8", "10.0.0.1/32", "10.0.0.0/08", "0.0.0.0/0", "::/0", "::1/128", "2001:db8::/32", "::ffff:10.0.0.0/104", "::ffff:10.0.0.5/104",
		"::ffff:0:0/96", "::ffff:0:0/90", "::/96", "fe80::%eth0/64", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "/8", " 10.0.0.0/8 "}
	for _, item := range append(networks, texts...) {
		for _, text := range texts {
			compareAddress(t, text, item)
		}
	}
}

// compareAddress compares whether a list with an item has an address.
func compareAddress(t *testing.T, text, item string) {
	t.Helper()
	ip := net.ParseIP(text)
	address, ok := parseAddress(text)
	if ok != (ip != nil) {
		t.Fatalf("%q is an address: got %t, want %v", text, ok, ip)
	}
	_, network, err := net.ParseCIDR(item)
	inNetwork := err == nil && (len(network.Mask) == net.IPv6len) == strings.Contains(text, ":") && inRange(network, ip)
	same := ip.Equal(net.ParseIP(item)) && strings.Contains(text, ":") == strings.Contains(item, ":")
	want := ip != nil && (inNetwork || same)
	if got := ok && newAddresses([]string{item}).has(address); got != want {
		t.Fatalf("%q has %q: got %t, want %t", item, text, got, want)
	}
}

// inRange is network.Contains, which finds no IPv4 address in a network of IPv6.
func inRange(network *net.IPNet, ip net.IP) bool {
	if len(network.Mask) == net.IPv4len {
		return network.Contains(ip)
	}
	return network.IP.To16().Equal(ip.To16().Mask(network.Mask))
}

// FuzzAddress compares them for any text.
func FuzzAddress(f *testing.F) {
	f.Add("10.0.0.1", "10.0.0.0/8")
	f.Add("::ffff:10.0.0.1", "::ffff:10.0.0.0/104")
	f.Fuzz(func(t *testing.T, text, item string) {
		if _, length, _ := strings.Cut(item, "/"); strings.TrimLeft(length, "+-") == length { // net takes no sign
			compareAddress(t, text, item)
		}
	})
}

var numberTexts = []string{"0", "-0", "0.0", "1", "1.0", "+1", "01", "12.5", "1e1", "10", "-3", ".5", "5.", "0.1", "0.10", "0.1000000000000000055", "0.10000000000000001",
	"9007199254740992", "9007199254740993", "1234567890123456789", "1234567890123456788", "-1234567890123456789", "1e308", "1e309", "1e400", "1e401", "-1e400", "1e-300",
	"1e-308", "5e-324", "1e-400", "1e-401", "-1e-400", "0e999", "1e999999999", "123456789012345", "123456789012345.6", "100000000000000000000", "1e20", "0.000000000000000000000000001"}

var decimal = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)

// FuzzNumber compares the order of numbers with math/big.
func FuzzNumber(f *testing.F) {
	for _, a := range append(numberTexts, "abc", "", "Inf", "-infinity", "NaN", "0x1", "1_0", "1p2", " 1", "1e", "--1", "+-1", "1e+", "e", ".") {
		for _, b := range numberTexts {
			f.Add(a, b)
		}
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		numberA, okA := parseNumber(a)
		numberB, okB := parseNumber(b)
		if finite := okA && !math.IsInf(numberA, 0); finite != decimal.MatchString(a) && !math.IsInf(numberA, 0) {
			t.Fatalf("%q is a number: got %t (%g)", a, okA, numberA)
		}
		bigA, _, errA := big.ParseFloat(a, 10, 0, big.ToNearestEven)
		bigB, _, errB := big.ParseFloat(b, 10, 0, big.ToNearestEven)
		if !okA || !okB || errA != nil || errB != nil || numberA == numberB {
			return // numbers that differ after the fifteenth digit are equal
		}
		if got, want := cmp.Compare(numberA, numberB), bigA.Cmp(bigB); got != want {
			t.Fatalf("comparing %q with %q: got %d, want %d", a, b, got, want)
		}
	})
}

// FuzzDate compares dates with time.Parse, which takes a part of the forms and some others.
func FuzzDate(f *testing.F) {
	for _, s := range []string{"2026-01-31T00:00:00.000Z", "2026-02-01 00:00:00.123456+00:00", "+10000-01-01T00:00:00Z", "2016-12-31T23:59:60Z", "2026-2-1T1:2:3 utc", "2026-02-01T00:00:00−01:00", "-0001-01-01T00:00:00z"} {
		f.Add(s)
	}
	plain := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := parseDate(s)
		want, err := time.Parse(time.RFC3339, s)
		if plain.MatchString(s) && !strings.Contains(s, ":60") && (ok != (err == nil) || ok && !got.Equal(want)) {
			t.Fatalf("%q: got %v, %t, want %v, %v", s, got, ok, want, err)
		}
	})
}

// FuzzLower compares a text in lower case with golang.org/x/text, if no character has changed since its version of Unicode.
func FuzzLower(f *testing.F) {
	for _, s := range []string{"ΑΣ", "ΣΑΣ ΣΑΣ.", "İSTANBUL", "Α\u0301Σ\u0301Α", "ΑΣ\u2019Α", "Straße", "\xff", "ΣΣ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		const ignorable = 20 // the library gives up after 30 characters that it ignores
		if !utf8.ValidString(s) || len(s) > ignorable {
			return
		}
		if got, want := lower(s), cases.Lower(language.Und).String(s); got != want {
			t.Fatalf("%q: got %q, want %q", s, got, want)
		}
	})
}

// TestAbsentValues checks what the specification leaves open. The results are those of Yggdrasil, in UnleashClient for Python.
func TestAbsentValues(t *testing.T) {
	for _, test := range []struct {
		constraint Constraint
		want       answer
	}{
		{Constraint{Operator: "REGEX", Value: "a*"}, no},
		{Constraint{Operator: "REGEX", Value: "a*", Inverted: true}, yes},
		{Constraint{ContextName: "empty", Operator: "REGEX", Value: "a*"}, yes},
		{Constraint{ContextName: "empty", Operator: "REGEX", Value: "a*", Inverted: true}, no},
		{Constraint{ContextName: "empty", Operator: "STR_CONTAINS", Values: []string{""}}, no},
		{Constraint{ContextName: "empty", Operator: "NUM_LT", Value: "1"}, unreadable},
		{Constraint{Operator: "REGEX", Value: "(", Inverted: true}, unreadable}, // not as in Python: suite 21, invalid-regex-defaults-to-false
		{Constraint{Operator: "IN_CIDR", Values: []string{"10.0.0.0/8"}}, no},
		{Constraint{Operator: "IN_CIDR", Values: []string{"10.0.0.0/8"}, Inverted: true}, yes},
		{Constraint{Operator: "IN_CIDR", Values: []string{"nonsense"}, Inverted: true}, yes},
		{Constraint{Operator: "NUM_GT", Value: "1"}, unreadable},
		{Constraint{Operator: "NUM_GT", Value: "1", Inverted: true}, yes},
		{Constraint{Operator: "NUM_GT", Value: "abc", Inverted: true}, unreadable},
		{Constraint{Operator: "SEMVER_LT", Value: "1.2.3", Inverted: true}, yes},
		{Constraint{ContextName: "text", Operator: "NUM_LT", Value: "1"}, unreadable},
		{Constraint{ContextName: "text", Operator: "NUM_LT", Value: "1", Inverted: true}, yes},
		{Constraint{ContextName: "text", Operator: "SEMVER_EQ", Value: "1.2.3", Inverted: true}, yes},
		{Constraint{ContextName: "text", Operator: "DATE_AFTER", Value: "2026-01-31T00:00:00.000Z", Inverted: true}, yes},
		{Constraint{ContextName: "absent", Operator: "DATE_AFTER", Value: "1970-01-01T00:00:00.000Z"}, unreadable},
		{Constraint{ContextName: "absent", Operator: "DATE_AFTER", Value: "1970-01-01T00:00:00.000Z", Inverted: true}, yes},
		{Constraint{ContextName: "currentTime", Operator: "DATE_BEFORE", Value: "1970-01-01T00:00:00.000Z"}, yes}, // Now is the year 1 here
		{Constraint{Operator: "IN", Values: []string{"", "a"}}, no},
		{Constraint{Operator: "NOT_IN", Values: []string{"", "a"}}, yes},
		{Constraint{Operator: "STR_CONTAINS", Values: []string{""}}, no},
		{Constraint{Operator: "STR_STARTS_WITH", Values: []string{""}, Inverted: true}, yes},
	} {
		c := compileConstraints([]Constraint{test.constraint})
		if got := c[0].check(&Context{Properties: map[string]string{"text": "abc", "empty": ""}}); got != test.want {
			t.Errorf("%+v: got %d, want %d", test.constraint, got, test.want)
		}
	}
}

func TestHostnames(t *testing.T) {
	set := NewSet([]Flag{{Name: "flag", Enabled: true, Strategies: []Strategy{{Name: "applicationHostname", Parameters: map[string]string{"hostNames": "Web-1, web-2,"}}}}}, nil)
	for host, want := range map[string]bool{"web-1": true, "WEB-2": true, "web-3": false, "": false} {
		if got := set.Evaluate("flag", &Context{Hostname: host}).Enabled; got != want {
			t.Errorf("host %q: got %t, want %t", host, got, want)
		}
	}
}

// FuzzVersion compares versions with github.com/Masterminds/semver.
func FuzzVersion(f *testing.F) {
	versions := []string{"", "1.2.3", "1.10.0", "2.0.0-alpha", "2.0.0-alpha.1", "2.0.0-alpha.10", "2.0.0-1", "2.0.0-0", "2.0.0-00", "2.0.0-0a", "2.0.0+build.007",
		"2.0.0-a+b-c", "v1.2.3", "1.2", "1.2.3.4", "01.2.3", "1.2.3-", "1.2.3+", "1.2.3-a..b", "18446744073709551615.0.0", "18446744073709551616.0.0", "1.2.3-ä", "1.-2.3",
		"1.2.3-a.b.c", "1.2.3-a.b", "1.2.3--", "1.2.3- "}
	for _, a := range versions {
		for _, b := range versions {
			f.Add(a, b)
		}
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		okA, okB := ValidVersion(a), ValidVersion(b)
		wantA, errA := library.StrictNewVersion(a)
		wantB, errB := library.StrictNewVersion(b)
		if okA != (errA == nil) || okB != (errB == nil) {
			t.Fatalf("%q is valid: %t (%v), %q is valid: %t (%v)", a, okA, errA, b, okB, errB)
		}
		if !okA || !okB || hasLongNumber(wantA) || hasLongNumber(wantB) {
			return
		}
		got, ok := CompareVersions(a, b)
		if want := wantA.Compare(wantB); !ok || got != want {
			t.Fatalf("comparing %q with %q: got %d, want %d", a, b, got, want)
		}
	})
}

// hasLongNumber reports whether a prerelease may have a number of more than 64 bits, which the library compares as text.
func hasLongNumber(v *library.Version) bool { return len(v.Prerelease()) > 19 }
