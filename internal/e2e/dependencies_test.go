package e2e

import "slices"

// dependAll sets the dependencies of every flag. Parents come before their children, except in a cycle.
func (l *loader) dependAll() {
	l.t.Helper()
	done := map[string]bool{}
	var depend func(f *loaded)
	depend = func(f *loaded) {
		if f == nil || done[f.name] {
			return
		}
		done[f.name] = true
		for _, d := range f.spec.Dependencies {
			depend(l.find(f.project + "." + d.Feature))
		}
		l.depend(f)
	}
	for _, f := range l.flags {
		depend(f)
	}
}

// depend sets the dependencies of a flag. The server must reject what the contract does not support.
func (l *loader) depend(f *loaded) {
	l.t.Helper()
	if len(f.spec.Dependencies) == 0 {
		return
	}
	outcome := depends
	for _, d := range f.spec.Dependencies {
		body := d
		body.Feature = f.project + "." + d.Feature
		on := l.find(body.Feature)
		switch {
		case on == nil:
			outcome = noParent
		case len(on.parents) > 0:
			outcome = twoLevels
		default:
			l.g.do(l.t, 200, "POST", f.path()+"/dependencies", body, nil)
			f.parents = append(f.parents, parent{on.name, or(d.Enabled, true), append([]string{}, d.Variants...)})
			on.gains(f.name)
			continue
		}
		l.refused(f.path()+"/dependencies", body, []fault{{outcome, "/feature"}})
	}
	l.tally.add(outcome, f.name)
}

// find returns the loaded flag of that name, or nil.
func (l *loader) find(name string) *loaded {
	if i := slices.IndexFunc(l.flags, func(f *loaded) bool { return f.name == name }); i >= 0 {
		return l.flags[i]
	}
	return nil
}

// gains records a child.
func (f *loaded) gains(child string) {
	f.children = append(slices.Clone(f.children), child)
	slices.Sort(f.children)
}

// stays checks that a flag with children is not archived, and that the error names them.
func (l *loader) stays(f *loaded) {
	l.t.Helper()
	failure := l.g.fails(l.t, 409, "ConflictError", "DELETE", f.path(), nil)
	var named []string
	for _, d := range failure.Details {
		named = append(named, d.Message)
	}
	equal(l.t, "what depends on "+f.name, named, f.children)
}

// letGo records that a flag is about to be archived, which removes its dependencies.
func (l *loader) letGo(f *loaded) {
	for _, p := range f.parents {
		on := l.find(p.Feature)
		on.children = slices.DeleteFunc(slices.Clone(on.children), func(child string) bool { return child == f.name })
	}
	f.parents = []parent{}
}
