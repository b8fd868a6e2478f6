package dynamo

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"guidon/pkg/flags"
	"guidon/pkg/flags/storetest"
)

// FuzzScanner checks that the scanner reads any JSON string as package json does, and that it ends with an error, and not with a
// panic, if it is given anything else.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{`"a\"b\\c"`, `"\u00e9\ud834\udd1e\n"`, `"`, `"\`, `{"a":[1,{"b":null}],"c":"}"}`, `[[[`, `{"Items":[{"doc":{"S":"{}"},"version":{"N":"x"}}]}`,
		`{"format":1,"feature":"f","archived":true,"strategies":[{"id":"s","segments":[7],"fields":["userId"]}]}`, ``} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		s := &scanner{json: input}
		s.skip()
		if err := s.end(); json.Valid([]byte(input)) && err != nil {
			t.Errorf("%q is valid JSON, and cannot be skipped: %v", input, err)
		}
		quoted, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		var want string
		if err := json.Unmarshal(quoted, &want); err != nil {
			t.Fatal(err)
		}
		s = &scanner{json: " " + string(quoted) + " "}
		if got := s.text(); s.end() != nil || got != want {
			t.Errorf("%s is read as %q, %v; want %q", quoted, got, s.err, want)
		}
		_, _, _, _ = readPage([]byte(input)) // must end
		_, _, _ = readBatch([]byte(input))
		if row, err := readRow(input); err == nil {
			var same rowDocument
			if err := decode(input, &same); err == nil && !cmp.Equal(row, same.summary(), cmpopts.EquateEmpty()) {
				t.Errorf("%s is read as\n%+v\nand decoded as\n%+v", input, row, same.summary())
			}
		}
		if use, err := readUse(input); err == nil {
			var same useDocument
			if err := decode(input, &same); err == nil && !cmp.Equal(use, same.use(0), cmpopts.EquateEmpty()) {
				t.Errorf("%s is read as\n%+v\nand decoded as\n%+v", input, use, same.use(0))
			}
		}
	})
}

// TestReadRow compares what is read of random list rows with what package json decodes.
func TestReadRow(t *testing.T) {
	full := storeRow(storetest.FullFeature().Summary())
	rapid.Check(t, func(t *rapid.T) {
		doc := full
		doc.Name, doc.Project = rapid.String().Draw(t, "name"), rapid.String().Draw(t, "project")
		doc.Description = rapid.Ptr(rapid.String(), true).Draw(t, "description")
		doc.Stale, doc.ImpressionData, doc.Archived = rapid.Bool().Draw(t, "stale"), rapid.Bool().Draw(t, "data"), rapid.Bool().Draw(t, "archived")
		doc.Favorites = rapid.SliceOf(rapid.String()).Draw(t, "favorites")
		doc.Relation = flags.Relation(rapid.String().Draw(t, "relation"))
		if rapid.Bool().Draw(t, "bare") {
			doc = rowDocument{Format: format, Name: doc.Name, CreatedAt: doc.CreatedAt}
		}
		document, err := encode(doc)
		if err != nil {
			t.Skip("not valid UTF-8") // DynamoDB does not store it either
		}
		var want rowDocument
		if err := decode(document, &want); err != nil {
			t.Fatal(err)
		}
		got, err := readRow(document)
		if diff := cmp.Diff(want.summary(), got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: %v (-decoded +read):\n%s", document, err, diff)
		}
	})
}

// TestReadUse compares what is read of random uses with what package json decodes.
func TestReadUse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		doc := useDocument{
			Format: format, Feature: text.Draw(t, "feature"), Project: text.Draw(t, "project"), ProjectUID: text.Draw(t, "uid"), Archived: rapid.Bool().Draw(t, "archived"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "strategies") {
			doc.Strategies = append(doc.Strategies, strategyUseDocument{
				ID: text.Draw(t, "id"), Name: text.Draw(t, "name"), Environment: text.Draw(t, "environment"), EnvironmentUID: text.Draw(t, "environment UID"),
				Segments: rapid.SliceOf(rapid.Int64()).Draw(t, "segments"), ContextFields: rapid.SliceOf(text).Draw(t, "fields"),
			})
		}
		document, err := encode(doc)
		if err != nil {
			t.Skip("not valid UTF-8") // DynamoDB does not store it either
		}
		var want useDocument
		if err := decode(document, &want); err != nil {
			t.Fatal(err)
		}
		got, err := readUse(document)
		if diff := cmp.Diff(want.use(0), got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: %v (-decoded +read):\n%s", document, err, diff)
		}
	})
}

// TestReadBatch reads a response with an item, a feed, and keys that were not processed.
func TestReadBatch(t *testing.T) {
	items, unprocessed, err := readBatch([]byte(`{"ConsumedCapacity":[{"TableName":"t","CapacityUnits":1.5}],
		"Responses":{"t":[
			{"version":{"N":"12"},"doc":{"S":"{\"a\":\"\\u00e9\"}"},"pk":{"S":"FLAG#a"},"sk":{"S":"FLAG"},"new":{"M":{"x":{"BOOL":true}}}},
			{"pk":{"S":"FEED"},"sk":{"S":"FEED"},"n":{"N":"7"},"recent":{"L":[{"S":"F1:a"},{"S":"F2:a"}]},"earlier":{"L":[]}}]},
		"UnprocessedKeys":{"t":{"ConsistentRead":true,"Keys":[{"sk":{"S":"FLAG"},"pk":{"S":"FLAG#b"}}]}}}`))
	want := []envelope{
		{PK: "FLAG#a", SK: "FLAG", Version: 12, Document: `{"a":"\u00e9"}`},
		{PK: "FEED", SK: "FEED", feedAttributes: feedAttributes{Number: 7, Recent: []string{"F1:a", "F2:a"}}},
	}
	if diff := cmp.Diff(want, items, cmp.AllowUnexported(envelope{}), cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if len(unprocessed) != 1 || unprocessed[0] != (itemKey{"FLAG#b", "FLAG"}) {
		t.Errorf("not processed: %q", unprocessed)
	}
}

// sent keeps the body of a request.
type sent struct{ body []byte }

func (s *sent) RoundTrip(r *http.Request) (*http.Response, error) {
	s.body, _ = io.ReadAll(r.Body)
	return cannedResponse("{}").Do(r)
}

// TestTransactionBody compares the body of a transaction with the one that the SDK sends.
func TestTransactionBody(t *testing.T) {
	wire := &sent{}
	store, err := Open(t.Context(), Options{Table: "t", Endpoint: "http://localhost:1", HTTPClient: &http.Client{Transport: wire}})
	if err != nil {
		t.Fatal(err)
	}
	key := itemKey{"FLAG#\"ä\\\n\u2028", "FLAG"}.attributes()
	input := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("token"), TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{
			TableName: &store.table, Item: map[string]types.AttributeValue{
				"pk": text("a"), "n": number(-3), "yes": &types.AttributeValueMemberBOOL{Value: true}, "none": &types.AttributeValueMemberNULL{Value: true},
				"bytes": &types.AttributeValueMemberB{Value: []byte{0, 255, 7}}, "list": listOf("x", "y"),
			}, ConditionExpression: aws.String("attribute_not_exists(pk)"),
		}},
		{Update: &types.Update{
			TableName: &store.table, Key: key, UpdateExpression: aws.String("ADD n :one"), ConditionExpression: aws.String("#v = :one"),
			ExpressionAttributeNames: map[string]string{"#v": "version"}, ExpressionAttributeValues: map[string]types.AttributeValue{":one": number(1)},
		}},
		{Delete: &types.Delete{TableName: &store.table, Key: key}},
	}}
	if _, err := store.client.TransactWriteItems(context.Background(), input); err != nil {
		t.Fatal(err)
	}
	bySDK := wire.body
	if err := store.transact(t.Context(), input, &attempts{}); err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := json.Unmarshal(bySDK, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(wire.body, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the body differs from the one of the SDK (-SDK +short):\n%s", diff)
	}
}
