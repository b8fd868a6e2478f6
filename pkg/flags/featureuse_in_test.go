package flags

import "testing"

// TestUseIsInItsProject checks that records that were stored before they had the UID of their project count for it: the guard of a segment
// asks whose flags use it.
func TestUseIsInItsProject(t *testing.T) {
	p := &Project{ID: "shop", UID: "p1"}
	for _, tt := range []struct {
		name string
		use  FeatureUse
		want bool
	}{
		{"in it", FeatureUse{Project: "shop", ProjectUID: "p1"}, true},
		{"in a deleted project of the same ID", FeatureUse{Project: "shop", ProjectUID: "p0"}, false},
		{"without a UID", FeatureUse{Project: "shop"}, true},
		{"in another one, without a UID", FeatureUse{Project: "cafe"}, false},
	} {
		if got := tt.use.In(p); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}
