package dynamo

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"guidon/pkg/flags"
)

// A script is a transport that sends one response after the other, and keeps the last request.
type script struct {
	responses []response
	request   *http.Request
	body      []byte
	n         int
}

type response struct {
	status int
	header map[string]string
	body   string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.request = r
	s.body, _ = io.ReadAll(r.Body)
	next := s.responses[min(s.n, len(s.responses)-1)]
	s.n++
	header := http.Header{}
	for name, value := range next.header {
		header.Set(name, value)
	}
	return &http.Response{
		StatusCode: next.status, Header: header, Request: r, ContentLength: int64(len(next.body)),
		Body: io.NopCloser(strings.NewReader(next.body)),
	}, nil
}

func openScript(t testing.TB, responses ...response) (*Store, *script) {
	t.Helper()
	wire := &script{responses: responses}
	store, err := Open(t.Context(), Options{Table: "t", Endpoint: "http://localhost:1", HTTPClient: &http.Client{Transport: wire}})
	if err != nil {
		t.Fatal(err)
	}
	return store, wire
}

// onlyOnce is a retryer that keeps the error of the first attempt.
type onlyOnce struct {
	attempts
	first error
}

func (o *onlyOnce) IsErrorRetryable(err error) bool { o.first = err; return false }

// TestErrorsAsBySDK compares how errors are understood on the short way and on the usual way of the SDK.
func TestErrorsAsBySDK(t *testing.T) {
	const namespace = "com.amazonaws.dynamodb.v20120810#"
	errorType := func(value string) map[string]string { return map[string]string{"X-Amzn-Errortype": value} }
	for _, r := range []response{
		{400, nil, `{"__type":"` + namespace + `ProvisionedThroughputExceededException","message":"m"}`},
		{400, nil, `{"__type":"ThrottlingException","Message":"m"}`},
		{400, nil, `{"__type":"com.amazon.coral.availability#ThrottlingException:http://internal.amazon.com/coral/","message":"m"}`},
		{400, nil, `{"code":"RequestLimitExceeded","message":"m"}`},
		{400, nil, `{"code":7,"message":"m"}`},
		{400, errorType("ThrottlingException"), `{"message":"m"}`},
		{400, errorType("com.amazon.coral.service#ExpiredTokenException:http://example.com/"), ``},
		{400, errorType("ThrottlingException"), `{"__type":"AccessDeniedException","message":"m"}`},
		{400, nil, `{"__type":"com.amazon.coral.service#ExpiredTokenException","message":"expired","Message":"twice"}`},
		{400, nil, `{"__type":"` + namespace + `TransactionInProgressException","Message":"m"}`},
		{400, nil, `{"__type":"` + namespace + `IdempotentParameterMismatchException","Message":"m"}`},
		{400, nil, `{"__type":"` + namespace + `TransactionConflictException","message":"m"}`},
		{400, nil, `{"__type":"` + namespace + `ValidationException","message":"` + "\xff" + `"}`},
		{400, nil, `{"__type":"` + namespace + `TransactionCanceledException","Message":"m","CancellationReasons":[{"Code":null},{"Code":"None","Message":null},` +
			`{"Code":"ConditionalCheckFailed","Item":{"pk":{"S":"a"},"m":{"M":{"x":{"NULL":true}}}},"Message":"The conditional request failed"}]}`},
		{400, nil, `{"__type":"` + namespace + `TransactionCanceledException","Message":"m","CancellationReasons":[{"Code":"TransactionConflict"},{}]}`},
		{400, nil, `{"__type":"` + namespace + `TransactionCanceledException","Message":"m","CancellationReasons":[{"Code":"ValidationError"}]}`},
		{400, nil, `{"__type":"` + namespace + `TransactionCanceledException","Message":"m","CancellationReasons":null}`},
		{400, nil, `{"__type":"` + namespace + `TransactionCanceledException"}`},
		{403, nil, ``},
		{403, nil, `{}`},
		{403, nil, `<html>Forbidden</html>`},
		{400, nil, `[]`},
		{400, nil, `{"__type":`},
		{413, nil, ``},
		{429, nil, ``},
		{429, nil, `{"__type":"ThrottlingException","message":"m"}`},
		{500, nil, `{"__type":"` + namespace + `InternalServerError","message":"m"}`},
		{500, nil, ``},
		{502, nil, `<html>Bad gateway</html>`},
		{503, nil, `{"message":"Service Unavailable"}`},
		{301, nil, ``},
		{404, nil, `{"__type":"` + namespace + `ResourceNotFoundException","message":"m"}`},
	} {
		store, _ := openScript(t, r)
		input := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("token"), TransactItems: []types.TransactWriteItem{
			{Delete: &types.Delete{TableName: &store.table, Key: itemKey{"a", "b"}.attributes()}},
		}}
		var bySDK, byShort onlyOnce
		_, _ = store.client.TransactWriteItems(t.Context(), input, func(o *dynamodb.Options) { o.Retryer = &bySDK })
		body, err := appendTransaction(nil, input)
		if err != nil {
			t.Fatal(err)
		}
		e := &exchange{operation: "TransactWriteItems", body: body, attempts: &attempts{}, read: checkObject}
		_, byShort.first = store.once(t.Context(), e, "http://localhost:1/", "")
		type understood struct {
			Result, Item  int
			Conflict      bool
			Code, Message string
		}
		understand := func(err error) understood {
			result, item := classify(err)
			u := understood{Result: int(result), Item: item, Conflict: isConflict(err)}
			if api, ok := errors.AsType[smithy.APIError](err); ok {
				u.Code, u.Message = api.ErrorCode(), api.ErrorMessage()
			}
			return u
		}
		if diff := cmp.Diff(understand(bySDK.first), understand(byShort.first)); diff != "" {
			t.Errorf("%d %v %s (-SDK +short way):\n%s\n%v\n%v", r.status, r.header, r.body, diff, bySDK.first, byShort.first)
		}
	}
}

// TestClock sends requests from a machine whose clock is wrong: the engine refuses them, and the Date of its response corrects it.
func TestClock(t *testing.T) {
	const wrong = `{"__type":"com.amazon.coral.service#InvalidSignatureException","message":"Signature expired"}`
	const items = `{"Items":[],"Count":0}`
	date := func(ahead time.Duration) map[string]string {
		return map[string]string{"Date": time.Now().Add(ahead).UTC().Format(http.TimeFormat)}
	}
	for _, c := range []struct {
		name     string
		ahead    time.Duration // of the time in the signature of the last request
		requests int
		rejected bool
		script   []response
	}{
		{"right", 0, 1, false, []response{{200, date(time.Minute), items}}},
		{"an hour behind", time.Hour, 2, false, []response{{400, date(time.Hour), wrong}, {200, date(time.Hour), items}}},
		{"an hour ahead", -time.Hour, 2, false, []response{{400, date(-time.Hour), wrong}, {200, date(-time.Hour), items}}},
		{"right, and the key is wrong", 0, 1, true, []response{{400, date(0), wrong}}},
		{"an hour behind, and the key is wrong", time.Hour, 2, true, []response{{400, date(time.Hour), wrong}}},
		{"another time in each response", 0, 2, true, []response{{400, date(time.Hour), wrong}, {400, date(-time.Hour), wrong}}},
		{"without a time", 0, 1, true, []response{{400, nil, wrong}}},
		{"not a time", 0, 1, true, []response{{400, map[string]string{"Date": "tomorrow"}, wrong}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, wire := openScript(t, c.script...)
			_, err := store.Summaries(t.Context(), "p", false)
			if wire.n != c.requests || c.rejected != (err != nil) || c.rejected && flags.KindOf(err) != flags.Internal {
				t.Fatalf("%d requests, %v; want %d, and rejected: %t", wire.n, err, c.requests, c.rejected)
			}
			signed, err := time.Parse("20060102T150405Z", wire.request.Header.Get("X-Amz-Date"))
			if c.name != "another time in each response" && (err != nil || time.Until(signed.Add(-c.ahead)).Abs() > time.Minute) {
				t.Errorf("the last request was signed at %v, %v", signed, err)
			}
		})
	}
}

// A distant is an engine whose clock is an hour ahead. It refuses requests that were signed by another clock, and answers the first
// ones only once all of them were sent.
type distant struct {
	together *sync.WaitGroup
	refused  atomic.Int64
}

func (d *distant) RoundTrip(r *http.Request) (*http.Response, error) {
	now := time.Now().Add(time.Hour)
	next := response{http.StatusOK, map[string]string{"Date": now.UTC().Format(http.TimeFormat)}, `{"Items":[],"Count":0}`}
	if signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date")); err != nil || now.Sub(signed).Abs() > tolerance {
		d.refused.Add(1)
		d.together.Done()
		d.together.Wait()
		next.status, next.body = http.StatusBadRequest, `{"__type":"com.amazon.coral.service#InvalidSignatureException"}`
	}
	return (&script{responses: []response{next}}).RoundTrip(r)
}

// TestClockOfParallelRequests sends several requests before the first response corrects the clock: all of them are signed again.
func TestClockOfParallelRequests(t *testing.T) {
	const requests = 4
	engine := &distant{together: &sync.WaitGroup{}}
	engine.together.Add(requests)
	store, err := Open(t.Context(), Options{Table: "t", Endpoint: "http://localhost:1", HTTPClient: &http.Client{Transport: engine}})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	for range requests {
		running.Go(func() {
			if _, err := store.Summaries(t.Context(), "p", false); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if n := engine.refused.Load(); n != requests {
		t.Errorf("%d requests were refused, want %d", n, requests)
	}
}

// TestUnusualResponses reads responses that DynamoDB may send but local engines do not, and those that come from elsewhere.
func TestUnusualResponses(t *testing.T) {
	item := func(attribute string) string { return `{"pk":{"S":"PROJECT#p"},"sk":{"S":"ROW#a"},` + attribute + `}` }
	for _, c := range []struct {
		name, body string
		want       string // the documents, and the key of the next page
		malformed  bool   // an error that no retry helps against
	}{
		{"unknown fields", `{"New":{"a":[[{"b":"}"}],1e400,"\ud834\udd1e"]},"Items":[],"Count":0}`, " ", false},
		{"only a count", `{"Count":0}`, " ", false},
		{"null instead of a list", `{"Items":null,"LastEvaluatedKey":null}`, " ", false},
		{"an empty key", `{"Items":[],"LastEvaluatedKey":{}}`, " ", false},
		{"escapes", `{"Items":[{"doc":{"S":"\u0000\/\ud834\udd1e\u2028\"\\"}}]}`, "\x00/\U0001d11e\u2028\"\\ ", false},
		{"a key of numbers", `{"Items":[],"LastEvaluatedKey":{"pk":{"N":"1"},"sk":{"N":"2"}}}`, "", true},
		{"a document of bytes", `{"Items":[` + item(`"doc":{"B":"YQ=="}`) + `]}`, "", true},
		{"a document that is null", `{"Items":[` + item(`"doc":{"NULL":true}`) + `]}`, " ", false},
		{"a version with a fraction", `{"Items":[` + item(`"version":{"N":"1.5"}`) + `]}`, "", true},
		{"a huge version", `{"Items":[` + item(`"version":{"N":"9223372036854775808"}`) + `]}`, "", true},
		{"nothing", ``, "error", false},
		{"null", `null`, "error", false},
		{"a list", `[]`, "error", false},
		{"a number", `1`, "error", false},
		{"a text", `"Items"`, "error", false},
		{"an object of something else", `{"message":"ok"}`, "error", false},
		{"a value that is not JSON", `{"Items":nothing}`, "error", false},
		{"two objects", `{"Items":[]}{"Items":[]}`, "error", false},
		{"half of a list", `{"Items":[` + item(`"doc":{"S":"a"}`) + `,`, "error", false},
		{"an item that is a text", `{"Items":["a"]}`, "error", false},
		{"an unpaired surrogate", `{"Items":[{"doc":{"S":"\ud800"}}]}`, "error", false},
		{"deep nesting", `{"Items":[],"x":` + strings.Repeat("[", 1_000_000), "error", false},
		{"HTML", `<html></html>`, "error", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			items, last, _, err := readPage([]byte(c.body))
			if result, _ := classify(err); c.malformed != (result == rejected) {
				t.Fatalf("%v, want an error that no retry helps against: %t", err, c.malformed)
			}
			if c.malformed {
				return
			}
			got := "error"
			if err == nil {
				got = ""
				for _, item := range items {
					got += item.Document
				}
				got += last.pk + " " + last.sk
			}
			if got != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

// TestOtherItems reads a response with an item that was not requested.
func TestOtherItems(t *testing.T) {
	store, _ := openScript(t, response{200, nil, `{"Responses":{"t":[{"pk":{"S":"FLAG#b"},"sk":{"S":"FLAG"},"version":{"N":"1"},"doc":{"S":"{}"}}]}}`})
	if view, err := store.Load(t.Context(), []flags.Key{flags.FeatureKey("a")}); flags.KindOf(err) != flags.Internal {
		t.Errorf("got %v and %v, want an internal error", view, err)
	}
}

// TestMalformedItem reads an item with an attribute that this package does not write. It is not read again and again.
func TestMalformedItem(t *testing.T) {
	store, wire := openScript(t, response{200, nil, `{"Items":[{"doc":{"B":"YQ=="},"version":{"N":"1"}}]}`})
	if _, err := store.Summaries(t.Context(), "p", false); flags.KindOf(err) != flags.Internal || wire.n != 1 {
		t.Errorf("%d requests, %v; want one, and an internal error", wire.n, err)
	}
}

// FuzzTransactionBody compares the bodies of transactions with those of the SDK.
func FuzzTransactionBody(f *testing.F) {
	for _, seed := range []string{"", "a\"b\\c/<>&'", "\x00\x1f\x7f\b\f\n\r\t", "\u2028\u2029\ufeff\ufffd", "\xff\xfe", "\xed\xa0\x80", "\U0001d11e", "a\xe2\x80"} {
		f.Add(seed, "name", int64(1))
	}
	store, wire := openScript(f, response{200, nil, "{}"})
	f.Fuzz(func(t *testing.T, value, name string, n int64) {
		input := &dynamodb.TransactWriteItemsInput{ClientRequestToken: &name, TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: &store.table, ConditionExpression: &value, Item: map[string]types.AttributeValue{
				"pk": text(value), "n": number(n), "b" + name: &types.AttributeValueMemberB{Value: []byte(value)}, "l": listOf(value, name, ""),
			}}},
			{Update: &types.Update{
				TableName: &name, Key: itemKey{value, name}.attributes(), UpdateExpression: &value,
				ExpressionAttributeNames: map[string]string{"#a": value, "#b": name}, ExpressionAttributeValues: map[string]types.AttributeValue{":a": text(value)},
			}},
		}}
		if name == "" { // the SDK sets an empty token
			input.ClientRequestToken = aws.String("token")
		}
		if _, err := store.client.TransactWriteItems(context.Background(), input); err != nil {
			t.Fatal(err)
		}
		var want, got any
		if err := json.Unmarshal(wire.body, &want); err != nil {
			t.Fatal(err)
		}
		if err := store.transact(context.Background(), input, &attempts{}); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(wire.body, &got); err != nil {
			t.Fatalf("%q: %v", wire.body, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the body differs from the one of the SDK (-SDK +short):\n%s", diff)
		}
	})
}
