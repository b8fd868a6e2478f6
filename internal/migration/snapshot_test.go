//go:build migration

package migration

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A snapshot is the contents of a server as one tree: the flags by name, each as it is read and as it is exported in each
// environment, and the items to which flags refer. Values that each server assigns itself are removed: ids, times, names of users,
// and counts. Segments are identified by name.
type snapshot object

// own are the fields that each server assigns itself.
var own = []string{
	"id", "createdAt", "createdBy", "createdByUserId", "lastSeenAt", "lastSeenAtEnvironments", "sortOrder", "featureName", "version",
	"favorite", "lifecycle", "collaborators", "usedInProjects", "usedInFeatures", "archivedAt", "archived", "tokens", "links",
}

func (s *server) snapshot() snapshot {
	r := &snapper{c: s, segments: map[string]string{}, places: map[string]float64{}}
	snap := snapshot{"segments": r.listed("/api/admin/segments", "segments")}
	for _, s := range snap["segments"].(object) {
		r.segments[fmt.Sprint(s.(object)["id"])] = fmt.Sprint(s.(object)["name"])
	}
	snap["tagTypes"] = r.listed("/api/admin/tag-types", "tagTypes")
	snap["contextFields"] = r.listed("/api/admin/context", "")
	snap["strategyTypes"] = r.listed("/api/admin/strategies", "strategies")
	flags := r.listed(flagsPath, "features")
	for name := range flags {
		flags[name] = r.flag(name)
	}
	for _, environment := range environments {
		r.export(environment, flags)
	}
	snap["flags"] = flags
	for _, of := range snap { // not by clean(of): its keys are names
		for _, entity := range of.(object) {
			clean(entity)
		}
	}
	return snap
}

// A snapper reads the parts of a snapshot.
type snapper struct {
	c        *server
	segments map[string]string  // names by id
	places   map[string]float64 // sort orders of strategies, by id: exports of Unleash are not sorted
}

func (r *snapper) get(path string) (answer object) {
	r.c.call("GET", path, nil, &answer)
	return answer
}

// listed returns the items of a list by name. The list is a field of the response, or the response if the field is "".
func (r *snapper) listed(path, member string) object {
	items := list{}
	if member == "" {
		r.c.call("GET", path, nil, &items)
	} else {
		items, _ = r.get(path)[member].([]any)
	}
	return index(items, "name")
}

func index(items list, by string) object {
	m := object{}
	for _, item := range items {
		m[item.(object)[by].(string)] = item
	}
	return m
}

// flag returns a flag with its tags, and with its strategies and variants in each environment.
func (r *snapper) flag(name string) object {
	flag := r.get(flagPath(name))
	delete(flag, "variants") // a summary of those of the environments
	delete(flag, "tags")     // only in some responses
	in := object{}
	for _, e := range flag["environments"].([]any) {
		e := e.(object)
		environment := e["name"].(string)
		at := inEnvironment(name, environment)
		strategies := list{}
		r.c.call("GET", at+"/strategies", nil, &strategies)
		for _, s := range strategies {
			r.places[fmt.Sprint(s.(object)["id"])] = number(s.(object)["sortOrder"])
		}
		in[environment] = object{"enabled": e["enabled"], "strategies": r.strategies(strategies), "variants": sortedBy(r.get(at + "/variants")["variants"], "name")}
	}
	flag["environments"] = in
	tags := list{}
	for _, t := range asList(r.get("/api/admin/features/" + url.PathEscape(name) + "/tags")["tags"]) {
		tags = append(tags, fmt.Sprint(t.(object)["type"], ":", t.(object)["value"]))
	}
	flag["tags"] = sortedTexts(tags)
	flag["children"] = sortedTexts(asList(flag["children"]))
	flag["dependencies"] = sortedBy(flag["dependencies"], "feature")
	return flag
}

// export adds the export of an environment to each flag.
func (r *snapper) export(environment string, flags object) {
	var data object
	r.c.call("POST", "/api/admin/features-batch/export", object{"environment": environment, "features": list{}}, &data)
	exported := index(data["features"].([]any), "name")
	strategies, tags := map[string]list{}, map[string]list{}
	for _, s := range data["featureStrategies"].([]any) {
		name := s.(object)["featureName"].(string)
		strategies[name] = append(strategies[name], s)
	}
	for _, t := range data["featureTags"].([]any) {
		t := t.(object)
		name := t["featureName"].(string)
		tags[name] = append(tags[name], fmt.Sprint(t["tagType"], ":", t["tagValue"]))
	}
	in := index(data["featureEnvironments"].([]any), "featureName")
	parents := index(asList(data["dependencies"]), "feature")
	for name, e := range exported {
		e := e.(object)
		e["strategies"], e["tags"], e["environment"] = r.strategies(strategies[name]), sortedTexts(tags[name]), in[name]
		if in, there := in[name].(object); there {
			in["variants"] = sortedBy(in["variants"], "name")
		}
		if p, there := parents[name].(object); there {
			e["dependencies"] = sortedBy(p["dependencies"], "feature")
		}
		flag, there := flags[name].(object)
		if !there {
			flag = object{}
			flags[name] = flag
		}
		flag["export of "+environment] = e
	}
}

// strategies sorts strategies and replaces the ids of their segments by names.
func (r *snapper) strategies(items list) list {
	place := func(s any) float64 { return r.places[fmt.Sprint(s.(object)["id"])] }
	slices.SortStableFunc(items, func(a, b any) int { return cmp.Compare(place(a), place(b)) })
	for _, s := range items {
		s := s.(object)
		names := list{}
		for _, id := range asList(s["segments"]) {
			names = append(names, r.segments[fmt.Sprint(id)])
		}
		s["segments"] = sortedTexts(names)
	}
	return append(list{}, items...)
}

func number(v any) float64 { n, _ := v.(float64); return n }

func asList(v any) list { l, _ := v.([]any); return l }

func sortedTexts(items list) list {
	slices.SortFunc(items, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	return append(list{}, items...)
}

func sortedBy(items any, member string) list {
	sorted := append(list{}, asList(items)...)
	slices.SortStableFunc(sorted, func(a, b any) int {
		return strings.Compare(fmt.Sprint(a.(object)[member]), fmt.Sprint(b.(object)[member]))
	})
	return sorted
}

// clean removes the fields in own from a tree. Parameters of a strategy can have any name and stay.
func clean(v any) {
	switch v := v.(type) {
	case object:
		for _, name := range own {
			delete(v, name)
		}
		for name, child := range v {
			if name != "parameters" {
				clean(child)
			}
		}
	case list:
		for _, child := range v {
			clean(child)
		}
	}
}
