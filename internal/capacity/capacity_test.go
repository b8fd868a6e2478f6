package capacity

import (
	"strings"
	"testing"
)

// TestUnits checks the units of calls.
func TestUnits(t *testing.T) {
	item := func(bytes int) string { return `{"pk":{"S":"` + strings.Repeat("x", bytes) + `"}}` }
	tests := []struct {
		name, operation, request, response string
		read, write                        float64
	}{
		{"two items, one missing", "BatchGetItem", `{"RequestItems":{"t":{"ConsistentRead":true,"Keys":[{},{},{}]}}}`,
			`{"Responses":{"t":[` + item(10) + "," + item(5000) + `]}}`, 4, 0},
		{"eventually consistent", "BatchGetItem", `{"RequestItems":{"t":{"Keys":[{}]}}}`, `{"Responses":{"t":[` + item(9000) + `]}}`, 1.5, 0},
		{"a page counts as a whole", "Query", `{"ConsistentRead":true}`, `{"Items":[` + item(3000) + "," + item(3000) + `]}`, 2, 0},
		{"an empty page", "Query", `{"ConsistentRead":true}`, `{"Items":[]}`, 1, 0},
		{"put", "PutItem", `{"Item":` + item(2000) + `}`, `{}`, 0, 2},
		{"base64", "PutItem", `{"Item":{"c":{"B":"` + strings.Repeat("x", 1600) + `"}}}`, `{}`, 0, 2},
		{"a transaction", "TransactWriteItems", `{"TransactItems":[{"Put":{"Item":` + item(2000) + `}},{"Put":{"Item":` + item(20) + `}},{"Update":{}}]}`, `{}`, 0, 8},
		{"update", "UpdateItem", `{}`, `{}`, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			read, write := Units(tt.operation, []byte(tt.request), []byte(tt.response))
			if read != tt.read || write != tt.write {
				t.Errorf("got %v read and %v write units, expected %v and %v", read, write, tt.read, tt.write)
			}
		})
	}
}

// TestSizes checks the sizes and units of items by the rules in DynamoDB's documentation.
func TestSizes(t *testing.T) {
	i := Item{
		"pk":      {"S": "FEED"},                                                     // 2 + 4
		"version": {"N": "12345"},                                                    // 7 + 3 + 1
		"content": {"B": "AAEC"},                                                     // 7 + 3
		"closed":  {"BOOL": true},                                                    // 6 + 1
		"recent":  {"L": []any{map[string]any{"S": "ab"}, map[string]any{"S": "c"}}}, // 6 + 3 + 2 + 3
	}
	if got := i.Size(); got != 48 {
		t.Errorf("the item has %d bytes, want 48", got)
	}
	for _, tt := range []struct {
		size       int
		consistent bool
		want       float64
	}{{0, true, 1}, {4096, true, 1}, {4097, true, 2}, {4097, false, 1}, {100, false, 0.5}} {
		if got := Read(tt.size, tt.consistent); got != tt.want {
			t.Errorf("a read of %d bytes, consistent %t, takes %v units, want %v", tt.size, tt.consistent, got, tt.want)
		}
	}
}
