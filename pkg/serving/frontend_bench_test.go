package serving

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"syscall"
	"testing"
	"time"

	"guidon/pkg/answers"
	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// manyFlags has flags with one constraint, a rollout of 50 % and two variants each.
func manyFlags(n int) *fixture {
	f := newFixture()
	f.next(func(s *State) {
		env := f.env("default", "development")
		for i := range n {
			name := fmt.Sprint("flag-", i)
			feature := flags.NewFeature(f.project("default"), name, flags.DefaultMetadata(), "test", testTime)
			feature.Environments = map[string]flags.FeatureEnvironment{"development": {
				EnvironmentState: flags.EnvironmentState{EnvironmentUID: env.UID, EnabledIn: env.Attachment.ID},
				Strategies: []flags.Strategy{{
					Name: "flexibleRollout", Parameters: map[string]string{"rollout": "50", "stickiness": "default", "groupId": name},
					Constraints: []flags.Constraint{{ContextName: "country", Operator: "IN", Values: []string{"de", "at", "ch"}}},
				}},
				Variants: flags.Distribute([]flags.Variant{
					{Name: "a", WeightType: flags.Variable, Stickiness: "default", Payload: &flags.Payload{Type: "string", Value: "blue"}},
					{Name: "b", WeightType: flags.Variable, Stickiness: "default"},
				}),
			}}
			s.Flags[name] = &Flag{Feature: feature, Changed: s.Number}
		}
	})
	return f
}

// BenchmarkFrontend evaluates 1,000 flags for a new user in each request. half of the flags are on.
func BenchmarkFrontend(b *testing.B) {
	for _, bb := range []struct {
		name, method, target string
		body                 func(user string) string
		headers              []string
	}{
		{name: "plain", method: "GET", target: "/api/frontend?properties[country]=de&userId=", headers: []string{"Authorization: frontend"}},
		{name: "gzip", method: "GET", target: "/api/frontend?properties[country]=de&userId=", headers: []string{"Authorization: frontend", "Accept-Encoding: gzip"}},
		{name: "304", method: "GET", target: "/api/frontend?properties[country]=de&userId=", headers: []string{"Authorization: frontend", "If-None-Match: *"}},
		{name: "ofrep", method: "POST", target: ofrepAll + "?", headers: []string{"Authorization: client"}, body: ofrepBody},
		{name: "ofrep-gzip", method: "POST", target: ofrepAll + "?", headers: []string{"Authorization: client", "Accept-Encoding: gzip"}, body: ofrepBody},
		{name: "ofrep-one", method: "POST", target: ofrepOne + "flag-7?", headers: []string{"Authorization: client"}, body: ofrepBody},
	} {
		b.Run(bb.name, func(b *testing.B) {
			h := manyFlags(1_000).handler(httpapi.Config{})
			size, started := 0, processorTime()
			b.ReportAllocs()
			for b.Loop() {
				user := strconv.Itoa(rand.Int())
				body := ""
				if bb.body != nil {
					body = bb.body(user)
				}
				w := call(h, bb.method, bb.target+user, body, bb.headers...)
				if w.Code >= 400 {
					b.Fatal(w.Code, w.Body)
				}
				size = w.Body.Len()
			}
			b.ReportMetric(float64(b.N)/(processorTime()-started).Seconds(), "requests/core-s")
			b.ReportMetric(float64(size), "bytes")
		})
	}
}

// processorTime is the time of the processors that the process took. Other programs on the machine do not count.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func ofrepBody(user string) string {
	return `{"context": {"targetingKey": "` + user + `", "country": "de"}}`
}

// BenchmarkCompile compiles 10,000 flags, and 10,000 of which one changed.
func BenchmarkCompile(b *testing.B) {
	f := manyFlags(10_000)
	environment := f.state.Environments.Find("development")
	responder := answers.NewResponder(answers.Options{})
	compile := func(s *sets) {
		responder.Evaluation(s.of(f.state, environment), answers.Scope{All: true}, &evaluate.Context{}, "flag-7", answers.Request{})
	}
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			compile(&sets{})
		}
	})
	kept := &sets{max: maxSets}
	b.Run("one", func(b *testing.B) {
		compile(kept)
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			f.add("default", "flag-7", nil)
			b.StartTimer()
			compile(kept)
		}
	})
}
