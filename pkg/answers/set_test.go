package answers_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/answers"
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// example returns flags with each part that responses contain, and segments.
func example() (features []answers.ClientFeature, segments []answers.ClientSegment) {
	description, number := "what it is for", "18"
	constraint := shape.Constraint{ContextName: "country", Operator: "IN", Values: []string{"NO"}}
	variants := []shape.Variant{
		{Name: "a", Weight: 500, WeightType: flags.Variable, Stickiness: "default", Payload: &shape.Payload{Type: "json", Value: `{"a":1}`}},
		{Name: "b", Weight: 500, WeightType: flags.Variable, Stickiness: "default", Overrides: []shape.Override{{ContextName: "userId", Values: []string{"7"}}}},
	}
	rollout := answers.ClientStrategy{
		Name: "flexibleRollout", Parameters: map[string]string{"rollout": "50", "stickiness": "userId", "groupId": "g"},
		Constraints: []shape.Constraint{{ContextName: "age", Operator: "NUM_GTE", Values: []string{}, Value: &number, Inverted: true}},
		Variants:    variants, Segments: []int64{1, 404},
	}
	everyone := answers.ClientStrategy{Name: "default", Constraints: []shape.Constraint{}, Parameters: map[string]string{}, Variants: []shape.Variant{}}
	inNorway := everyone
	inNorway.Segments = []int64{1}
	feature := func(name, project string, strategies ...answers.ClientStrategy) answers.ClientFeature {
		return answers.ClientFeature{
			Name: name, Type: flags.Release, Project: project, Enabled: true, Strategies: append([]answers.ClientStrategy{}, strategies...),
			Variants: []shape.Variant{},
		}
	}
	plain, child, off, other := feature("plain", "default", everyone), feature("child", "default", inNorway), feature("off", "default", rollout), feature("other", "other", everyone)
	plain.Description, plain.Variants, plain.Stale, plain.ImpressionData = &description, variants, true, true
	child.Dependencies = []shape.Dependency{{Feature: "plain", Enabled: true, Variants: []string{"b"}}}
	off.Enabled = false
	return []answers.ClientFeature{plain, child, off, other, feature("rollout", "default", rollout)},
		[]answers.ClientSegment{{ID: 1, Name: "norway", Constraints: []shape.Constraint{constraint}}}
}

// newSet returns a Set of flags whose projects are named by their IDs.
func newSet(number int64, features []answers.ClientFeature, segments []answers.ClientSegment) *answers.Set {
	changes := answers.Changes{}
	for _, f := range features {
		changes.Flags = append(changes.Flags, flagOf(f, number))
	}
	for _, s := range segments {
		changes.Segments = append(changes.Segments, &answers.Segment{ClientSegment: s, Changed: number})
	}
	return answers.NewSet("development").With(answers.Revision{Epoch: "e", Number: number}, changes)
}

func flagOf(f answers.ClientFeature, number int64) answers.Flag {
	return answers.Flag{
		Name: f.Name, Project: f.Project, ProjectUID: f.Project, Changed: number, Touched: number,
		Feature: func() answers.ClientFeature { return f },
	}
}

// responses returns the responses to requests of each kind.
func responses(t *testing.T, set *answers.Set, scope answers.Scope) map[string]answers.Response {
	t.Helper()
	r := answers.NewResponder(answers.Options{})
	all := map[string]answers.Response{}
	add := func(name string, response answers.Response, err error) {
		if err != nil {
			response = answers.Response{Body: []byte(err.Error())}
		}
		all[name] = response
	}
	for _, spec := range []string{"", "5.2.0"} {
		for _, text := range []string{"", "namePrefix=o", "project=other"} {
			query, err := answers.ParseQuery(text, spec)
			if err != nil {
				t.Fatal(err)
			}
			for name, q := range map[string]answers.Request{" plain": {}, " gzip": {Gzip: true}} {
				response, err := r.Features(set, scope, query, q)
				add("features "+spec+" "+text+name, response, err)
				response, err = r.Delta(set, scope, query, q)
				add("delta "+spec+" "+text+name, response, err)
			}
			for _, name := range []string{"child", "other", "nosuch"} {
				response, err := r.Feature(set, scope, query, name, answers.Request{})
				add("feature "+spec+name, response, err)
			}
		}
	}
	q := answers.Request{RemoteAddress: "10.0.0.1", Now: time.Unix(1, 0)}
	for _, user := range []string{"1", "2", "7"} {
		c, err := answers.ReadContext(url.Values{"userId": {user}, "sessionId": {"s"}, "country": {"NO"}, "age": {"17"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := r.Toggles(t.Context(), set, scope, c, q)
		add("frontend "+user, response, err)
		body := []byte(`{"context": {"targetingKey": "` + user + `", "sessionId": "s", "country": "NO", "age": 17}}`)
		if c, err = answers.ReadOFREPContext(body); err != nil {
			t.Fatal(err)
		}
		response, err = r.Evaluations(t.Context(), set, scope, c, body, "", q)
		add("ofrep "+user, response, err)
		one, _ := r.Evaluation(set, scope, c, "rollout", q)
		add("ofrep rollout "+user, one, nil)
	}
	return all
}

// TestSetOfAResponse makes a Set from a features response of another Set, as a program between applications and Guidon does. All
// responses are the same.
func TestSetOfAResponse(t *testing.T) {
	features, segments := example()
	origin := newSet(12, features, segments)
	everything := answers.Scope{All: true, Environment: "development"}
	query, err := answers.ParseQuery("", "5.2.0")
	if err != nil {
		t.Fatal(err)
	}
	response, err := answers.NewResponder(answers.Options{}).Features(origin, everything, query, answers.Request{})
	if err != nil {
		t.Fatal(err)
	}
	var read answers.ClientFeatures
	if err := json.Unmarshal(response.Body, &read); err != nil {
		t.Fatal(err)
	}
	if len(read.Features) != len(features) || len(read.Segments) != len(segments) {
		t.Fatalf("the response has %d flags and %d segments: %s", len(read.Features), len(read.Segments), response.Body)
	}
	copied := newSet(read.Meta.RevisionID, read.Features, read.Segments)
	for name, scope := range map[string]answers.Scope{
		"everything":  everything,
		"one project": {ProjectUIDs: []string{"default"}, ProjectIDs: []string{"default"}, Environment: "development"},
	} {
		if diff := cmp.Diff(responses(t, origin, scope), responses(t, copied, scope)); diff != "" {
			t.Errorf("%s: -origin +copy\n%s", name, diff)
		}
	}
}

// TestWith checks that a Set with changes has the responses of one that was made with them, and that the Set before stays as it was.
func TestWith(t *testing.T) {
	features, segments := example()
	scope := answers.Scope{All: true, Environment: "development"}
	old := newSet(12, features, segments)
	before := responses(t, old, scope)

	changed := slices.Clone(features)
	changed[0].Stale = false
	changed[1].Name = "new"
	segment := segments[0]
	segment.Constraints = []shape.Constraint{{ContextName: "country", Operator: "IN", Values: []string{"SE"}}}
	next := old.With(answers.Revision{Epoch: "e", Number: 13, Since: 13}, answers.Changes{
		Flags: []answers.Flag{flagOf(changed[0], 13), flagOf(changed[1], 13)}, RemovedFlags: []string{"child"},
		Segments: []*answers.Segment{{ClientSegment: segment, Changed: 13}},
	})
	made := newSet(13, changed, []answers.ClientSegment{segment})
	made = made.With(answers.Revision{Epoch: "e", Number: 13, Since: 13}, answers.Changes{})
	if diff := cmp.Diff(responses(t, made, scope), responses(t, next, scope)); diff != "" {
		t.Errorf("-made with the changes +changed\n%s", diff)
	}
	if diff := cmp.Diff(before, responses(t, old, scope)); diff != "" {
		t.Errorf("the Set before: -then +now\n%s", diff)
	}
	none := next.With(answers.Revision{Epoch: "e", Number: 14}, answers.Changes{RemovedSegments: []int64{1}})
	if diff := cmp.Diff(responses(t, newSet(14, changed, nil), scope), responses(t, none, scope)); diff != "" {
		t.Errorf("without the segment: -made +changed\n%s", diff)
	}
}

// TestCompression checks that a response that many callers get is clearly shorter than the fastest compression makes it.
func TestCompression(t *testing.T) {
	features, _ := example()
	for i := range 500 {
		f := features[i%len(features)]
		f.Name = fmt.Sprintf("flag-%d", i*7919)
		features = append(features, f)
	}
	set, scope, r := newSet(1, features, nil), answers.Scope{All: true, Environment: "development"}, answers.NewResponder(answers.Options{})
	for name, response := range map[string]func(answers.Request) (answers.Response, error){
		"features": func(q answers.Request) (answers.Response, error) { return r.Features(set, scope, answers.Query{}, q) },
		"delta":    func(q answers.Request) (answers.Response, error) { return r.Delta(set, scope, answers.Query{}, q) },
	} {
		plain, err := response(answers.Request{})
		if err != nil {
			t.Fatal(err)
		}
		well, err := response(answers.Request{Gzip: true})
		if err != nil {
			t.Fatal(err)
		}
		var fast bytes.Buffer
		w, _ := gzip.NewWriterLevel(&fast, gzip.BestSpeed)
		_, _ = w.Write(plain.Body)
		_ = w.Close()
		if len(well.Body) > fast.Len()*9/10 {
			t.Errorf("%s: %d bytes, want clearly less than %d", name, len(well.Body), fast.Len())
		}
	}
}
