package dynamotest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"guidon/pkg/dynamo"
)

// AddCopies stores copies of a flag under other names, with their list rows and uses, 25 items a call: much faster than changes.
// The copies have no events, and the project counts all of them in one guard. Strategies of copies have the IDs of the flag's. The
// name of the flag must occur in nothing but its items.
func AddCopies(t testing.TB, store *dynamo.Store, flag string, names []string) {
	t.Helper()
	var page struct{ Items []map[string]map[string]any }
	if err := json.Unmarshal([]byte(Scan(t, store)), &page); err != nil { // a small table is one page
		t.Fatal(err)
	}
	var originals []string // the items of the flag
	var counts []string    // of the guards: requests
	for _, item := range page.Items {
		pk, sk := fmt.Sprint(item["pk"]["S"]), fmt.Sprint(item["sk"]["S"])
		if pk == "FLAG#"+flag && sk == "FLAG" || sk == "FLAG#"+flag || pk == "USES" && sk == flag || sk == "USE#"+flag {
			originals = append(originals, encoded(t, item))
		}
		for count, value := range item {
			of, _, _ := strings.Cut(pk, "#")
			kind := strings.TrimRight(count, "0123456789")
			if value["N"] == nil || value["N"] == "0" || !strings.HasPrefix(sk, "GUARD") ||
				!slices.Contains([]string{"PROJECT active", "PROJECT type:release", "PROJECT day", "SEGMENT uses"}, of+" "+kind) {
				continue
			}
			counts = append(counts, fmt.Sprintf(`{"TableName":%q,"Key":{"pk":{"S":%q},"sk":{"S":%q}},"UpdateExpression":"ADD #c :n",`+
				`"ExpressionAttributeNames":{"#c":%q},"ExpressionAttributeValues":{":n":{"N":"%d"}}}`, store.Table(), pk, sk, count, len(names)))
		}
	}
	for _, body := range counts {
		Call(t, shared.URL(), "UpdateItem", body)
	}
	var group errgroup.Group
	group.SetLimit(4)
	for chunk := range slices.Chunk(names, 25/len(originals)) {
		group.Go(func() error {
			var puts []string
			for _, name := range chunk {
				for _, item := range originals {
					puts = append(puts, `{"PutRequest":{"Item":`+strings.ReplaceAll(item, flag, name)+`}}`)
				}
			}
			Call(t, shared.URL(), "BatchWriteItem", fmt.Sprintf(`{"RequestItems":{%q:[%s]}}`, store.Table(), strings.Join(puts, ",")))
			return nil
		})
	}
	_ = group.Wait() // call fails the test by itself
}

func encoded(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
