package admin_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"guidon/pkg/apitest"

	"pgregory.net/rapid"
)

// The actions of a sequence. Each chooses its parameters, expects the status that the model gives, and makes the same change in
// the model.

// actions returns all of them, by name.
func (q *sequence) actions() map[string]func(*rapid.T) {
	all := map[string]func(){
		"create": q.create, "update": q.update, "patch": q.patch, "archive": q.archive, "revive": q.revive, "revive again": q.revive, "clone": q.clone, "clone again": q.clone,
		"enable or disable": q.enableOrDisable, "enable or disable again": q.enableOrDisable, "add a strategy": q.addStrategy, "add another": q.addStrategy,
		"replace a strategy": q.replaceStrategy, "disable a strategy": q.disableStrategy, "remove a strategy": q.removeStrategy, "order strategies": q.orderStrategies,
		"set variants": q.setVariants, "set variants in several environments": q.setVariantsInMany,
		"tag": q.tag, "change tags": q.changeTags, "untag": q.untag,
		"depend": q.depend, "depend more": q.depend, "end a dependency": q.endDependency, "end dependencies": q.endDependencies,
		"complete": q.complete, "uncomplete": q.uncomplete, "favorite": q.favorite, "move": q.move, "import": q.importFlag,
		"archive many": q.archiveMany, "change many": q.changeMany, "move many": q.moveMany,
		"attach": q.attach, "detach": q.detach, "default strategy": q.defaultStrategy, "delete or create stage": q.deleteOrCreateStage,
		"change the owner of a segment": q.changeOwner, "change another owner": q.changeOwner, "delete a segment": q.deleteSegment,
	}
	actions := map[string]func(*rapid.T){}
	for name, act := range all {
		actions[name] = func(rt *rapid.T) {
			q.rt = rt
			q.step = name
			act()
			q.compare()
		}
	}
	return actions
}

func (q *sequence) choose(what string, of ...string) string {
	return rapid.SampledFrom(of).Draw(q.rt, what)
}

func (q *sequence) flip(what string) bool { return rapid.Bool().Draw(q.rt, what) }

func (q *sequence) anyFlag() string { return q.choose("flag", "a", "b", "c", "d", "e") }

func (q *sequence) anyEnvironment() string {
	return q.choose("environment", "development", "production", "stage")
}

// projectOf returns the project of a flag; "default" if the flag does not exist.
func (q *sequence) projectOf(name string) string {
	if f := q.world.flags[name]; f != nil {
		return f.Project
	}
	return "default"
}

func (q *sequence) pathOf(name string) string {
	return apitest.Projects + "/" + q.projectOf(name) + "/features/" + name
}

func (q *sequence) chooseSome(what string, n int, of ...string) []string {
	list := rapid.SliceOfNDistinct(rapid.SampledFrom(of), 0, n, rapid.ID[string]).Draw(q.rt, what)
	return list
}

// status returns success if the flag is active, and 404 if not.
func (q *sequence) status(f *modelFlag, success int) int {
	if f == nil {
		return 404
	}
	return success
}

func (q *sequence) create() {
	name, project := q.anyFlag(), q.choose("project", "default", "shop")
	kind, text, impression := q.choose("type", "release", "kill-switch"), q.choose("description", "", "words"), q.flip("impression data")
	status := 201
	if q.world.flags[name] != nil {
		status = 409
	}
	q.do("POST", apitest.Projects+"/"+project+"/features", body("name", name, "type", kind, "description", text, "impressionData", impression), status)
	if status == 201 {
		q.world.flags[name] = &modelFlag{changes: 1, in: map[string]*setup{}, flagState: flagState{
			Name: name, Project: project, Type: kind, Description: &text, ImpressionData: impression, Lifecycle: phaseState{Stage: "initial"},
		}}
	}
}

func (q *sequence) update() {
	name := q.anyFlag()
	f, kind, stale := q.world.active(name), q.choose("type", "release", "experiment"), q.flip("stale")
	q.do("PUT", q.pathOf(name), body("type", kind, "stale", stale, "description", nil), q.status(f, 200))
	q.change(f, func() { f.Type, f.Stale, f.Description = kind, stale, nil })
}

func (q *sequence) patch() {
	name := q.anyFlag()
	f, text := q.world.active(name), q.choose("description", "one", "two")
	q.do("PATCH", q.pathOf(name), `[{"op":"replace","path":"/description","value":"`+text+`"},{"op":"replace","path":"/impressionData","value":true}]`, q.status(f, 200))
	q.change(f, func() { f.Description, f.ImpressionData = &text, true })
}

// change changes a flag of the model, if it exists.
func (q *sequence) change(f *modelFlag, change func()) {
	if f != nil {
		q.world.changing(f, change)
	}
}

func (q *sequence) archive() {
	name := q.anyFlag()
	f := q.world.flags[name]
	status := q.status(f, 202)
	if len(q.world.children(name)) > 0 {
		status = 409
	}
	q.do("DELETE", q.pathOf(name), "", status)
	if status == 202 {
		q.change(f, func() { f.Archived, f.Dependencies = true, nil })
	}
}

func (q *sequence) revive() {
	name := q.anyFlag()
	f := q.world.flags[name]
	q.do("POST", "/api/admin/archive/revive/"+name, "", q.status(f, 200))
	q.revived(f)
}

func (q *sequence) revived(f *modelFlag) {
	if f == nil || !f.Archived {
		return
	}
	q.change(f, func() {
		f.Archived, f.Lifecycle = false, phaseState{Stage: "initial"}
		for _, s := range f.in {
			s.enabledIn = 0
		}
	})
}

func (q *sequence) clone() {
	name, to, replace := q.anyFlag(), q.anyFlag(), q.flip("replace group id")
	f, status := q.world.active(name), 201
	switch {
	case f == nil:
		status = 404
	case q.world.flags[to] != nil:
		status = 409
	}
	q.do("POST", q.pathOf(name)+"/clone", body("name", to, "replaceGroupId", replace), status)
	if status != 201 {
		return
	}
	c := &modelFlag{flagState: f.flagState, changes: 1, in: map[string]*setup{}}
	c.Name, c.Tags, c.Favorite, c.Lifecycle, c.Dependencies = to, nil, false, phaseState{Stage: "initial"}, slices.Clone(f.Dependencies)
	for environment, s := range f.in {
		copied := &setup{environment: s.environment, variants: s.variants}
		for _, one := range s.strategies {
			one.ID, one.Parameters = "", maps.Clone(one.Parameters)
			if replace && one.Parameters["groupId"] == name {
				one.Parameters["groupId"] = to
			}
			copied.strategies = append(copied.strategies, one)
		}
		c.in[environment] = copied
	}
	q.world.flags[to] = c
}

func (q *sequence) enableOrDisable() {
	name, environment, on := q.anyFlag(), q.anyEnvironment(), q.flip("on")
	f, way := q.world.active(name), "/off"
	status := q.inEnvironment(f, name, environment)
	if on {
		way = "/on"
		if status == 200 && !q.canEnable(f, environment) {
			status = 409
		}
	}
	q.do("POST", q.pathOf(name)+"/environments/"+environment+way, "", status)
	if status == 200 {
		q.setEnabled(f, environment, on)
	}
}

// inEnvironment returns 200 if the flag is active and its project has the environment, and 404 if not.
func (q *sequence) inEnvironment(f *modelFlag, name, environment string) int {
	if f == nil || q.world.attached(q.projectOf(name), environment) == nil {
		return 404
	}
	return 200
}

func (q *sequence) canEnable(f *modelFlag, environment string) bool {
	return len(q.world.at(f, environment).strategies) > 0 || q.world.attached(f.Project, environment).strategy != nil
}

func (q *sequence) setEnabled(f *modelFlag, environment string, on bool) {
	q.change(f, func() {
		if on && !q.world.enabled(f, environment) && len(q.world.at(f, environment).strategies) == 0 {
			added := *q.world.attached(f.Project, environment).strategy
			q.world.at(f, environment).strategies = []strategyState{added}
		}
		if on != q.world.enabled(f, environment) {
			q.world.enable(f, environment, on)
		}
	})
}

// drawStrategy returns a random strategy without an id.
func (q *sequence) drawStrategy(flag string) strategyState {
	s := strategyState{Name: "default", Disabled: q.choose("disabled", "no", "no", "yes") == "yes", SortOrder: float64(rapid.IntRange(0, 3).Draw(q.rt, "sort order"))}
	if q.flip("rollout") {
		s.Name = "flexibleRollout"
		s.Parameters = map[string]string{"rollout": q.choose("share", "10", "50"), "stickiness": "default", "groupId": q.choose("group", flag, "all")}
	}
	if q.flip("constrained") {
		s.Constraints = []constraintState{{ContextName: "userId", Operator: "IN", Values: []string{"1", q.choose("user", "2", "3")}, Inverted: q.flip("inverted")}}
	}
	if q.flip("titled") {
		title := "Some"
		s.Title = &title
	}
	for _, segment := range q.chooseSome("segments", 2, "1", "2", "3") {
		s.Segments = append(s.Segments, int64(segment[0]-'0'))
	}
	s.Variants = sharedWeights(q.chooseSome("variants", 3, "x", "y", "z"))
	return s
}

func (q *sequence) addStrategy() {
	name, environment := q.anyFlag(), q.anyEnvironment()
	f, s := q.world.active(name), q.drawStrategy(name)
	status := q.inEnvironment(f, name, environment)
	if status == 200 && !q.world.usable(f.Project, s.Segments) {
		status = 400
	}
	got := q.do("POST", q.pathOf(name)+"/environments/"+environment+"/strategies", strategyBody(s), status)
	if status != 200 {
		return
	}
	s.ID = apitest.IDIn(got.Body)
	q.change(f, func() {
		q.world.setStrategies(f, environment, append(slices.Clone(q.world.at(f, environment).strategies), s))
	})
}

// anyStrategy chooses an existing strategy; the index is -1 if there is none.
func (q *sequence) anyStrategy() (f *modelFlag, environment, path string, list []strategyState, i int) {
	name := q.anyFlag()
	environment = q.anyEnvironment()
	if f = q.world.active(name); q.inEnvironment(f, name, environment) != 200 {
		return nil, environment, "", nil, -1
	}
	list = slices.Clone(q.world.at(f, environment).strategies)
	if len(list) == 0 {
		return nil, environment, "", nil, -1
	}
	i = rapid.IntRange(0, len(list)-1).Draw(q.rt, "which")
	return f, environment, q.pathOf(name) + "/environments/" + environment + "/strategies/" + list[i].ID, list, i
}

func (q *sequence) replaceStrategy() {
	f, environment, path, list, i := q.anyStrategy()
	if f == nil {
		return
	}
	s := q.drawStrategy(f.Name)
	s.ID = list[i].ID
	added := slices.DeleteFunc(slices.Clone(s.Segments), func(id int64) bool { return slices.Contains(list[i].Segments, id) })
	if !q.world.usable(f.Project, added) {
		q.do("PUT", path, strategyBody(s), 400)
		return
	}
	q.do("PUT", path, strategyBody(s), 200)
	list[i] = s
	q.change(f, func() { q.world.setStrategies(f, environment, list) })
}

func (q *sequence) disableStrategy() {
	f, environment, path, list, i := q.anyStrategy()
	if f == nil {
		return
	}
	list[i].Disabled = q.flip("disabled")
	q.do("PATCH", path, fmt.Sprintf(`[{"op":"replace","path":"/disabled","value":%t}]`, list[i].Disabled), 200)
	q.change(f, func() { q.world.setStrategies(f, environment, list) })
}

func (q *sequence) removeStrategy() {
	f, environment, path, list, i := q.anyStrategy()
	if f == nil {
		return
	}
	q.do("DELETE", path, "", 200)
	q.do("GET", path, "", 404)
	q.change(f, func() { q.world.setStrategies(f, environment, slices.Delete(list, i, i+1)) })
}

func (q *sequence) orderStrategies() {
	f, environment, path, list, i := q.anyStrategy()
	if f == nil {
		return
	}
	list[i].SortOrder = float64(rapid.IntRange(0, 3).Draw(q.rt, "sort order"))
	q.do("POST", path[:strings.LastIndex(path, "/")]+"/set-sort-order", fmt.Sprintf(`[{"id":%q,"sortOrder":%v}]`, list[i].ID, list[i].SortOrder), 200)
	q.change(f, func() { q.world.setStrategies(f, environment, list) })
}

func (q *sequence) setVariants() {
	name, environment := q.anyFlag(), q.anyEnvironment()
	f, variants := q.world.active(name), sharedWeights(q.chooseSome("variants", 3, "x", "y", "z"))
	status := q.inEnvironment(f, name, environment)
	q.do("PUT", q.pathOf(name)+"/environments/"+environment+"/variants", text(variantBodies(variants)), status)
	if status == 200 {
		q.change(f, func() { q.world.at(f, environment).variants = variants })
	}
}

func (q *sequence) setVariantsInMany() {
	name, all := q.anyFlag(), q.flip("all")
	f, variants := q.world.active(name), sharedWeights(q.chooseSome("variants", 3, "x", "y", "z"))
	environments := q.chooseSome("environments", 3, "development", "production", "stage")
	path, in := "/variants", text(variantBodies(variants))
	status := q.status(f, 200)
	if all {
		environments = slices.Collect(maps.Keys(q.world.projects[q.projectOf(name)]))
	} else {
		path, in = "/variants-batch", body("environments", append([]string{}, environments...), "variants", variantBodies(variants))
		unknown := slices.ContainsFunc(environments, func(e string) bool { return q.world.attached(q.projectOf(name), e) == nil })
		if len(environments) == 0 || f != nil && unknown {
			status = 400
		}
	}
	q.do("PUT", q.pathOf(name)+path, in, status)
	if status == 200 {
		q.change(f, func() {
			for _, environment := range environments {
				if q.world.attached(f.Project, environment) != nil {
					q.world.at(f, environment).variants = variants
				}
			}
		})
	}
}

func (q *sequence) tag() {
	name, value := q.anyFlag(), q.choose("tag", "t1", "t/2")
	f := q.world.active(name)
	q.do("POST", "/api/admin/features/"+name+"/tags", body("type", "simple", "value", value), q.status(f, 201))
	q.change(f, func() { f.tag(value) })
}

func (f *modelFlag) tag(value string) {
	f.untag(value)
	f.Tags = append(f.Tags, tagState{"simple", value})
}

func (f *modelFlag) untag(value string) {
	f.Tags = slices.DeleteFunc(slices.Clone(f.Tags), func(t tagState) bool { return t.Value == value })
}

func (q *sequence) changeTags() {
	name := q.anyFlag()
	f := q.world.active(name)
	added, removed := q.chooseSome("added", 2, "t1", "t3", "t4"), q.chooseSome("removed", 1, "t/2", "t5")
	q.do("PUT", "/api/admin/features/"+name+"/tags", tagsBody(added, removed), q.status(f, 200))
	q.change(f, func() { f.changeTags(added, removed) })
}

func (f *modelFlag) changeTags(added, removed []string) {
	for _, value := range removed {
		f.untag(value)
	}
	for _, value := range added {
		f.tag(value)
	}
}

func (q *sequence) untag() {
	name, value := q.anyFlag(), q.choose("tag", "t1", "t/2", "t3")
	f := q.world.active(name)
	status := q.status(f, 200)
	if f != nil && !slices.Contains(f.Tags, tagState{"simple", value}) {
		status = 404
	}
	q.do("DELETE", "/api/admin/features/"+name+"/tags/simple/"+value, "", status)
	q.change(f, func() { f.untag(value) })
}

func (q *sequence) depend() {
	name, parent := q.anyFlag(), q.anyFlag()
	d := dependencyState{Feature: parent, Enabled: q.flip("enabled")}
	if d.Enabled {
		d.Variants = q.chooseSome("variants", 1, "x")
	}
	f, p, status := q.world.active(name), q.world.flags[parent], 200
	switch {
	case f == nil:
		status = 404
	case name == parent, p == nil, p.Archived, p.Project != f.Project, len(p.Dependencies) > 0:
		status = 400
	case len(q.world.children(name)) > 0:
		status = 409
	}
	q.do("POST", q.pathOf(name)+"/dependencies", body("feature", parent, "enabled", d.Enabled, "variants", append([]string{}, d.Variants...)), status)
	if status != 200 {
		return
	}
	q.change(f, func() { f.dependOn(d) })
}

func (f *modelFlag) dependOn(d dependencyState) {
	f.Dependencies = slices.Clone(f.Dependencies)
	if i := slices.IndexFunc(f.Dependencies, func(had dependencyState) bool { return had.Feature == d.Feature }); i >= 0 {
		f.Dependencies[i] = d
		return
	}
	f.Dependencies = append(f.Dependencies, d)
}

func (q *sequence) endDependency() {
	name, parent := q.anyFlag(), q.anyFlag()
	f := q.world.active(name)
	if f != nil && len(f.Dependencies) > 0 && q.flip("one that it has") {
		parent = f.Dependencies[0].Feature
	}
	is := func(d dependencyState) bool { return d.Feature == parent }
	status := q.status(f, 200)
	if f != nil && !slices.ContainsFunc(f.Dependencies, is) {
		status = 404
	}
	q.do("DELETE", q.pathOf(name)+"/dependencies/"+parent, "", status)
	q.change(f, func() { f.Dependencies = slices.DeleteFunc(slices.Clone(f.Dependencies), is) })
}

func (q *sequence) endDependencies() {
	name := q.anyFlag()
	f := q.world.active(name)
	q.do("DELETE", q.pathOf(name)+"/dependencies", "", q.status(f, 200))
	q.change(f, func() { f.Dependencies = nil })
}

func (q *sequence) complete() {
	name, status, value := q.anyFlag(), q.choose("status", "kept", "discarded"), q.choose("value", "", "v")
	f := q.world.active(name)
	q.do("POST", q.pathOf(name)+"/lifecycle/complete", body("status", status, "statusValue", value), q.status(f, 200))
	q.change(f, func() { f.Lifecycle = phaseState{"completed", status, value} })
}

func (q *sequence) uncomplete() {
	name := q.anyFlag()
	f := q.world.active(name)
	q.do("POST", q.pathOf(name)+"/lifecycle/uncomplete", "", q.status(f, 200))
	q.change(f, func() { f.Lifecycle = phaseState{Stage: "initial"} })
}

func (q *sequence) favorite() {
	name, yes := q.anyFlag(), q.flip("yes")
	f, method := q.world.active(name), "DELETE"
	if yes {
		method = "POST"
	}
	q.do(method, q.pathOf(name)+"/favorites", "", q.status(f, 200))
	if f != nil {
		f.Favorite = yes
	}
}

func (q *sequence) move() {
	name, to := q.anyFlag(), q.choose("project", "default", "shop")
	f := q.world.active(name)
	status := q.status(f, 200)
	if f != nil && !q.canMove(f, to) {
		status = 409
	}
	q.do("POST", q.pathOf(name)+"/changeProject", body("newProjectId", to), status)
	if status == 200 {
		q.moved(f, to)
	}
}

func (q *sequence) canMove(f *modelFlag, to string) bool {
	if f.Project == to {
		return true
	}
	for environment := range f.in {
		if q.world.enabled(f, environment) && q.world.attached(to, environment) == nil {
			return false
		}
		for _, s := range q.world.strategies(f, environment) {
			if !q.world.usable(to, s.Segments) {
				return false
			}
		}
	}
	return len(f.Dependencies)+len(q.world.children(f.Name)) == 0
}

func (q *sequence) moved(f *modelFlag, to string) {
	if f.Project == to {
		return
	}
	q.change(f, func() {
		for environment, s := range f.in {
			on := q.world.enabled(f, environment)
			s.enabledIn = 0
			if on {
				s.enabledIn = q.world.attached(to, environment).id
			}
		}
		f.Project = to
	})
}

// importFlag imports one flag.
func (q *sequence) importFlag() {
	name, project, environment := q.anyFlag(), q.choose("project", "default", "shop"), q.anyEnvironment()
	f, on, kind, tags := q.world.flags[name], q.flip("on"), q.choose("type", "release", "experiment"), q.chooseSome("tags", 2, "t1", "t3")
	var strategies []strategyState
	for range rapid.IntRange(0, 2).Draw(q.rt, "strategies") {
		s := q.drawStrategy(name)
		s.Segments = nil
		strategies = append(strategies, s)
	}
	variants := sharedWeights(q.chooseSome("variants", 2, "x", "y"))
	status := 200
	if q.world.attached(project, environment) == nil {
		status = 404
	}
	got := q.do("POST", apitest.Import, oneImport(name, kind, project, environment, on, tags, strategies, variants), status)
	refused := f != nil && (f.Archived || f.Project != project)
	if skipped := strings.Contains(got.Body, `"skipped":1`); status == 200 && skipped != refused {
		q.rt.Fatalf("the import of %s returned %s, want it skipped: %t", name, got.Body, refused)
	}
	if status != 200 || refused {
		return
	}
	fresh := f == nil
	if fresh {
		empty := ""
		f = &modelFlag{in: map[string]*setup{}, flagState: flagState{Name: name, Project: project, Description: &empty, Lifecycle: phaseState{Stage: "initial"}}}
		q.world.flags[name] = f
	}
	before := f.changes
	q.change(f, func() { q.imported(f, environment, on, kind, tags, strategies, variants) })
	f.changes = min(f.changes, before+1) // an import has one event for each flag that it changes
	if fresh {
		f.changes = 1
	}
}

func (q *sequence) imported(f *modelFlag, environment string, on bool, kind string, tags []string, strategies []strategyState, variants []variantState) {
	f.Type, f.Tags = kind, nil
	f.changeTags(tags, nil)
	if on && len(strategies) == 0 {
		strategies = []strategyState{{Name: "default"}}
	}
	had := slices.Clone(q.world.at(f, environment).strategies)
	for i, s := range strategies {
		if at := slices.IndexFunc(had, func(h strategyState) bool { h.ID = ""; return text(h.normal()) == text(s.normal()) }); at >= 0 {
			strategies[i].ID = had[at].ID
			had = slices.Delete(had, at, at+1)
		}
	}
	same := slices.EqualFunc(q.world.at(f, environment).strategies, strategies, func(a, b strategyState) bool { return a.ID == b.ID && a.ID != "" })
	if !same {
		q.world.setStrategies(f, environment, strategies)
	}
	q.world.at(f, environment).variants = variants
	if on != q.world.enabled(f, environment) {
		q.world.enable(f, environment, on)
	}
}

func text(v any) string {
	document, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(document)
}

// body returns a JSON object of alternating names and values.
func body(fields ...any) string {
	object := map[string]any{}
	for i := 0; i < len(fields); i += 2 {
		object[fields[i].(string)] = fields[i+1]
	}
	return text(object)
}
