package edge

import (
	"fmt"
	"strings"
	"testing"
)

// TestDeepPayload checks that a payload as deep as JSON may be makes every response.
func TestDeepPayload(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{100, 101, 9_990, 9_997, 9_998, 9_999, 10_000, 10_001} {
		value := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		checkNeighbors(t, fmt.Sprintf(`{"name": "deep", "enabled": true, "variants": [{"name": "v", "weight": 1000, "payload": {"type": "json", "value": %q}}]}`, value), richSegment)
	}
}
