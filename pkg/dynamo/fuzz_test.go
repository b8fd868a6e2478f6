package dynamo

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"guidon/pkg/flags"
)

// FuzzCursor parses cursors, which callers can change. An accepted cursor must only limit the range of the query, never
// select another partition.
func FuzzCursor(f *testing.F) {
	f.Fuzz(func(t *testing.T, cursor, feature string) {
		if id, err := idBeforeCursor(cursor); err == nil {
			at, bad := uuid.Parse(id)
			if bad != nil || at.String() != id || len(decodeCursor(cursor)) != 16 || id >= uuid.UUID(decodeCursor(cursor)).String() {
				t.Errorf("before cursor %q is %q, %v", cursor, id, bad)
			}
			if again := (logRange{index: logIndex}).cursor(eventItem{ID: uuid.UUID(decodeCursor(cursor)).String()}); again != cursor {
				t.Errorf("cursor %q, encoded again, is %q", cursor, again)
			}
		}
		if version, err := versionInCursor(cursor); err == nil {
			if version < 1 || version > maxVersion {
				t.Errorf("cursor %q has the version %d", cursor, version)
			}
			if again := (logRange{}).cursor(eventItem{envelope: envelope{SK: eventSortKey(version)}}); again != cursor {
				t.Errorf("cursor %q, encoded again, is %q", cursor, again)
			}
		}
		for _, q := range []flags.LogQuery{{Cursor: cursor}, {Cursor: cursor, Features: []string{feature}}, {Cursor: cursor, Projects: []string{feature}}} {
			r, err := logRangeOf(q)
			if err != nil && flags.KindOf(err) != flags.Invalid {
				t.Errorf("cursor %q: %v, want Invalid", cursor, err)
			}
			own := r.partition == logPartition || r.partition == feature && r.index == projectIndex ||
				r.partition == "FLAG#"+feature && strings.HasPrefix(r.from, eventPrefix) && strings.HasPrefix(r.to, eventPrefix)
			if !own {
				t.Errorf("cursor %q selects %+v", cursor, r)
			}
		}
	})
}
