package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"guidon/internal/gateway"
	"guidon/internal/samples"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
)

// TestSamples checks that internal/samples has an event for every function, that API Gateway would send it to that function
// in this form, and that the function answers with the expected status.
func TestSamples(t *testing.T) {
	config, err := httpapi.ConfigFromEnv() // for the limits
	if err != nil {
		t.Fatal(err)
	}
	a := opened(t, config)
	template, _ := routes(t)
	without := map[string]bool{}
	for _, f := range template.Functions {
		without[f.Name] = true
	}
	for _, sample := range samples.Samples {
		if !without[sample.Function] {
			t.Errorf("%s has two samples, or is not a function of the template", sample.Function)
		}
		delete(without, sample.Function)
		if sample.Status == 0 {
			continue // make test-sam has its function run it
		}
		t.Run(sample.Function, func(t *testing.T) {
			raw, err := samples.Read(sample.Function)
			if err != nil {
				t.Fatal(err)
			}
			decoder := json.NewDecoder(strings.NewReader(string(raw)))
			decoder.DisallowUnknownFields()
			var event events.APIGatewayV2HTTPRequest
			if err := decoder.Decode(&event); err != nil {
				t.Fatal(err)
			}
			checkSample(t, a, template, sample, event)
		})
	}
	for name := range without {
		t.Errorf("%s has no sample", name)
	}
}

func checkSample(t *testing.T, a *app, template *gateway.Template, sample samples.Sample, event events.APIGatewayV2HTTPRequest) {
	t.Helper()
	request := httptest.NewRequest(event.RequestContext.HTTP.Method, event.RawPath, nil)
	router, err := gateway.NewRouter(template, func(_ http.ResponseWriter, r *http.Request, route *gateway.Route) {
		made, err := gateway.NewEvent(r, nil, route)
		if err != nil {
			t.Fatal(err)
		}
		if route.Function.Name != sample.Function || route.Key != event.RouteKey || route.Key != event.RequestContext.RouteKey {
			t.Errorf("the route is %q of %s; the sample has %q and %q", route.Key, route.Function.Name, event.RouteKey, event.RequestContext.RouteKey)
		}
		if diff := cmp.Diff(made.PathParameters, event.PathParameters); diff != "" {
			t.Errorf("path parameters (-API Gateway's +the sample's):\n%s", diff)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	router.ServeHTTP(httptest.NewRecorder(), request)
	if event.RequestContext.HTTP.Path != event.RawPath {
		t.Errorf("the path is %s in one place and %s in another", event.RawPath, event.RequestContext.HTTP.Path)
	}
	f, _ := a.find(request)
	response, err := lambdahttp.Handler(f.handler)(t.Context(), event)
	if err != nil || response.StatusCode != sample.Status {
		t.Errorf("the answer is %d %s, %v; want %d", response.StatusCode, response.Body, err, sample.Status)
	}
}
