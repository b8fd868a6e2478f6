package dynamo

import (
	"errors"
	"fmt"
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

// TestResponsesAreClassified checks whether an error response means that the request is sent again.
func TestResponsesAreClassified(t *testing.T) {
	const namespace = "com.amazonaws.dynamodb.v20120810#"
	errorType := func(value string) map[string]string { return map[string]string{"X-Amzn-Errortype": value} }
	canceled := func(reasons string) string {
		return `{"__type":"` + namespace + `TransactionCanceledException","Message":"m","CancellationReasons":` + reasons + `}`
	}
	for _, c := range []struct {
		response
		want     result
		item     int
		conflict bool
	}{
		{response{400, nil, `{"__type":"` + namespace + `ProvisionedThroughputExceededException","message":"m"}`}, busy, 0, false},
		{response{400, nil, `{"__type":"ThrottlingException","Message":"m"}`}, busy, 0, false},
		{response{400, nil, `{"__type":"com.amazon.coral.availability#ThrottlingException:http://internal.amazon.com/coral/","message":"m"}`}, busy, 0, false},
		{response{400, nil, `{"code":"RequestLimitExceeded","message":"m"}`}, busy, 0, false},
		{response{400, errorType("ThrottlingException"), `{"message":"m"}`}, busy, 0, false},
		{response{400, errorType("com.amazon.coral.service#ExpiredTokenException:http://example.com/"), ``}, rejected, 0, false},
		{response{400, nil, `{"__type":"com.amazon.coral.service#ExpiredTokenException","message":"expired"}`}, rejected, 0, false},
		{response{400, nil, `{"__type":"` + namespace + `TransactionInProgressException","Message":"m"}`}, busy, 0, false},
		{response{400, nil, `{"__type":"` + namespace + `IdempotentParameterMismatchException","Message":"m"}`}, rejected, 0, false},
		{response{400, nil, `{"__type":"` + namespace + `TransactionConflictException","message":"m"}`}, busy, 0, true},
		{response{400, nil, canceled(`[{"Code":null},{"Code":"None"},{"Code":"ConditionalCheckFailed","Item":{"pk":{"S":"a"}},"Message":"failed"}]`)}, conditionFailed, 2, false},
		{response{400, nil, canceled(`[{"Code":"TransactionConflict"},{}]`)}, busy, 0, true},
		{response{400, nil, canceled(`[{"Code":"ValidationError"}]`)}, rejected, 0, false},
		{response{400, nil, canceled(`null`)}, busy, 0, false},
		{response{403, nil, `{}`}, rejected, 0, false},
		{response{403, nil, `<html>Forbidden</html>`}, unknown, 0, false},
		{response{400, nil, `{"__type":`}, unknown, 0, false},
		{response{429, nil, `{"__type":"ThrottlingException","message":"m"}`}, busy, 0, false},
		{response{500, nil, `{"__type":"` + namespace + `InternalServerError","message":"m"}`}, unknown, 0, false},
		{response{500, nil, ``}, unknown, 0, false},
		{response{502, nil, `<html>Bad gateway</html>`}, unknown, 0, false},
		{response{503, nil, `{"message":"Service Unavailable"}`}, unknown, 0, false},
		{response{404, nil, `{"__type":"` + namespace + `ResourceNotFoundException","message":"m"}`}, rejected, 0, false},
	} {
		store, _ := openScript(t, c.response)
		_, err := store.client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Delete: &types.Delete{TableName: &store.table, Key: itemKey{"a", "b"}.attributes()}},
		}}, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		if got, item := classify(err); got != c.want || item != c.item || isConflict(err) != c.conflict {
			t.Errorf("%d %v %s: result %d of item %d, a conflict: %t; want %d, %d, %t (%v)",
				c.status, c.header, c.body, got, item, isConflict(err), c.want, c.item, c.conflict, err)
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
		{"another time in each response", 0, 3, true, []response{{400, date(time.Hour), wrong}, {400, date(-time.Hour), wrong}}},
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
	if signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date")); err != nil || now.Sub(signed).Abs() > 4*time.Minute {
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

// TestUnusualResponses reads responses that DynamoDB may send but local engines do not, and those that come from elsewhere. None of
// them looks like an empty list.
func TestUnusualResponses(t *testing.T) {
	item := func(attribute string) string { return `{"pk":{"S":"USES"},"sk":{"S":"a"},` + attribute + `}` }
	const whole = `{"Items":[{"doc":{"S":"{\"feature\":\"whole\"}"}}],"Count":1}`
	for _, c := range []struct {
		name, body string
		want       string // the flag, or "again" if the request is sent again, or "error"
	}{
		{"unknown fields", `{"New":{"a":[[{"b":"}"}],1e40,"\ud834\udd1e"]},"Items":[{"new":{"BOOL":true},"doc":{"S":"{\"feature\":\"f\"}"}}]}`, "f"},
		{"escapes", `{"Items":[{"doc":{"S":"{\"feature\":\"\/\ud834\udd1e\u2028\"}"}}]}`, "/\U0001d11e\u2028"},
		{"a document of bytes", `{"Items":[` + item(`"doc":{"BOOL":true}`) + `]}`, "error"},
		{"a document that is null", `{"Items":[` + item(`"doc":{"NULL":true}`) + `]}`, "error"},
		{"a version with a fraction", `{"Items":[` + item(`"version":{"N":"1.5"}`) + `]}`, "error"},
		{"a huge version", `{"Items":[` + item(`"version":{"N":"9223372036854775808"}`) + `]}`, "error"},
		{"nothing", ``, "again"},
		{"null", `null`, "again"},
		{"only a count", `{"Count":0}`, "again"},
		{"null instead of a list", `{"Items":null}`, "again"},
		{"a list", `[]`, "again"},
		{"a number", `1`, "again"},
		{"a text", `"Items"`, "again"},
		{"an object of something else", `{"message":"ok"}`, "again"},
		{"a value that is not JSON", `{"Items":nothing}`, "again"},
		{"half of a list", `{"Items":[` + item(`"doc":{"S":"a"}`) + `,`, "again"},
		{"an item that is a text", `{"Items":["a"]}`, "again"},
		{"deep nesting", `{"Items":[],"x":` + strings.Repeat("[", 1_000_000), "again"},
		{"HTML", `<html></html>`, "again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, wire := openScript(t, response{200, nil, c.body}, response{200, nil, whole})
			got := ""
			err := store.EachUse(t.Context(), func(use flags.FeatureUse) (bool, error) { got += use.Feature; return true, nil })
			switch {
			case err != nil:
				got = "error"
				if flags.KindOf(err) != flags.Internal {
					t.Errorf("%v, want an internal error", err)
				}
			case wire.n == 2 && got == "whole":
				got = "again"
			}
			if got != c.want {
				t.Errorf("got %q after %d requests, %v; want %q", got, wire.n, err, c.want)
			}
		})
	}
}

// TestOtherItems reads a response with an item that was not requested.
func TestOtherItems(t *testing.T) {
	store, _ := openScript(t, response{200, nil, `{"Responses":{"t":[{"pk":{"S":"FLAG#b"},"sk":{"S":"FLAG"},"version":{"N":"1"},"doc":{"S":"{}"}}]}}`})
	if view, err := store.Load(t.Context(), []flags.Key{flags.FeatureKey("a")}); flags.KindOf(err) != flags.Internal || strings.Contains(fmt.Sprint(errors.Unwrap(err)), "FLAG#b") {
		t.Errorf("got %v and %v (%v), want an internal error, whose cause is logged and has no names", view, err, errors.Unwrap(err))
	}
}

// TestMalformedItem reads an item with an attribute that this package does not write. It is not read again and again.
func TestMalformedItem(t *testing.T) {
	store, wire := openScript(t, response{200, nil, `{"Items":[{"doc":{"BOOL":true},"version":{"N":"1"}}]}`})
	if _, err := store.Summaries(t.Context(), "p", false); flags.KindOf(err) != flags.Internal || wire.n != 1 {
		t.Errorf("%d requests, %v; want one, and an internal error", wire.n, err)
	}
}
