package admin_test

import (
	"encoding/json"
	"maps"
	"slices"

	"guidon/pkg/apitest"
)

// archiveMany archives several flags of a project. Parents can be archived with their children, in any order.
func (q *sequence) archiveMany() {
	project, names := q.choose("project", "default", "shop"), q.chooseSome("flags", 4, "a", "b", "c", "d", "e")
	left, unknown := slices.Clone(names), 0
	left = slices.DeleteFunc(left, func(name string) bool {
		missing := q.world.flags[name] == nil || q.world.flags[name].Project != project
		if missing {
			unknown++
		}
		return missing
	})
	for changed := true; changed; {
		changed = false
		for _, name := range slices.Clone(left) {
			if len(q.world.children(name)) == 0 {
				f := q.world.flags[name]
				q.change(f, func() { f.Archived, f.Dependencies = true, nil })
				left = slices.DeleteFunc(left, func(one string) bool { return one == name })
				changed = true
			}
		}
	}
	q.do("POST", apitest.Projects+"/"+project+"/archive", body("features", append([]string{}, names...)), statusOf(202, unknown, len(left)))
}

// statusOf returns the status of a request for several flags, of which some are unknown and some are refused.
func statusOf(success, unknown, refused int) int {
	switch {
	case refused > 0:
		return 409
	case unknown > 0:
		return 404
	}
	return success
}

// changeMany calls the bulk operations of a project.
func (q *sequence) changeMany() {
	project, names, environment := q.choose("project", "default", "shop"), q.chooseSome("flags", 4, "a", "b", "c", "d", "e"), q.anyEnvironment()
	what, yes := q.choose("what", "stale", "revive", "tags", "switch"), q.flip("yes")
	added, removed := q.chooseSome("added", 2, "t1", "t3"), q.chooseSome("removed", 1, "t/2")
	if what == "switch" && q.world.attached(project, environment) == nil {
		q.do("POST", apitest.Projects+"/"+project+"/bulk_features/environments/"+environment+"/on", body("features", append([]string{}, names...)), 404)
		return
	}
	unknown, refused := 0, 0
	for _, name := range names {
		f := q.world.flags[name]
		switch {
		case f == nil, f.Project != project, f.Archived && what != "revive":
			unknown++
		case what == "stale":
			q.change(f, func() { f.Stale = yes })
		case what == "revive":
			q.revived(f)
		case what == "tags":
			q.change(f, func() { f.changeTags(added, removed) })
		case yes && !q.canEnable(f, environment):
			refused++
		default:
			q.setEnabled(f, environment, yes)
		}
	}
	list := append([]string{}, names...)
	all := apitest.Projects + "/" + project
	switch what {
	case "stale":
		q.do("POST", all+"/stale", body("features", list, "stale", yes), statusOf(202, unknown, refused))
	case "revive":
		q.do("POST", all+"/revive", body("features", list), statusOf(200, unknown, refused))
	case "tags":
		q.do("PUT", all+"/tags", body("features", list, "tags", tagChange(added, removed)), statusOf(200, unknown, refused))
	default:
		way := "/off"
		if yes {
			way = "/on"
		}
		q.do("POST", all+"/bulk_features/environments/"+environment+way, body("features", list), statusOf(200, unknown, refused))
	}
}

func (q *sequence) moveMany() {
	project, to := q.choose("project", "default", "shop"), q.choose("new project", "default", "shop")
	names := q.chooseSome("flags", 4, "a", "b", "c", "d", "e")
	unknown, refused := 0, 0
	for _, name := range names {
		switch f := q.world.active(name); {
		case f == nil, f.Project != project:
			unknown++
		case !q.canMove(f, to):
			refused++
		default:
			q.moved(f, to)
		}
	}
	q.do("POST", apitest.Projects+"/"+project+"/changeProject", body("features", append([]string{}, names...), "newProjectId", to), statusOf(200, unknown, refused))
}

func (q *sequence) attach() {
	project, environment := q.choose("project", "default", "shop"), q.choose("environment", "development", "stage")
	status := 200
	switch {
	case q.world.environments[environment] == 0:
		status = 400
	case q.world.attached(project, environment) != nil:
		status = 409
	}
	in, strategy := body("environment", environment), (*strategyState)(nil)
	if q.flip("with a default strategy") {
		s := q.drawStrategy("all")
		in, strategy = body("environment", environment, "defaultStrategy", json.RawMessage(strategyBody(s))), &s
		if status == 200 && !q.world.usable(project, s.Segments) {
			status = 400
		}
	}
	q.do("POST", apitest.Projects+"/"+project+"/environments", in, status)
	if status == 200 {
		q.world.projects[project][environment] = &attachment{environment: q.world.environments[environment], id: q.world.next(), strategy: strategy}
	}
}

func (q *sequence) detach() {
	project, environment := q.choose("project", "default", "shop"), q.choose("environment", "development", "stage")
	status := 200
	if q.world.attached(project, environment) == nil {
		status = 404
	}
	q.do("DELETE", apitest.Projects+"/"+project+"/environments/"+environment, "", status)
	delete(q.world.projects[project], environment)
}

func (q *sequence) defaultStrategy() {
	project, environment := q.choose("project", "default", "shop"), q.anyEnvironment()
	s := q.drawStrategy("all")
	a, status := q.world.attached(project, environment), 200
	switch {
	case a == nil:
		status = 404
	case !q.world.usable(project, s.Segments):
		status = 400
	}
	q.do("POST", apitest.Projects+"/"+project+"/environments/"+environment+"/default-strategy", strategyBody(s), status)
	if status == 200 {
		a.strategy = &s
	}
}

// deleteOrCreateStage deletes the environment "stage", or creates it again. The new environment has no data of flags.
// While a flag is on in it, it cannot be deleted.
func (q *sequence) deleteOrCreateStage() {
	if q.world.environments["stage"] != 0 {
		if q.choose("deleted", "no", "no", "yes") == "no" {
			return
		}
		for name, f := range q.world.flags {
			if q.world.active(name) != nil && q.world.enabled(f, "stage") {
				q.do("DELETE", apitest.Environments+"/stage", "", 409)
				return
			}
		}
		q.world.noteLeftovers("stage")
		q.do("DELETE", apitest.Environments+"/stage", "", 200)
		q.world.environments["stage"] = 0
		return
	}
	q.do("POST", apitest.Environments, body("name", "stage", "type", "test"), 201)
	q.world.environments["stage"] = q.world.next()
}

func tagChange(added, removed []string) map[string]any {
	list := func(values []string) []map[string]string {
		tags := []map[string]string{}
		for _, value := range values {
			tags = append(tags, map[string]string{"type": "simple", "value": value})
		}
		return tags
	}
	return map[string]any{"addedTags": list(added), "removedTags": list(removed)}
}

func tagsBody(added, removed []string) string { return text(tagChange(added, removed)) }

func variantBodies(variants []variantState) []map[string]any {
	list := []map[string]any{}
	for _, v := range variants {
		list = append(list, map[string]any{"name": v.Name, "weight": 1, "weightType": v.WeightType, "stickiness": v.Stickiness})
	}
	return list
}

// strategyOf returns a strategy as in a request.
func strategyOf(s strategyState) map[string]any {
	constraints := []map[string]any{}
	for _, c := range s.Constraints {
		constraints = append(constraints, map[string]any{
			"contextName": c.ContextName, "operator": c.Operator, "values": c.Values, "inverted": c.Inverted, "caseInsensitive": c.CaseInsensitive,
		})
	}
	return map[string]any{
		"name": s.Name, "title": s.Title, "disabled": s.Disabled, "sortOrder": s.SortOrder, "segments": append([]int64{}, s.Segments...),
		"constraints": constraints, "variants": variantBodies(s.Variants), "parameters": maps.Clone(s.Parameters),
	}
}

func strategyBody(s strategyState) string {
	in := strategyOf(s)
	if s.Parameters == nil {
		delete(in, "parameters")
	}
	return text(in)
}

func oneImport(name, kind, project, environment string, on bool, tags []string, strategies []strategyState, variants []variantState) string {
	list, labels := []map[string]any{}, []map[string]any{}
	for _, s := range strategies {
		in := strategyOf(s)
		in["featureName"] = name
		if s.Parameters == nil {
			delete(in, "parameters")
		}
		list = append(list, in)
	}
	for _, tag := range tags {
		labels = append(labels, map[string]any{"featureName": name, "tagType": "simple", "tagValue": tag})
	}
	return body("project", project, "environment", environment, "data", map[string]any{
		"features":            []map[string]any{{"name": name, "type": kind}},
		"featureStrategies":   list,
		"featureEnvironments": []map[string]any{{"featureName": name, "enabled": on, "variants": variantBodies(variants)}},
		"featureTags":         labels,
	})
}
