package serving

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"guidon/pkg/answers"
)

// TestSetOfAResponse makes a Set from the response of GET /api/client/features, as a program between applications and Guidon does.
// Its responses are those of Guidon.
func TestSetOfAResponse(t *testing.T) {
	w := recorded(t)
	c := w.client(w.token("t"))
	origin := c.get("/api/client/features", "t", "Unleash-Client-Spec", newSpec)
	var read answers.ClientFeatures
	if err := json.Unmarshal(origin.Body.Bytes(), &read); err != nil || len(read.Features) == 0 || len(read.Segments) == 0 {
		t.Fatalf("%v: %s", err, origin.Body)
	}
	var changes answers.Changes
	for _, f := range read.Features {
		changes.Flags = append(changes.Flags, answers.Flag{
			Name: f.Name, Project: f.Project, ProjectUID: f.Project, Feature: func() answers.ClientFeature { return f },
		})
	}
	for _, s := range read.Segments {
		changes.Segments = append(changes.Segments, &answers.Segment{ClientSegment: s})
	}
	set := answers.NewSet("development-uid").With(answers.Revision{Epoch: w.state.Epoch, Number: read.Meta.RevisionID}, changes)
	responder := answers.NewResponder(answers.Options{})
	scope := answers.Scope{All: true, Environment: "development"}
	check := func(name string, got answers.Response, err error, wantTag string, want []byte) {
		t.Helper()
		if err != nil || got.Status != http.StatusOK || got.Header.Get("ETag") != wantTag || !bytes.Equal(got.Body, want) {
			t.Errorf("%s: %v, %d with the ETag %s, want %s: %s\nwant %s", name, err, got.Status, got.Header.Get("ETag"), wantTag, got.Body, want)
		}
	}
	for _, spec := range []string{"", newSpec} {
		for _, text := range []string{"", "namePrefix=dif", "project=default"} {
			query, err := answers.ParseQuery(text, spec)
			if err != nil {
				t.Fatal(err)
			}
			want := c.get("/api/client/features?"+text, "t", "Unleash-Client-Spec", spec)
			got, err := responder.Features(set, scope, query, answers.Request{})
			check("features "+text+" "+spec, got, err, want.Header().Get("ETag"), want.Body.Bytes())
			want = c.get("/api/client/delta?"+text, "t")
			got, err = responder.Delta(set, scope, query, answers.Request{})
			check("delta "+text, got, err, want.Header().Get("ETag"), want.Body.Bytes())
		}
	}
	context := url.Values{"userId": {"7"}, "sessionId": {"s"}}
	a, found := newTokenScope(w.state, w.token("t"), "")
	if !found {
		t.Fatal("the token sees nothing")
	}
	kept := sets{max: maxSets}
	results := func(set *answers.Set, scope answers.Scope) answers.Response {
		user, err := answers.ReadContext(context, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := responder.Toggles(t.Context(), set, scope, user, answers.Request{})
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	want := results(kept.of(w.state, a.environment), a.scope)
	check("frontend", results(set, scope), nil, want.Header.Get("ETag"), want.Body)
}
