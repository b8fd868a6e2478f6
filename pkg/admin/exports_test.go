package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// TestExportStopsEarly exports flags of which the first 100 are too large for a response. The others are not loaded. A caller
// that accepts a compressed response gets all of them.
func TestExportStopsEarly(t *testing.T) {
	count := &counter{}
	s := serve(t, func(config *httpapi.Config, transport *http.RoundTripper) {
		*transport = count
		config.Twice = nil // the second run would load all pages again
	})
	view, err := s.store.Load(t.Context(), []flags.Key{flags.ProjectKey("default"), flags.EnvironmentsKey()})
	if err != nil {
		t.Fatal(err)
	}
	p := flags.Find[*flags.Project](view, flags.ProjectKey("default"))
	env := p.AvailableEnvironments(flags.Find[*flags.Environments](view, flags.EnvironmentsKey()))[0]
	list := strings.Repeat("x", flags.MaxParameter)
	for i := range 350 { // directly in the store, which is faster
		f := flags.NewFeature(p, fmt.Sprintf("f%03d", i), flags.Metadata{Type: flags.Release}, "test", time.Now().UTC())
		if i < 100 {
			if err := f.AddStrategy(env, flags.Strategy{ID: "s", Name: "userWithId", Parameters: map[string]string{"userIds": list}}, flags.DefaultLimits()); err != nil {
				t.Fatal(err)
			}
		}
		change := flags.Change{Writes: []flags.Write{{After: f}}, Event: flags.Event{ID: fmt.Sprintf("0190-%d", i), Type: flags.FeatureCreated, FeatureName: f.Name}}
		if err := s.store.Commit(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	export := func(headers ...string) (got answer, loads int) {
		calls := count.during(func() { got = s.do(t, "POST", exportData, `{"environment":"development","features":[]}`, headers...) })
		for _, c := range calls {
			if c == "BatchGetItem" {
				loads++
			}
		}
		return got, loads
	}
	if got, loads := export("Accept-Encoding: identity"); got.status != 413 || loads != 2 {
		t.Errorf("%d %.200s after %d loads, want 413 after 2: the caller, and the first 100 flags", got.status, got.body, loads)
	}
	if got, loads := export("Accept-Encoding: gzip"); got.status != 200 || len(got.body) > 1<<20 || loads != 5 {
		t.Errorf("compressed: %d, %d bytes after %d loads, want 200 with less than 1 MiB after 5", got.status, len(got.body), loads)
	}
}
