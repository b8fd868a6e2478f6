package admin_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// TestPolicies checks that no function may call more actions than its operations need, and so that functions share a role only if their
// rights are equal. It calls each operation once.
func TestPolicies(t *testing.T) {
	t.Parallel()
	var watch *apitest.IAM
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { watch = apitest.NewIAM(nil); *transport = watch })
	s.Unchecked = true // the outbox has an entry without an event
	for _, route := range routes(t) {
		on := newSubject(t, s)
		if prepare := preparations[route]; prepare != nil {
			prepare(t, s, &on)
		}
		s.Check(t, on.call(route))
	}
	beyondExamples(t, s)
	for _, group := range admin.Groups() {
		for _, op := range group.Operations {
			if op.Permission != "" {
				watch.Note(group.Function, "PutItem") // any request may record when its token was last used
			}
		}
	}
	for _, group := range admin.Groups() {
		if got, want := slices.Sorted(slices.Values(apitest.Allowed()[group.Function])), slices.Sorted(maps.Keys(watch.Used[group.Function])); !slices.Equal(got, want) {
			t.Errorf("the function %s may\n %s\nand its operations need\n %s", group.Function, strings.Join(got, " "), strings.Join(want, " "))
		}
	}
}

// beyondExamples calls operations in ways that need more actions than their examples.
func beyondExamples(t *testing.T, s *apitest.Server) {
	t.Helper()
	_, person := s.Person(t, access.RoleAdmin) // only a user has personal tokens, whose IDs come from a counter
	if got := s.Do(t, "POST", apitest.OwnTokens, `{"description":"d","expiresAt":"2100-01-01T00:00:00Z"}`, person); got.Status != 201 {
		t.Errorf("a personal token: %d %s", got.Status, got.Body)
	}

	on := newSubject(t, s) // a segment counts the strategies that use it
	newSegment(t, s, &on)
	strategies := apitest.In(on.flag, "development") + "/strategies"
	s.Must(t, "PUT", strategies+"/"+on.strategy, `{"segments":[`+on.segment+`]}`)
	s.Must(t, "PUT", strategies+"/"+on.strategy, `{"segments":[]}`)
	s.Must(t, "PUT", strategies+"/"+on.strategy, `{"segments":[`+on.segment+`]}`)
	s.Must(t, "POST", "/api/admin/features-batch/import", fmt.Sprintf(`{"project":"default","environment":"development","data":{
		"features":[{"name":%q}],"featureStrategies":[{"featureName":%[1]q,"name":"default"}]}}`, on.flag))

	newAddon(t, s, &on) // events that are parked can be sent again
	id, err := strconv.ParseInt(on.addon, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	entry := flags.OutboxEntry{Addon: id, ID: "0190163d-8694-739b-aea5-966c26f8ad90", Subject: "FLAG#" + on.flag, Version: 1}
	if err := s.Store.Park(t.Context(), entry, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := s.Must(t, "POST", on.fill(anAddon)+"/resend", ""); !strings.Contains(got.Body, `"resent":1`) {
		t.Errorf("nothing was sent again: %s", got.Body)
	}
}
