package serving

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
)

// BenchmarkRequest measures a request of an application in an instance whose memory is up to date: 1,000 flags with a
// constraint and two variants each. It includes the event of API Gateway and the store, but not the engine: its answers are
// replayed.
//
//	go test ./pkg/serving -run '^$' -bench Request
func BenchmarkRequest(b *testing.B) {
	a := administer(b)
	for i := range 1000 {
		a.servedFlag(fmt.Sprintf("bench-flag-%d", i))
	}
	engine := &replay{answers: map[string]replayed{}}
	store := a.another(engine)
	reader := NewReader(store, ReaderOptions{})
	handlers := map[string]lambdahttp.EventHandler{
		"client":   lambdahttp.Handler(httpapi.New(store, ClientGroup(reader, nil, httpapi.Config{}), httpapi.Config{})),
		"frontend": lambdahttp.Handler(httpapi.New(store, FrontendGroup(reader, nil, httpapi.Config{}), httpapi.Config{})),
	}
	for _, bench := range []struct {
		name, group, path, query, token string
		unchanged                       bool
		want                            int
	}{
		{"poll304", "client", "/api/client/features", "", dynamotest.ClientToken, true, http.StatusNotModified},
		{"poll200", "client", "/api/client/features", "", dynamotest.ClientToken, false, http.StatusOK},
		{"frontend", "frontend", "/api/frontend", "appName=bench&userId=%d", dynamotest.FrontendToken, false, http.StatusOK},
	} {
		b.Run(bench.name, func(b *testing.B) {
			event := events.APIGatewayV2HTTPRequest{Version: "2.0", RawPath: bench.path, Headers: map[string]string{
				"authorization": bench.token, "accept-encoding": "gzip", "unleash-client-spec": "5.2.0", "host": "localhost",
			}}
			event.RequestContext.HTTP.Method, event.RequestContext.HTTP.Path = http.MethodGet, bench.path
			send := func(i int, want int) events.APIGatewayV2HTTPResponse {
				if bench.query != "" {
					event.RawQueryString = fmt.Sprintf(bench.query, i)
				}
				answer, err := handlers[bench.group](b.Context(), event)
				if err != nil || answer.StatusCode != want {
					b.Fatalf("%d %v %s", answer.StatusCode, err, answer.Body)
				}
				return answer
			}
			first := send(0, http.StatusOK)
			if bench.unchanged {
				event.Headers["if-none-match"] = first.Headers["Etag"]
			}
			b.ReportAllocs()
			b.ResetTimer()
			began := processorTime()
			for i := range b.N {
				send(i, bench.want)
			}
			b.ReportMetric(float64((processorTime()-began).Nanoseconds())/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(len(first.Body)), "bytes/answer")
		})
	}
}

// servedFlag creates a flag with a constraint and two variants, enabled in development.
func (a *administration) servedFlag(name string) {
	a.do("POST", features, fmt.Sprintf(`{"name": %q}`, name))
	a.do("POST", in(name, "development")+"/strategies", fmt.Sprintf(`{"name":"flexibleRollout",
		"parameters":{"rollout":"100","stickiness":"default","groupId":%q},
		"constraints":[{"contextName":"appName","operator":"IN","values":["web","bench"]}],
		"variants":[{"name":"blue","weight":500,"weightType":"variable","stickiness":"default","payload":{"type":"string","value":"b"}},
			{"name":"green","weight":500,"weightType":"variable","stickiness":"default","payload":{"type":"string","value":"g"}}]}`, name))
	a.do("POST", in(name, "development")+"/on", "")
}

// A replay answers a request that it has seen with the answer of the engine to the first one.
type replay struct {
	mu      sync.Mutex
	answers map[string]replayed
}

type replayed struct {
	response http.Response
	body     []byte
}

func (p *replay) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	key := r.Header.Get("X-Amz-Target") + string(body)
	p.mu.Lock()
	known, ok := p.answers[key]
	p.mu.Unlock()
	if !ok {
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		known.response = *response
		if known.body, err = io.ReadAll(response.Body); err != nil {
			return nil, err
		}
		p.mu.Lock()
		p.answers[key] = known
		p.mu.Unlock()
	}
	response := known.response
	response.Request, response.Body = r, io.NopCloser(bytes.NewReader(known.body))
	return &response, nil
}
