package ingest

import (
	"testing"
	"unicode/utf8"

	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// FuzzBodies reads any text as each of the bodies: it is refused with an error for the caller, or what is stored of it is within
// the limits.
func FuzzBodies(f *testing.F) {
	for _, body := range []string{
		nodeRegister, pythonRegister, javaMetrics, browserMetrics, bulkMetricsOfEdge, "{", "\xff", `{"interval": 1e999}`, metricsOf(`"a": {"yes": "1e12", "variants": {"": null}}`),
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, content string) {
		fuzzBody[registerBody](t, content)
		fuzzBody[metricsBody](t, content)
		fuzzBody[bulkBody](t, content)
	})
}

func fuzzBody[B body](t *testing.T, content string) {
	var b B
	post := &usage.Post{}
	if err := read[B]([]byte(content), post, &sender{environment: "development"}); err != nil {
		if kind := flags.KindOf(err); kind != flags.Invalid {
			t.Errorf("%T %q: %v is no error for the caller", b, content, err)
		}
		return
	}
	name := func(text string, most int) {
		if !utf8.ValidString(text) || utf8.RuneCountInString(text) > most {
			t.Errorf("%T %q: stores %q", b, content, text)
		}
	}
	for _, i := range post.Instances {
		name(i.Application, usage.MaxName)
		name(i.Instance, usage.MaxName)
		name(i.Environment, usage.MaxName)
		if i.Application == "" || i.Environment == "" || i.Started.Year() < 1 || i.Started.Nanosecond()%1_000_000 != 0 || i.Started.Year() > 9999 {
			t.Errorf("%T %q: stores %+v", b, content, i)
		}
	}
	for _, c := range post.Counts {
		name(c.Feature, usage.MaxFeature)
		if c.Feature == "" || c.Application == "" || c.Environment != "development" || c.Yes < 0 || c.No < 0 || c.Yes > usage.MaxCount || c.No > usage.MaxCount {
			t.Errorf("%T %q: stores %+v", b, content, c)
		}
	}
}
