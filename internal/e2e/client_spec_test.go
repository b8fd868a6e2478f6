package e2e

import (
	"slices"
	"strings"
	"testing"
)

// TestClientSpecification loads the 153 flags of the specification through the interface, uses them, and reads
// everything back. What the contract has no place for must be refused with a 400 that points at it.
func TestClientSpecification(t *testing.T) {
	l := &loader{t: t, g: start(t), ids: map[string]bool{}, tally: tally{}}
	suites := loadSuites(t)
	for _, s := range suites {
		l.g.do(t, 201, "POST", "/api/admin/projects", map[string]string{"id": s.Name, "name": s.Name}, nil)
		for _, spec := range s.State.Features {
			l.load(s.Name, spec)
		}
	}
	l.dependAll()
	l.checkAll()
	l.tally.check(t, suites)

	clones := l.clone(5)
	archived := l.archive(7)
	l.checkAll()
	l.revive(archived, 2)
	l.checkAll()
	l.switchOff()
	l.checkAll()
	t.Logf("%d of the flags were cloned, %d archived, %d of these revived", clones, len(archived), (len(archived)+1)/2)

	l.g.stop(t)
	l.g = l.g.again(t)
	l.checkAll()
}

// A loader puts flags into a gateway and knows what it must have then.
type loader struct {
	t     *testing.T
	g     *gateway
	flags []*loaded
	ids   map[string]bool // of all strategies
	tally tally
}

// load makes a flag of the specification, sets it up in both environments, and switches it on where it says so. In
// development everything is sent word for word, in production in other words that mean the same.
func (l *loader) load(suite string, spec specFlag) {
	l.t.Helper()
	f := newLoaded(suite, spec)
	body := struct {
		Name           string  `json:"name"`
		Type           *string `json:"type,omitzero"`
		Description    *string `json:"description,omitzero"`
		ImpressionData *bool   `json:"impressionData,omitzero"`
	}{f.name, spec.Type, spec.Description, spec.ImpressionData}
	if !friendlyName.MatchString(f.name) {
		l.refused(f.list(), body, []fault{{badName, "/name"}})
		l.tally.add(badName, f.name)
		return
	}
	var created featureAnswer
	l.g.do(l.t, 201, "POST", f.list(), body, &created)
	l.flags = append(l.flags, f)

	reasons := map[string]bool{}
	for _, s := range spec.Strategies {
		for _, fault := range s.faults() {
			reasons[fault.reason] = true
		}
		l.addStrategy(f, "development", s, specStrategy.verbatim, specStrategy.want)
		l.addStrategy(f, "production", s, specStrategy.terse, specStrategy.wantTerse)
	}
	l.setVariants(f)
	l.switchOn(f)
	for reason := range reasons {
		l.tally.add(reason, f.name)
	}
	if len(reasons) == 0 {
		l.tally.add(whole, f.name)
	}
}

func (s specStrategy) verbatim() any { return s }

// addStrategy adds a strategy if the contract has no fault with it, and otherwise sees it refused; what can be mended
// is added after that.
func (l *loader) addStrategy(f *loaded, environment string, s specStrategy, body func(specStrategy) any, want func(specStrategy, string, int) strategy) {
	l.t.Helper()
	path, in := f.pathIn(environment)+"/strategies", f.in[environment]
	if faults := s.faults(); len(faults) > 0 {
		l.refused(path, body(s), faults)
		if slices.ContainsFunc(faults, fault.final) {
			return
		}
		s = s.mended()
	}
	var got strategy
	l.g.do(l.t, 200, "POST", path, body(s), &got)
	w := want(s, f.name, len(in.strategies))
	adopt(l.t, &w, got, l.ids)
	equal(l.t, "a new strategy of "+f.name+" in "+environment, got, w)
	in.strategies = append(in.strategies, w)
}

// refused makes a request that must be a 400 whose details are the faults, each at its place and no other.
func (l *loader) refused(path string, body any, faults []fault) {
	l.t.Helper()
	f := l.g.fails(l.t, 400, "ValidationError", "POST", path, body)
	details := map[string]string{}
	for _, d := range f.Details {
		details[d.Path] = d.Message
	}
	for _, fault := range faults {
		if got, want := details[fault.path], says[fault.reason]; !strings.Contains(got, want) {
			l.t.Errorf("%s: the detail of %s is %q, want it to say %q", path, fault.path, got, want)
		}
		delete(details, fault.path)
	}
	equal(l.t, path+": further details", details, map[string]string{})
}

// setVariants gives both environments the flag's variants, each by another operation.
func (l *loader) setVariants(f *loaded) {
	l.t.Helper()
	if f.spec.Variants == nil {
		return
	}
	want := variantsAnswer{1, wantVariants(f.spec.Variants)}
	for environment, request := range map[string]struct {
		path string
		body any
	}{
		"development": {f.pathIn("development") + "/variants", f.spec.Variants},
		"production":  {f.path() + "/variants-batch", map[string]any{"environments": []string{"production"}, "variants": f.spec.Variants}},
	} {
		var got variantsAnswer
		l.g.do(l.t, 200, "PUT", request.path, request.body, &got)
		equal(l.t, "the variants of "+f.name+" in "+environment, got, want)
		f.in[environment].variants = want.Variants
	}
}

// switchOn switches the flag on if the specification says so, and sees that refused where it has no strategy.
func (l *loader) switchOn(f *loaded) {
	l.t.Helper()
	if !f.spec.Enabled {
		return
	}
	for environment, in := range f.in {
		path := f.pathIn(environment) + "/on"
		if len(in.strategies) == 0 {
			l.g.fails(l.t, 409, "ConflictError", "POST", path, nil)
			continue
		}
		var got featureAnswer
		l.g.do(l.t, 200, "POST", path, nil, &got)
		in.enabled = true
		equal(l.t, f.name+" after on", got, f.want(got.CreatedAt))
	}
	switch {
	case f.enabled():
		l.tally.add(isOn, f.name)
	case len(f.spec.Strategies) == 0:
		l.tally.add(bareOn, f.name)
	default:
		l.tally.add(strippedOn, f.name)
	}
}

func (l *loader) switchOff() {
	l.t.Helper()
	for _, f := range l.active() {
		for environment, in := range f.in {
			var got featureAnswer
			l.g.do(l.t, 200, "POST", f.pathIn(environment)+"/off", nil, &got)
			in.enabled = false
			want := f.want(got.CreatedAt)
			want.Enabled = false // after off it tells of that environment
			equal(l.t, f.name+" after off", got, want)
		}
	}
}

// clone clones every nth flag, as it is, and compares what the clone has.
func (l *loader) clone(nth int) (clones int) {
	l.t.Helper()
	for _, f := range every(nth, l.active()) {
		c := f.cloneAs(f.name + "~clone")
		var answer featureAnswer
		l.g.do(l.t, 201, "POST", f.path()+"/clone", map[string]string{"name": c.name}, &answer)
		equal(l.t, "the variants answered for the clone "+c.name, answer.Variants, c.in["development"].variants)
		l.g.fails(l.t, 409, "NameExistsError", "POST", f.path()+"/clone", map[string]string{"name": c.name})

		var got featureAnswer
		l.g.do(l.t, 200, "GET", c.path(), nil, &got)
		for environment, in := range c.in {
			has := got.in(l.t, environment).Strategies
			if len(has) != len(in.strategies) {
				l.t.Fatalf("the clone %s has %d strategies in %s, want %d", c.name, len(has), environment, len(in.strategies))
			}
			for i := range has {
				adopt(l.t, &in.strategies[i], has[i], l.ids)
			}
		}
		for _, p := range c.parents {
			l.find(p.Feature).gains(c.name)
		}
		l.flags = append(l.flags, c)
		clones++
	}
	return clones
}

// archive archives every nth flag, on or off. It is gone then, and its name is not free. One that others depend on stays.
func (l *loader) archive(nth int) (archived []*loaded) {
	l.t.Helper()
	for _, f := range every(nth, l.active()) {
		if len(f.children) > 0 {
			l.stays(f)
			continue
		}
		l.letGo(f)
		l.g.do(l.t, 202, "DELETE", f.path(), nil, nil)
		l.g.do(l.t, 202, "DELETE", f.path(), nil, nil)
		f.archived = true
		archived = append(archived, f)
		l.g.fails(l.t, 404, "NotFoundError", "GET", f.path(), nil)
		l.g.fails(l.t, 404, "NotFoundError", "POST", f.pathIn("development")+"/on", nil)
		l.g.fails(l.t, 409, "NameExistsError", "POST", f.list(), map[string]string{"name": f.name})
	}
	return archived
}

// revive brings every nth of the flags back. It is off everywhere and has all that it had.
func (l *loader) revive(archived []*loaded, nth int) {
	l.t.Helper()
	for _, f := range every(nth, archived) {
		l.g.do(l.t, 200, "POST", "/api/admin/archive/revive/"+f.name, nil, nil)
		f.archived = false
		var got featureAnswer
		l.g.do(l.t, 200, "GET", f.path(), nil, &got)
		if f.revived = got.Lifecycle.EnteredAt; !f.revived.After(got.CreatedAt) {
			l.t.Errorf("%s was made at %s and is revived at %s", f.name, got.CreatedAt, f.revived)
		}
		for _, in := range f.in {
			in.enabled = false
		}
	}
}

func (l *loader) active() []*loaded {
	return slices.DeleteFunc(slices.Clone(l.flags), func(f *loaded) bool { return f.archived })
}

func every[T any](nth int, all []T) (some []T) {
	for i := 0; i < len(all); i += nth {
		some = append(some, all[i])
	}
	return some
}

// checkAll reads back every flag and every list.
func (l *loader) checkAll() {
	l.t.Helper()
	projects := map[string][]*loaded{}
	for _, f := range l.flags {
		projects[f.project] = append(projects[f.project], f)
		if !f.archived {
			f.check(l.t, l.g)
		}
	}
	for project, flags := range projects {
		l.checkLists(project, flags)
	}
}

// checkLists compares the lists of a project, in whatever order, with the flags that it has.
func (l *loader) checkLists(project string, flags []*loaded) {
	l.t.Helper()
	active, archived := map[string][]rowEnvironment{}, map[string]bool{}
	for _, f := range flags {
		if f.archived {
			archived[f.name] = true
		} else {
			active[f.name] = f.rows()
		}
	}
	var features list
	l.g.do(l.t, 200, "GET", "/api/admin/projects/"+project+"/features", nil, &features)
	equal(l.t, "the flags of "+project, environmentsOf(features.Features), active)
	var overview overview
	l.g.do(l.t, 200, "GET", "/api/admin/projects/"+project, nil, &overview)
	equal(l.t, "the overview of "+project, environmentsOf(overview.Features), active)

	var dead archive
	l.g.do(l.t, 200, "GET", "/api/admin/archive/features/"+project, nil, &dead)
	got := map[string]bool{}
	for _, f := range dead.Features {
		got[f.Name] = f.Archived && f.ArchivedAt != nil
	}
	equal(l.t, "the archive of "+project, got, archived)
}

func environmentsOf(rows []row) map[string][]rowEnvironment {
	all := make(map[string][]rowEnvironment, len(rows))
	for _, r := range rows {
		all[r.Name] = r.Environments
	}
	return all
}
