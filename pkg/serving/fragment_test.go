package serving

import (
	"fmt"
	"testing"
)

// TestFragmentsAreBounded encodes a flag in more environments than it keeps fragments for.
func TestFragmentsAreBounded(t *testing.T) {
	var kept fragments
	for i := range 50 {
		kept.add(&fragment{environment: fmt.Sprint(i)})
	}
	if n := len(*kept.list.Load()); n != maxFragments {
		t.Errorf("%d fragments are kept, want %d", n, maxFragments)
	}
	if (*kept.list.Load())[0].environment != "49" {
		t.Error("the last fragment is not kept")
	}
}
