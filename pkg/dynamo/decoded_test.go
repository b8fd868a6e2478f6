package dynamo

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/flags"
)

// TestDecodedCache checks that an item is decoded once, that a changed one is decoded again, and that the cache is bounded.
func TestDecodedCache(t *testing.T) {
	var c decodedCache
	item := func(id, description string, version int64) envelope {
		document, err := projectEntity.encode(&flags.Project{ID: id, UID: "u" + id, Name: id, Description: description})
		if err != nil {
			t.Fatal(err)
		}
		return envelope{PK: "PROJECT#" + id, SK: "PROJECT", Version: version, Document: document}
	}
	decode := func(entity *entity, e envelope) flags.Aggregate {
		t.Helper()
		a, err := c.decode(entity, e)
		if err != nil || flags.VersionOf(a) != e.Version {
			t.Fatalf("decoded as %+v, %v", a, err)
		}
		return a
	}
	first := decode(&projectEntity, item("a", "", 1))
	if decode(&projectEntity, item("a", "", 1)) != first {
		t.Error("the same item was decoded twice")
	}
	if decode(&projectEntity, item("a", "", 2)) == first {
		t.Error("an item with a new version was not decoded again")
	}
	if p := decode(&projectEntity, item("a", "new", 2)).(*flags.Project); p.Description != "new" {
		t.Errorf("a changed document was decoded as %+v", p)
	}
	large := item("large", strings.Repeat("x", maxDecodedDocument), 1)
	if decode(&projectEntity, large) == decode(&projectEntity, large) {
		t.Error("a large document was kept")
	}
	for i := range 3 * maxDecoded {
		decode(&projectEntity, item(fmt.Sprint(i), "", 1))
	}
	if n := len(c.kept); n > maxDecoded {
		t.Errorf("%d items are kept, more than %d", n, maxDecoded)
	}
	if _, err := c.decode(&projectEntity, envelope{PK: "PROJECT#b", SK: "PROJECT", Document: "{"}); err == nil {
		t.Error("an invalid document has no error")
	}
}
