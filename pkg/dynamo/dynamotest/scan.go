package dynamotest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"guidon/pkg/dynamo"
)

// Scan reads the whole table of a store directly from the engine. It returns the responses as text.
func Scan(t testing.TB, store *dynamo.Store) string {
	t.Helper()
	return scanAt(t, shared.URL(), store.Table())
}

// scanAt is Scan for a table of any engine.
func scanAt(t testing.TB, url, table string) string {
	t.Helper()
	var all strings.Builder
	for start := ""; ; {
		page := Call(t, url, "Scan", fmt.Sprintf(`{"TableName":%q,"ConsistentRead":true%s}`, table, start))
		items, last, more := strings.Cut(page, `"LastEvaluatedKey":`)
		all.WriteString(items)
		if !more {
			return all.String()
		}
		all.WriteString(`"more":true}`) // instead of the key, which is that of an item
		start = `,"ExclusiveStartKey":` + last[:strings.Index(last, "}}")+2]
	}
}

// Call sends a request to the engine at a URL, past the store, and returns its response. It fails the test unless the status is 200.
func Call(t testing.TB, url, operation, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	request.Header.Set("X-Amz-Date", time.Now().UTC().Format("20060102T150405Z"))
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", operation, response.StatusCode, page, err)
	}
	return string(page)
}
