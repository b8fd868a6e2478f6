package answers_test

import (
	"net/url"
	"testing"

	"guidon/pkg/answers"
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
