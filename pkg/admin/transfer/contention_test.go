package transfer_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// TestImportWithoutConflicts imports 1,000 flags that share a tag and four segments. The transport raises
// TransactionConflict for overlapping transactions, as AWS does. The transactions of one import must not conflict with each
// other: each conflict costs an attempt, and an alarm counts conflicts.
func TestImportWithoutConflicts(t *testing.T) {
	t.Parallel()
	faults := &dynamotest.Faults{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = faults })
	const n, most = 1000, 10
	faults.Change(func(f *dynamotest.Faults) { f.Conflicts, f.Delay = true, 4*time.Millisecond })
	data := sharedData(n)
	for {
		got := s.Do(t, "POST", "/api/admin/features-batch/import", data)
		if got.Status == http.StatusServiceUnavailable { // on a busy machine; repeating the import does the rest
			continue
		}
		if got.Status != http.StatusOK {
			t.Fatalf("%d %.500s", got.Status, got.Body)
		}
		break
	}
	if conflicts := faults.Injected()[dynamotest.Conflict]; conflicts > most {
		t.Errorf("%d conflicts, want at most %d", conflicts, most)
	}
	if transactions := faults.Calls()["TransactWriteItems"]; transactions < n {
		t.Errorf("%d transactions, want one for each of %d flags", transactions, n)
	}
	t.Logf("%v, %v", faults.Injected(), faults.Calls())
}

// sharedData is an import of n flags with the same tag. Each uses one of four segments.
func sharedData(n int) string {
	var features, strategies, tags, segments []map[string]any
	for i := range 4 {
		segments = append(segments, map[string]any{
			"id": i + 1, "name": fmt.Sprint("segment-", i),
			"constraints": []any{map[string]any{"contextName": "country", "operator": "IN", "values": []string{"de"}}},
		})
	}
	for i := range n {
		name := fmt.Sprint("f-", i)
		features = append(features, map[string]any{"name": name})
		strategies = append(strategies, map[string]any{"featureName": name, "name": "default", "segments": []int{i%4 + 1}})
		tags = append(tags, map[string]any{"featureName": name, "tagType": "simple", "tagValue": "common"})
	}
	document, err := json.Marshal(map[string]any{"project": "default", "environment": "development", "data": map[string]any{
		"features": features, "featureStrategies": strategies, "featureTags": tags, "segments": segments,
	}})
	if err != nil {
		panic(err)
	}
	return string(document)
}
