package answers_test

import (
	"bytes"
	"net/url"
	"testing"
	"time"

	"guidon/pkg/answers"
	"guidon/pkg/shape"
)

// TestEmptyProperty checks that a context keeps a property that is empty, since REGEX distinguishes it from an absent one.
func TestEmptyProperty(t *testing.T) {
	for name, test := range map[string]struct {
		query url.Values
		body  string
	}{
		"query":          {url.Values{"properties[plan]": {""}}, ""},
		"query, unnamed": {url.Values{"plan": {""}}, ""},
		"body":           {nil, `{"context":{"properties":{"plan":"","other":null}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := answers.ReadContext(test.query, []byte(test.body))
			if err != nil {
				t.Fatal(err)
			}
			if plan, found := c.Properties["plan"]; !found || plan != "" || len(c.Properties) != 1 {
				t.Errorf("the properties are %q", c.Properties)
			}
		})
	}
}

// TestMappedCaller checks that a network of IPv4 contains a caller whose address a proxy has written in the form of IPv6.
func TestMappedCaller(t *testing.T) {
	office := answers.ClientFeature{Name: "office", Enabled: true, Strategies: []answers.ClientStrategy{{Name: "default",
		Constraints: []shape.Constraint{{ContextName: "remoteAddress", Operator: "IN_CIDR", Values: []string{"10.0.0.0/8"}}}}}}
	set, scope := newSet(1, []answers.ClientFeature{office}, nil), answers.Scope{All: true, Environment: "development"}
	for address, want := range map[string]bool{"10.0.0.1": true, "::ffff:10.0.0.1": true, "::ffff:11.0.0.1": false, "unknown": false} {
		c, err := answers.ReadContext(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := answers.NewResponder(answers.Options{}).Toggles(t.Context(), set, scope, c, answers.Request{RemoteAddress: address, Now: time.Unix(1, 0)})
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(response.Body, []byte(`"office"`)); got != want {
			t.Errorf("%s: got %t, want %t: %s", address, got, want, response.Body)
		}
	}
}
