package e2e

import (
	"slices"
	"strings"
	"testing"
)

// TestClientSpecification creates the 153 flags of the specification through the API, changes them, and reads everything
// back. What the contract does not support must be rejected with a 400 that points at the field.
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

// A loader creates flags and knows what the server must return for them.
type loader struct {
	t     *testing.T
	g     *gateway
	flags []*loaded
	ids   map[string]bool // of all strategies
	tally tally
}

// load creates a flag of the specification in both environments and enables it if the specification says so. It sends
// strategies to development as they are, and to production in a shorter form with the same meaning.
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

// addStrategy adds a strategy. If the contract does not allow it, the server must reject it; a strategy that can be
// corrected is added after that.
func (l *loader) addStrategy(f *loaded, environment string, s specStrategy, body func(specStrategy) any, want func(specStrategy, string, int) strategy) {
	l.t.Helper()
	path, in := f.pathIn(environment)+"/strategies", f.in[environment]
	if faults := s.faults(); len(faults) > 0 {
		l.refused(path, body(s), faults)
		if slices.ContainsFunc(faults, fault.final) {
			return
		}
		s = s.corrected()
	}
	var got strategy
	l.g.do(l.t, 200, "POST", path, body(s), &got)
	w := want(s, f.name, len(in.strategies))
	adopt(l.t, &w, got, l.ids)
	equal(l.t, "a new strategy of "+f.name+" in "+environment, got, w)
	in.strategies = append(in.strategies, w)
}

// refused sends a request that must get a 400 with exactly these faults in the details.
func (l *loader) refused(path string, body any, faults []fault) {
	l.t.Helper()
	f := l.g.fails(l.t, 400, "ValidationError", "POST", path, body)
	details := map[string]string{}
	for _, d := range f.Details {
		details[d.Path] = d.Message
	}
	for _, fault := range faults {
		if got, want := details[fault.path], says[fault.reason]; !strings.Contains(got, want) {
			l.t.Errorf("%s: the detail of %s is %q, want it to contain %q", path, fault.path, got, want)
		}
		delete(details, fault.path)
	}
	equal(l.t, path+": further details", details, map[string]string{})
}

// setVariants sets the variants of the flag in both environments, with a different operation for each.
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

// switchOn enables the flag if the specification says so. Without a strategy the server must reject that.
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

// clone clones every nth flag and compares the clone.
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

// archive archives every nth flag. The flag is then not found, and its name is still taken. A flag with children cannot be
// archived.
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

// revive revives every nth of the archived flags. It is disabled everywhere and otherwise unchanged.
func (l *loader) revive(archived []*loaded, nth int) {
	l.t.Helper()
	for _, f := range every(nth, archived) {
		l.g.do(l.t, 200, "POST", "/api/admin/archive/revive/"+f.name, nil, nil)
		f.archived = false
		var got featureAnswer
		l.g.do(l.t, 200, "GET", f.path(), nil, &got)
		if f.revived = got.Lifecycle.EnteredAt; !f.revived.After(got.CreatedAt) {
			l.t.Errorf("%s was created at %s and revived at %s", f.name, got.CreatedAt, f.revived)
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

// checkAll reads every flag and every list.
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

// checkLists compares the lists of a project, in any order, with its flags.
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
	rows := make([]row, len(features.Features))
	for i, listed := range features.Features {
		rows[i] = listed.row
	}
	equal(l.t, "the flags of "+project, environmentsOf(rows), active)
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
