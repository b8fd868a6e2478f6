package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A snapshot is what a server has, as it answers it, as one tree: flags by name, each with what exports say of it in each
// environment and what its own read says, and what flags refer to. Left out is what is each server's own, and nothing else
// is made the same: ids, times, names of people, and counts. Segments go by their names.
type snapshot object

// own are members that say nothing of what a flag is: a server gives them.
var own = []string{
	"id", "createdAt", "createdBy", "createdByUserId", "lastSeenAt", "lastSeenAtEnvironments", "sortOrder", "featureName", "version",
	"favorite", "lifecycle", "collaborators", "usedInProjects", "usedInFeatures", "archivedAt", "archived", "tokens", "links",
}

func takeSnapshot(ctx context.Context, c *client) (snapshot, error) {
	r := &snapper{ctx: ctx, c: c, segments: map[string]string{}, places: map[string]float64{}}
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
	for _, of := range snap { // by names, which are cleaned of nothing
		for _, entity := range of.(object) {
			clean(entity)
		}
	}
	return snap, r.err
}

// A snapper reads for a snapshot; after the first error it reads no more.
type snapper struct {
	ctx      context.Context
	c        *client
	segments map[string]string  // names by id
	places   map[string]float64 // of strategies, by id: exports of Unleash are in no order
	err      error
}

func (r *snapper) get(path string) (answer object) {
	if r.err == nil {
		r.err = r.c.get(r.ctx, path, &answer)
	}
	return answer
}

// listed is a list, by the names of its items; it is in a member of the answer, or is the answer.
func (r *snapper) listed(path, member string) object {
	items := list{}
	if member == "" {
		if r.err == nil {
			r.err = r.c.get(r.ctx, path, &items)
		}
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

// flag is what the reads of a flag say: its own, that of its tags, and those of its variants and strategies.
func (r *snapper) flag(name string) object {
	flag := r.get(flagPath(name))
	if r.err != nil {
		return nil
	}
	delete(flag, "variants") // of the flag: a sum of those of its environments
	delete(flag, "tags")     // some answers have them
	in := object{}
	for _, e := range flag["environments"].([]any) {
		e := e.(object)
		environment := e["name"].(string)
		at := inEnvironment(name, environment)
		strategies := list{}
		if r.err == nil {
			r.err = r.c.get(r.ctx, at+"/strategies", &strategies)
		}
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

// export adds what an export of an environment says to each flag, under the name of the environment.
func (r *snapper) export(environment string, flags object) {
	var data object
	if r.err == nil {
		r.err = r.c.send(r.ctx, "POST", "/api/admin/features-batch/export", object{"environment": environment, "features": list{}}, &data)
	}
	if r.err != nil {
		return
	}
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

// strategies are in their order, with the names of their segments.
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

// clean takes out of a tree what is each server's own. The parameters of a strategy may be called anything.
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
