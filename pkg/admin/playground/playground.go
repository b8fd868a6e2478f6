// Package playground evaluates flags for contexts that a user makes up, and shows the result of each strategy, segment and
// constraint. The responses have the form that Unleash's playground returns.
package playground

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	"guidon/pkg/access"
	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// Group is the operations of this package.
//
// Cost: the list rows of the projects are read, one query a project and megabyte, then each flag, a hundred a call, and the
// segments if a strategy uses some.
func Group() httpapi.Group {
	const path = "/api/admin/playground"
	ahead := []flags.Key{flags.EnvironmentsKey()}
	return httpapi.Group{Name: "playground", Function: "insight", Operations: []httpapi.Operation{
		{Route: "POST " + path, Permission: access.Read, Ahead: ahead, Handle: httpapi.HandleBody(evaluateFlags)},
		{Route: "POST " + path + "/advanced", Permission: access.Read, Ahead: ahead, Handle: httpapi.HandleBody(evaluateCombinations)},
	}}
}

const (
	// MaxResults is how many results one response can contain: flags × environments × contexts. It is Unleash's limit.
	MaxResults = 15_000

	// maxAnswer is the largest response to a caller that accepts a compressed one, in bytes of JSON. For others it is
	// httpapi.MaxAnswer.
	maxAnswer = 32 << 20
)

// evaluateFlags evaluates flags in one environment for one context.
func evaluateFlags(tx *httpapi.Tx, _ httpapi.InService, in playgroundBody) (playgroundView, error) {
	view := playgroundView{Features: []playgroundFeature{}, Input: playgroundInput{in.Environment, in.Projects.sent, in.Context.sent}, Warnings: in.Context.warnings()}
	r := &runner{tx: tx, only: in.Feature.Value, environments: []string{in.Environment}, path: func(int) string { return "/environment" }}
	err := r.run(in.Projects, []map[string]string{in.Context.fields}, func(_ *flags.Feature, results []result) {
		view.Features = append(view.Features, results[0].feature)
	})
	return view, err
}

// evaluateCombinations evaluates flags in several environments, for each combination of the values between commas.
func evaluateCombinations(tx *httpapi.Tx, _ httpapi.InService, in advancedPlaygroundBody) (advancedPlaygroundView, error) {
	view := advancedPlaygroundView{
		Features: []advancedPlaygroundFeature{}, Input: advancedPlaygroundInput{in.Environments, in.Projects.sent, in.Context.sent},
		Warnings: in.Context.warnings(),
	}
	r := &runner{tx: tx, environments: in.Environments, path: func(i int) string { return "/environments/" + strconv.Itoa(i) }}
	err := r.run(in.Projects, in.Context.combinations(), func(f *flags.Feature, results []result) {
		feature := advancedPlaygroundFeature{f.Name, f.Project, map[string][]playgroundEnvironmentFeature{}}
		for _, r := range results {
			feature.Environments[r.environment] = append(feature.Environments[r.environment], playgroundEnvironmentFeature{r.feature, r.environment, r.context})
		}
		view.Features = append(view.Features, feature)
	})
	return view, err
}

// A result is how a flag evaluates in an environment for a context.
type result struct {
	environment string
	context     map[string]string
	feature     playgroundFeature
}

// A runner evaluates the flags of a request.
type runner struct {
	tx           *httpapi.Tx
	only         string // the name of the only flag to evaluate; "" for all
	environments []string
	path         func(i int) string        // where the body has an environment
	projects     map[string]*flags.Project // by UID
	features     []*flags.Feature          // active ones, by name
	segments     map[int64]*flags.Segment  // those that strategies of the flags use; nil for those that do not exist
}

// run evaluates the active flags of projects, by name, and hands the results of each flag to add.
func (r *runner) run(in projectsBody, contexts []map[string]string, add func(f *flags.Feature, results []result)) error {
	projects, err := r.findProjects(in)
	if err != nil {
		return err
	}
	names := r.names(projects)
	if n := len(names) * len(r.environments) * len(contexts); n > MaxResults {
		return flags.Errorf(flags.Invalid, "this would be %d results, of %d flags in %d environments for %d contexts, and at most %d are allowed; "+
			"name fewer projects, environments or context values", n, len(names), len(r.environments), len(contexts), MaxResults)
	}
	if err := r.loadFlags(names, len(contexts)); err != nil {
		return err
	}
	r.loadSegments()
	return r.evaluate(contexts, add)
}

// names returns the names of the flags to load: those of the projects, or the only one and its parents.
func (r *runner) names(projects []*flags.Project) (names []string) {
	if r.only != "" {
		names = append(names, r.only)
		if f := r.tx.FindFeature(r.only); f != nil {
			for _, d := range f.Dependencies {
				names = append(names, d.Feature)
			}
		}
		return names
	}
	for _, rows := range r.tx.SummariesOf(projects, false) {
		for _, row := range rows {
			names = append(names, row.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names) // a flag that is moved while the projects are read can be in two of the lists
}

// findProjects returns the projects whose flags are evaluated. Invalid if the body names an environment or a project that
// does not exist, since the response would look as if all flags were off.
func (r *runner) findProjects(in projectsBody) ([]*flags.Project, error) {
	var problems flags.Problems
	for i, name := range r.environments {
		if r.tx.Environments().Find(name) == nil {
			problems.Add(r.path(i), "there is no environment %q", jsonbody.Shorten(name))
		}
	}
	projects := []*flags.Project{}
	if in.all() {
		projects = r.tx.Projects()
	} else {
		r.tx.Load(httpapi.ProjectKeys(in.ids...)...)
		for i, id := range in.ids {
			if p := r.tx.FindProject(id); p != nil {
				projects = append(projects, p)
			} else {
				problems.Add("/projects/"+strconv.Itoa(i), "there is no project %q", jsonbody.Shorten(id))
			}
		}
	}
	r.projects = map[string]*flags.Project{}
	for _, p := range projects {
		r.projects[p.UID] = p
	}
	return projects, problems.Err()
}

// loadFlags loads flags, with what they have in the environments.
func (r *runner) loadFlags(names []string, contexts int) error {
	r.segments = map[int64]*flags.Segment{}
	size := 0
	return r.tx.Pages(httpapi.FeatureKeys(names...), func(keys []flags.Key, found flags.View) error {
		for _, key := range keys {
			f := flags.Find[*flags.Feature](found, key)
			if f == nil || f.Archived || r.projects[f.ProjectUID] == nil {
				continue // changed since the list was read
			}
			f = f.Clone()
			maps.DeleteFunc(f.Environments, func(name string, _ flags.FeatureEnvironment) bool { return !slices.Contains(r.environments, name) })
			for _, fe := range f.Environments {
				size += fe.Size()
				for _, s := range fe.Strategies {
					for _, id := range s.Segments {
						r.segments[id] = nil
					}
				}
			}
			r.features = append(r.features, f)
		}
		return r.checkSize(size * contexts) // the response repeats it for each context
	})
}

// loadSegments loads the segments after the flags, so that the list has all segments that they use.
func (r *runner) loadSegments() {
	if len(r.segments) == 0 {
		return
	}
	for _, s := range r.tx.Segments() {
		if _, used := r.segments[s.ID]; used {
			r.segments[s.ID] = s
		}
	}
}

// checkSize returns TooLarge if a response of that many bytes of JSON is too large for the caller.
func (r *runner) checkSize(size int) error {
	const advice = "name fewer projects, environments or context values"
	switch {
	case size > maxAnswer:
		return flags.Errorf(flags.TooLarge, "the response would be larger than %d MiB; %s", maxAnswer>>20, advice)
	case size > httpapi.MaxAnswer && !r.tx.AcceptsGzip():
		return flags.Errorf(flags.TooLarge, "the response would be larger than the 6 MB that Lambda can return; accept a compressed one (Accept-Encoding: gzip), or %s", advice)
	}
	return nil
}

// maxWork is the most work for all contexts and environments of a request: about half a second.
const maxWork = 10 * evaluate.MaxWork

// evaluate evaluates all flags.
func (r *runner) evaluate(contexts []map[string]string, add func(f *flags.Feature, results []result)) error {
	sets := map[string]*evaluate.Set{}
	for _, name := range r.environments {
		sets[name] = r.compile(name)
	}
	seed, _ := strconv.ParseUint(r.tx.Random()[:16], 16, 64)
	random := rand.New(rand.NewPCG(seed, 0))           //nolint:gosec // G404: it is no secret which result is drawn
	evaluations := map[string][]*evaluate.Evaluation{} // of each environment, by context
	for name, set := range sets {
		evaluations[name] = httpapi.Each(contexts, func(fields map[string]string) *evaluate.Evaluation {
			c := contextOf(fields)
			c.Now, c.Random = r.tx.Now, random.Uint32N
			return set.For(c)
		})
	}
	size, work := 0, 0
	for _, f := range r.features {
		if r.only != "" && f.Name != r.only {
			continue
		}
		var results []result
		for _, environment := range r.environments {
			fe, enabled := r.configuration(f, environment)
			for i, e := range evaluations[environment] {
				r.tx.CheckTime()
				before := e.Work()
				trace := e.Trace(f.Name)
				if work += e.Work() - before; e.Exhausted() || work > maxWork {
					return flags.Errorf(flags.Invalid, "it takes too much work to compare the values of the contexts with all constraints; shorten the long ones, or evaluate fewer flags at once")
				}
				one := result{environment, contexts[i], r.view(f, environment, fe, enabled, trace)}
				results = append(results, one)
				size += httpapi.JSONSize(one.feature) + httpapi.JSONSize(one.context)
				if err := r.checkSize(size); err != nil {
					return err
				}
			}
		}
		add(f, results)
	}
	return nil
}

// compile returns the flags as the evaluator takes them.
func (r *runner) compile(environment string) *evaluate.Set {
	var list []evaluate.Flag
	for _, f := range r.features {
		fe, enabled := r.configuration(f, environment)
		list = append(list, f.ForEvaluation(fe, enabled))
	}
	var segments []evaluate.Segment
	for id, s := range r.segments {
		if s != nil {
			segments = append(segments, evaluate.Segment{ID: id, Constraints: flags.ConstraintsForEvaluation(s.Constraints)})
		}
	}
	return evaluate.NewSet(list, segments)
}

// configuration returns what a flag has in an environment, and whether it is enabled there for applications. In an environment that its project
// does not have, a flag is disabled and has nothing.
func (r *runner) configuration(f *flags.Feature, environment string) (fe flags.FeatureEnvironment, enabled bool) {
	env, found := r.tx.FindProjectEnvironment(r.projects[f.ProjectUID], environment)
	if !found {
		return fe, false
	}
	return f.In(env), f.EnabledForApplications(env)
}
