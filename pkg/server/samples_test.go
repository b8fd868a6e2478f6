package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"guidon/internal/samples"
	"guidon/pkg/httpapi"
)

// TestSamples checks that internal/samples has an event for every function, that API Gateway would send it to that function
// in this form, and that the function answers with the expected status.
func TestSamples(t *testing.T) {
	config, err := httpapi.ConfigFromEnv() // for the limits
	if err != nil {
		t.Fatal(err)
	}
	g := opened(t, config)

	parsed, err := readTemplate(templateFileName)
	if err != nil {
		t.Fatal(err)
	}
	without := map[string]bool{}
	for _, f := range parsed.functions {
		without[f.group] = true
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
			checkSample(t, g, sample, event)
		})
	}
	for group := range without {
		t.Errorf("%s has no sample", group)
	}
}

func checkSample(t *testing.T, g *gateway, sample samples.Sample, event events.APIGatewayV2HTTPRequest) {
	t.Helper()
	http := event.RequestContext.HTTP
	matched, parameters := g.routes.match(http.Method, event.RawPath)
	if matched.group != sample.Function || matched.key != event.RouteKey || matched.key != event.RequestContext.RouteKey {
		t.Errorf("%s %s goes to %s by %q; the sample is for %s, by %q and %q",
			http.Method, event.RawPath, matched.group, matched.key, sample.Function, event.RouteKey, event.RequestContext.RouteKey)
	}
	if diff := cmp.Diff(parameters, event.PathParameters); diff != "" {
		t.Errorf("path parameters (-API Gateway's +the sample's):\n%s", diff)
	}
	if http.Path != event.RawPath {
		t.Errorf("the path is %s in one place and %s in another", event.RawPath, http.Path)
	}
	response, err := matched.function.call(t.Context(), event)
	if err != nil || response.StatusCode != sample.Status {
		t.Errorf("the answer is %d %s, %v; want %d", response.StatusCode, response.Body, err, sample.Status)
	}
}
