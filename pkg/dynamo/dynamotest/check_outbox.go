package dynamotest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// checkOutbox reports entries of outboxes without their event, and entries that are in two places.
func (c *checker) checkOutbox() {
	places := map[string]string{} // by addon and event
	for _, i := range c.items {
		place, addon, _ := strings.Cut(i.pk, "#")
		if place != "OUTBOX" && place != "DELIVERED" && place != "PARKED" || addon == "" {
			continue // the lease has no addon in its partition key
		}
		entry := addon + "/" + i.sk
		if other := places[entry]; other != "" {
			c.report("the entry %s is in %s and in %s", entry, place, other)
		}
		places[entry] = place
		type ref struct {
			ID, Subject string
			Version     int64
		}
		var doc struct {
			ref
			Also []ref
			Test json.RawMessage
		}
		if err := json.Unmarshal([]byte(i.doc), &doc); err != nil {
			c.report("the entry %s: %v", entry, err)
			continue
		}
		for _, one := range append(doc.Also, doc.ref) {
			event, exists := c.items[key{one.Subject, fmt.Sprintf("EVENT#%012d", one.Version)}]
			if doc.Test == nil && (!exists || event.id != one.ID) || doc.ID != i.sk {
				c.report("the entry %s in %s has no event: %s", entry, place, i.doc)
			}
		}
	}
}
