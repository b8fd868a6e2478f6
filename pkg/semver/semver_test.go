package semver

import (
	"testing"

	library "github.com/Masterminds/semver/v3"
)

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
		versionA, okA := Parse(a)
		versionB, okB := Parse(b)
		wantA, errA := library.StrictNewVersion(a)
		wantB, errB := library.StrictNewVersion(b)
		if len(a) > maxLength || len(b) > maxLength {
			return
		}
		if okA != (errA == nil) || okB != (errB == nil) {
			t.Fatalf("%q is valid: %t (%v), %q is valid: %t (%v)", a, okA, errA, b, okB, errB)
		}
		if !okA || !okB || hasLongNumber(wantA) || hasLongNumber(wantB) {
			return
		}
		if got, want := versionA.Compare(versionB), wantA.Compare(wantB); got != want {
			t.Fatalf("comparing %q with %q: got %d, want %d", a, b, got, want)
		}
	})
}

// hasLongNumber reports whether a prerelease may have a number of more than 64 bits, which the library compares as text.
func hasLongNumber(v *library.Version) bool { return len(v.Prerelease()) > 19 }
