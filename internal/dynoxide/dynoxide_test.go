package dynoxide_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"guidon/internal/engine"
)

const table = `{"TableName":"things","BillingMode":"PAY_PER_REQUEST",
	"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"kind","AttributeType":"S"}],
	"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
	"GlobalSecondaryIndexes":[{"IndexName":"kinds","KeySchema":[{"AttributeName":"kind","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`

// TestAnswers holds the engine's answers, translated, to those of DynamoDB.
func TestAnswers(t *testing.T) {
	if name := os.Getenv("ENGINE"); name != "" && name != "dynoxide" {
		t.Setenv("ENGINE", "dynoxide")
	}
	e, err := engine.Start(t.Context(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Stop)
	tests := []struct {
		name, operation, body string
		status                int
		want                  []string
	}{
		{"table", "CreateTable", table, 200, []string{`"TableStatus"`, `"kinds"`}},
		{"table again", "CreateTable", table, 400, []string{"#ResourceInUseException"}},
		{"put", "PutItem", `{"TableName":"things","Item":{"pk":{"S":"<a & \"b\">\n"},"kind":{"S":"k"},"n":{"N":"1.50"}}}`, 200, []string{"{}"}},
		{"get", "GetItem", `{"TableName":"things","Key":{"pk":{"S":"<a & \"b\">\n"}},"ConsistentRead":true}`, 200, []string{`"n":{"N":"1.5"}`, `"<a & \"b\">\n"`}},
		{"get nothing", "GetItem", `{"TableName":"things","Key":{"pk":{"S":"none"}}}`, 200, []string{"{}"}},
		{
			"failed condition", "PutItem",
			`{"TableName":"things","Item":{"pk":{"S":"<a & \"b\">\n"}},"ConditionExpression":"attribute_not_exists(pk)"}`,
			400, []string{"#ConditionalCheckFailedException"},
		},
		{
			"canceled transaction", "TransactWriteItems",
			`{"ClientRequestToken":"1","TransactItems":[{"Put":{"TableName":"things","Item":{"pk":{"S":"new"}}}},
				{"ConditionCheck":{"TableName":"things","Key":{"pk":{"S":"none"}},"ConditionExpression":"attribute_exists(pk)"}}]}`,
			400, []string{"#TransactionCanceledException", `"CancellationReasons":[{"Code":"None"},{"Code":"ConditionalCheckFailed"}]`},
		},
		{
			"a request token", "TransactWriteItems",
			`{"ClientRequestToken":"2","TransactItems":[{"Put":{"TableName":"things","Item":{"pk":{"S":"x"}}}}]}`, 200, nil,
		},
		{ // an engine that kept the token would refuse it with other items
			"the request token again", "TransactWriteItems",
			`{"ClientRequestToken":"2","TransactItems":[{"Put":{"TableName":"things","Item":{"pk":{"S":"y"}}}}]}`, 200, nil,
		},
		{
			"query", "Query",
			`{"TableName":"things","IndexName":"kinds","KeyConditionExpression":"kind = :k","ExpressionAttributeValues":{":k":{"S":"k"}},"Limit":5}`,
			200, []string{`"Count":1`},
		},
		{
			"consistent query of an index", "Query",
			`{"TableName":"things","IndexName":"kinds","KeyConditionExpression":"kind = :k","ExpressionAttributeValues":{":k":{"S":"k"}},"ConsistentRead":true}`,
			400, []string{"#ValidationException", "consistent reads"},
		},
		{"unsupported member", "GetItem", `{"TableName":"things","Key":{"pk":{"S":"a"}},"AttributesToGet":["pk"]}`, 400, []string{"#ValidationException", "AttributesToGet"}},
		{"missing member", "GetItem", `{"TableName":"things"}`, 400, []string{"#ValidationException", "key"}},
		{"unknown table", "Scan", `{"TableName":"others"}`, 400, []string{"#ResourceNotFoundException"}},
		{"unsupported operation", "DeleteTable", `{"TableName":"things"}`, 400, []string{"#UnknownOperationException", "DeleteTable"}},
		{"no JSON", "ListTables", `things`, 400, []string{"#ValidationException"}},
		{"tables", "ListTables", `{}`, 200, []string{`{"TableNames":["things"]}`}},
	}
	for _, tt := range tests {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.URL(), strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+tt.operation)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != tt.status || !json.Valid(body) {
			t.Errorf("%s: %s %s, %v; want status %d", tt.name, resp.Status, body, err, tt.status)
		}
		for _, want := range tt.want {
			if !strings.Contains(string(body), want) {
				t.Errorf("%s: %s, want %s in it", tt.name, body, want)
			}
		}
	}
}
