package bill

import (
	"strings"
	"testing"
)

// TestTransaction checks the units of a transaction with an event, and of the same change made again.
func TestTransaction(t *testing.T) {
	d := deploy(t)
	d.do("POST", features, newFlag(0))
	d.do("GET", features, "")
	long := `[{"op":"replace","path":"/description","value":"` + strings.Repeat("x", 1500) + `"}]`
	before := d.units("PATCH", features+"/"+name(0), `[{"op":"replace","path":"/description","value":"short"}]`)
	after := d.units("PATCH", features+"/"+name(0), long)
	if after.Write <= before.Write {
		t.Errorf("a change of 1,500 bytes takes %v units, and one of a few bytes %v", after, before)
	}
	if again := d.units("PATCH", features+"/"+name(0), long); again.Write != 0 {
		t.Errorf("a change that changes nothing takes %v", again)
	}
}
