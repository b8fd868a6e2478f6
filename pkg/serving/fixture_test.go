package serving

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A fixture is a service with the project default, which has the environments development and production, and the project
// other, which has development.
type fixture struct {
	state *State
	store fixedSource
}

func newFixture() *fixture {
	environments := &flags.Environments{List: []flags.Environment{
		{Name: "development", UID: "development-uid"}, {Name: "production", UID: "production-uid"},
	}}
	project := func(id string, attached ...flags.Environment) *flags.Project {
		p := &flags.Project{ID: id, UID: id + "-uid"}
		for _, env := range attached {
			if err := p.Attach(env, id+"-"+env.Name); err != nil {
				panic(err)
			}
		}
		return p
	}
	f := &fixture{state: &State{
		Epoch: "epoch", Flags: map[string]*Flag{}, Segments: map[int64]*Segment{}, Environments: environments,
		Projects: map[string]*flags.Project{
			"default": project("default", environments.List...), "other": project("other", environments.List[0]),
		},
	}}
	f.store.state = f.state
	f.store.tokens = map[string]*access.Token{}
	for _, t := range []*access.Token{
		testToken(access.FrontendToken, "frontend", "development", f.project("default")),
		testToken(access.FrontendToken, "frontend-all", "development"),
		testToken(access.FrontendToken, "frontend-production", "production"),
		testToken(access.ClientToken, "client", "development", f.project("default")),
		testToken(access.AdminToken, "admin", flags.All),
		testToken(access.PersonalToken, "personal", flags.All),
	} {
		f.store.tokens[t.Hash] = t
	}
	return f
}

func (f *fixture) project(id string) *flags.Project { return f.state.Projects[id] }

// env is an environment of a project, as its flags have it.
func (f *fixture) env(project, name string) flags.ProjectEnvironment {
	return flags.ProjectEnvironment{Environment: *f.state.Environments.Find(name), Attachment: f.project(project).Environments[name]}
}

// next makes a new state with a change.
func (f *fixture) next(change func(s *State)) {
	s := *f.state
	s.Number++
	s.Flags, s.Segments, s.Projects = maps.Clone(s.Flags), maps.Clone(s.Segments), maps.Clone(s.Projects)
	change(&s)
	f.state, f.store.state = &s, &s
}

// add adds or replaces a flag that is on in development of its project.
func (f *fixture) add(project, name string, change func(*flags.Feature, *flags.FeatureEnvironment)) {
	f.next(func(s *State) {
		feature := flags.NewFeature(f.project(project), name, flags.DefaultMetadata(), "test", testTime)
		env := f.env(project, "development")
		fe := flags.FeatureEnvironment{EnvironmentState: flags.EnvironmentState{EnvironmentUID: env.UID, EnabledIn: env.Attachment.ID}}
		if change == nil {
			fe.Strategies = []flags.Strategy{{Name: "default"}}
		} else {
			change(feature, &fe)
		}
		feature.Environments = map[string]flags.FeatureEnvironment{"development": fe}
		s.Flags[name] = &Flag{Feature: feature.Served().(*flags.Feature), Changed: s.Number}
	})
}

// addStrategies adds a flag with strategies.
func (f *fixture) addStrategies(name string, strategies ...flags.Strategy) {
	f.add("default", name, func(_ *flags.Feature, fe *flags.FeatureEnvironment) { fe.Strategies = strategies })
}

// addEvaluated adds a flag as the evaluator has it.
func (f *fixture) addEvaluated(e evaluate.Flag) {
	f.add("default", e.Name, func(feature *flags.Feature, fe *flags.FeatureEnvironment) {
		feature.ImpressionData = e.ImpressionData
		if !e.Enabled {
			fe.EnabledIn = ""
		}
		for _, s := range e.Strategies {
			fe.Strategies = append(fe.Strategies, flags.Strategy{
				Name: s.Name, Parameters: s.Parameters, Segments: s.Segments,
				Constraints: domainConstraints(s.Constraints), Variants: domainVariants(s.Variants),
			})
		}
		fe.Variants = domainVariants(e.Variants)
		for _, d := range e.Dependencies {
			feature.Dependencies = append(feature.Dependencies, flags.Dependency{Feature: d.Feature, Enabled: d.Enabled == nil || *d.Enabled, Variants: d.Variants})
		}
	})
}

func (f *fixture) addSegment(e evaluate.Segment) {
	f.next(func(s *State) {
		segment := &flags.Segment{ID: e.ID, Name: fmt.Sprint("segment ", e.ID), Constraints: domainConstraints(e.Constraints)}
		s.Segments[e.ID] = &Segment{Segment: segment.Served().(*flags.Segment), Changed: s.Number}
	})
}

func domainConstraints(list []evaluate.Constraint) (result []flags.Constraint) {
	for _, c := range list {
		result = append(result, flags.Constraint{
			ContextName: c.ContextName, Operator: flags.Operator(c.Operator), Value: &c.Value, Values: c.Values,
			CaseInsensitive: c.CaseInsensitive, Inverted: c.Inverted,
		})
	}
	return result
}

func domainVariants(list []evaluate.Variant) (result []flags.Variant) {
	for _, v := range list {
		variant := flags.Variant{Name: v.Name, Weight: float64(v.Weight), Stickiness: v.Stickiness}
		if v.Payload != nil {
			variant.Payload = &flags.Payload{Type: v.Payload.Type, Value: v.Payload.Value}
		}
		for _, o := range v.Overrides {
			variant.Overrides = append(variant.Overrides, flags.Override{ContextName: o.ContextName, Values: o.Values})
		}
		result = append(result, variant)
	}
	return result
}

// handler serves the group frontend.
func (f *fixture) handler(config httpapi.Config) http.Handler {
	return httpapi.New(nil, FrontendGroup(&f.store, nil, config), config)
}

// call sends a request. Headers are "Name: value".
func call(h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// decoded returns the body of a response, which must have a status.
func decoded[T any](t *testing.T, w *httptest.ResponseRecorder, status int) (body T) {
	t.Helper()
	if w.Code != status {
		t.Fatalf("status %d, want %d: %.500s", w.Code, status, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatalf("%v in %.500s", err, w.Body)
	}
	return body
}
