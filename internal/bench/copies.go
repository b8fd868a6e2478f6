package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"
)

// copyFlag copies the items of the first flag of cold.fill, which has to exist, until there are so many flags. The copies are
// written in batches, because transactions would take too long. They have no history.
func copyFlag(ctx context.Context, table http.Handler, size int) error {
	name := coldFlag(0)
	flag, err := itemsOf(ctx, table, "pk = :pk AND sk = :sk", map[string]any{":pk": text("FLAG#" + name), ":sk": text("FLAG")})
	if err != nil {
		return err
	}
	var document struct{ ProjectUID string }
	if len(flag) != 1 || json.Unmarshal([]byte(textOf(flag[0]["doc"])), &document) != nil {
		return fmt.Errorf("there is no flag %q to copy", name)
	}
	project := "PROJECT#" + document.ProjectUID
	row, err := itemsOf(ctx, table, "pk = :pk AND sk = :sk", map[string]any{":pk": text(project), ":sk": text("FLAG#" + name)})
	if err != nil || len(row) != 1 {
		return fmt.Errorf("the flag %q has %d rows: %w", name, len(row), err)
	}
	numbers := make(chan []int)
	failures := make(chan error, 4)
	var wg sync.WaitGroup
	for range cap(failures) {
		wg.Go(func() {
			for batch := range numbers {
				var puts []any
				for _, i := range batch {
					puts = append(puts, put(flag[0], i), put(row[0], i))
				}
				if err := tableCall(ctx, table, "BatchWriteItem", map[string]any{"RequestItems": map[string]any{coldTable: puts}}, nil); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	all := slices.Collect(rangeTo(size))[1:]
	var failed error
	for batch := range slices.Chunk(all, 12) { // a batch has at most 25 items
		select {
		case numbers <- batch:
		case failed = <-failures:
		}
		if failed != nil {
			break
		}
	}
	close(numbers)
	wg.Wait()
	if failed == nil && len(failures) > 0 {
		failed = <-failures
	}
	if failed != nil {
		return failed
	}
	return tableCall(ctx, table, "UpdateItem", map[string]any{
		"TableName": coldTable, "Key": map[string]any{"pk": text(project), "sk": text("GUARD#00")}, "UpdateExpression": "ADD active :n",
		"ExpressionAttributeValues": map[string]any{":n": map[string]string{"N": fmt.Sprint(len(all))}},
	}, nil)
}

var description = regexp.MustCompile(`page [0-9a-f-]{36}`)

// put writes a copy of an item, with another name and description.
func put(item map[string]any, i int) any {
	copied := map[string]any{}
	for name, value := range item {
		if is := textOf(value); is != "" {
			is = strings.ReplaceAll(is, coldFlag(0), coldFlag(i))
			value = text(description.ReplaceAllString(is, "page "+uuid.NewString()))
		}
		copied[name] = value
	}
	return map[string]any{"PutRequest": map[string]any{"Item": copied}}
}

func text(s string) map[string]any { return map[string]any{"S": s} }

func textOf(value any) string {
	typed, _ := value.(map[string]any)
	s, _ := typed["S"].(string)
	return s
}

func itemsOf(ctx context.Context, table http.Handler, condition string, values map[string]any) ([]map[string]any, error) {
	var out struct{ Items []map[string]any }
	err := tableCall(ctx, table, "Query", map[string]any{
		"TableName": coldTable, "ConsistentRead": true, "KeyConditionExpression": condition, "ExpressionAttributeValues": values,
	}, &out)
	return out.Items, err
}

// tableCall calls the engine directly.
func tableCall(ctx context.Context, table http.Handler, operation string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(string(body)))
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	w := httptest.NewRecorder()
	table.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		return fmt.Errorf("%s: status %d: %.300s", operation, w.Code, w.Body)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(w.Body.Bytes(), out)
}
