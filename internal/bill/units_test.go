package bill

import (
	"strings"
	"testing"
)

// TestSizes checks the sizes and units of items by the rules in DynamoDB's documentation.
func TestSizes(t *testing.T) {
	i := item{
		"pk":      {"S": "FEED"},                                                     // 2 + 4
		"version": {"N": "12345"},                                                    // 7 + 3 + 1
		"content": {"B": "AAEC"},                                                     // 7 + 3
		"closed":  {"BOOL": true},                                                    // 6 + 1
		"recent":  {"L": []any{map[string]any{"S": "ab"}, map[string]any{"S": "c"}}}, // 6 + 3 + 2 + 3
	}
	if got := i.size(); got != 48 {
		t.Errorf("the item has %d bytes, want 48", got)
	}
	for _, tt := range []struct {
		size       int
		consistent bool
		want       float64
	}{{0, true, 1}, {4096, true, 1}, {4097, true, 2}, {4097, false, 1}, {100, false, 0.5}} {
		if got := reading(tt.size, tt.consistent).Read; got != tt.want {
			t.Errorf("a read of %d bytes, consistent %t, takes %v units, want %v", tt.size, tt.consistent, got, tt.want)
		}
	}
}

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
