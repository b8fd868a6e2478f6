package serving

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"guidon/pkg/answers"
	"guidon/pkg/httpapi"
)

// TestFrontendOverTable changes flags with the administration, and reads them through two instances, each with a memory of its
// own. Each change must be seen by the next request, in both.
func TestFrontendOverTable(t *testing.T) {
	a := administer(t, nil)
	var token struct{ Secret string }
	if err := json.Unmarshal([]byte(a.do("POST", "/api/admin/api-tokens",
		`{"type": "frontend", "tokenName": "page", "environment": "development", "projects": ["default"]}`)), &token); err != nil {
		t.Fatal(err)
	}
	var instances []http.Handler
	for range 2 {
		store := a.another(nil)
		instances = append(instances, httpapi.New(store, FrontendGroup(NewReader(store, ReaderOptions{}), store, httpapi.Config{}), httpapi.Config{}))
	}
	expect := func(what, want string) {
		t.Helper()
		for i, h := range instances {
			if got := on(t, h, "GET", "/api/frontend?userId=7", "", "Authorization: "+token.Secret); got != want {
				t.Errorf("%s: instance %d has %q on, want %q", what, i, got, want)
			}
			enabled := ""
			for _, f := range decoded[answers.OfrepBulk](t, call(h, "POST", ofrepAll, seven, "Authorization: Bearer "+token.Secret), 200).Flags {
				if f.Metadata.Enabled {
					if enabled != "" {
						enabled += " "
					}
					enabled += f.Key
				}
			}
			if enabled != want {
				t.Errorf("%s: OFREP of instance %d has %q on, want %q", what, i, enabled, want)
			}
		}
	}
	expect("no flags", "")
	a.flag("one")
	a.flag("two")
	expect("off", "")
	a.do("POST", in("one", "development")+"/on", "")
	a.do("POST", in("two", "production")+"/on", "")
	expect("on", "one")
	segment := a.segment("")
	a.do("POST", features, `{"name": "three"}`)
	a.do("POST", in("three", "development")+"/strategies", fmt.Sprintf(`{"name": "default", "segments": [%d]}`, segment))
	a.do("POST", in("three", "development")+"/on", "")
	expect("with a segment", "one three")
	a.do("PUT", fmt.Sprint("/api/admin/segments/", segment), `{"name": "seven", "constraints": [{"contextName": "userId", "operator": "IN", "values": ["8"]}]}`)
	expect("another segment", "one")
	a.do("DELETE", features+"/three", "")
	a.do("POST", in("two", "development")+"/on", "")
	expect("two", "one two")
	a.do("POST", features+"/two/dependencies", `{"feature": "one"}`)
	a.do("POST", in("one", "development")+"/off", "")
	expect("the parent is off", "")
	a.do("POST", in("one", "development")+"/on", "")
	expect("the parent is on", "one two")
	a.do("DELETE", features+"/two", "")
	expect("archived", "one")
	a.do("DELETE", "/api/admin/api-tokens/"+url.PathEscape(token.Secret), "")
	for i, h := range instances {
		if w := call(h, "GET", "/api/frontend", "", "Authorization: "+token.Secret); w.Code != 401 {
			t.Errorf("instance %d answers a deleted token with %d", i, w.Code)
		}
	}
}
