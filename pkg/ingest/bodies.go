package ingest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
	"guidon/pkg/usage"
)

// defaultEnvironment is what Unleash takes as the environment if neither token nor body names one.
const defaultEnvironment = "default"

// A report is read part by part. What cannot be read is left out and added to the problems, and everything beside it counts:
//
//   - an odd count is 0, an odd or too long text is empty, and an odd or too long name leaves out only what it names;
//   - times are not used, so odd ones are no problem;
//   - a report that names no application, or that is larger than the limits, is refused.
//
// A report of which nothing counts is refused with its problems (see read), so that the author of an SDK sees them.

// in returns the environment of what a sender reports. SDKs send "default" in most bodies.
func (s *sender) in(environment text, at string, left *flags.Problems) string {
	return cmp.Or(s.environment, environment.name(at, left), defaultEnvironment)
}

// A registerBody is what an application says about itself when it starts.
type registerBody struct {
	AppName     text   `json:"appName"`
	InstanceID  text   `json:"instanceId,omitzero"`
	Environment text   `json:"environment,omitzero"`
	SDKVersion  text   `json:"sdkVersion,omitzero"`
	Strategies  []text `json:"strategies"`
	Started     moment `json:"started"`
	Interval    number `json:"interval"`
}

func (b registerBody) check(p *flags.Problems) { checkApplication("/appName", b.AppName, p) }

func (b registerBody) addTo(post *usage.Post, from *sender, left *flags.Problems) {
	post.Instances = []usage.PostInstance{{
		Application: string(b.AppName), Instance: b.InstanceID.name("/instanceId", left),
		Environment: from.in(b.Environment, "/environment", left), SDK: cmp.Or(b.SDKVersion.name("/sdkVersion", left), from.sdk),
		Address: from.address, Registered: true, Strategies: distinct(b.Strategies, "/strategies", left), Started: b.Started.Time,
	}}
}

// A metricsBody is how often an instance evaluated flags since its last report. SDKs that only report impact metrics, which Guidon does
// not store, have no bucket, or null in it.
type metricsBody struct {
	AppName       text                    `json:"appName"`
	InstanceID    text                    `json:"instanceId,omitzero"`
	Environment   text                    `json:"environment,omitzero"`
	SDKVersion    text                    `json:"sdkVersion,omitzero"`
	Bucket        jsonbody.Maybe[*bucket] `json:"bucket"`
	ImpactMetrics jsontext.Value          `json:"impactMetrics,omitzero"`
}

// A bucket has the counts. The times are those of the sender, which can be wrong: counts belong to the hour in which they arrive.
type bucket struct {
	Start   moment                            `json:"start"`
	Stop    moment                            `json:"stop"`
	Toggles jsonbody.Maybe[map[string]toggle] `json:"toggles"`
}

type toggle struct {
	Yes      count            `json:"yes,omitzero"`
	No       count            `json:"no,omitzero"`
	Variants map[string]count `json:"variants,omitzero"`
}

func (b metricsBody) check(p *flags.Problems) {
	checkApplication("/appName", b.AppName, p)
	if b.Bucket.Value != nil {
		flags.CheckCount("/bucket/toggles", "flags", len(b.Bucket.Value.Toggles.Value), usage.MaxCounts, p)
	}
}

func (b metricsBody) addTo(post *usage.Post, from *sender, left *flags.Problems) {
	environment := from.in(b.Environment, "/environment", left)
	post.Instances = []usage.PostInstance{{
		Application: string(b.AppName), Instance: b.InstanceID.name("/instanceId", left), Environment: environment,
		SDK: cmp.Or(b.SDKVersion.name("/sdkVersion", left), from.sdk), Address: from.address,
	}}
	if !b.Bucket.Set && b.ImpactMetrics == nil {
		left.Add("/bucket", "is required")
	}
	if b.Bucket.Value == nil {
		return
	}
	toggles := b.Bucket.Value.Toggles
	if !toggles.Set {
		left.Add("/bucket/toggles", "is required")
	}
	for _, name := range slices.Sorted(maps.Keys(toggles.Value)) {
		if isTooLong(name, usage.MaxFeature, "/bucket/toggles", left) {
			continue
		}
		at := string(jsontext.Pointer("/bucket/toggles").AppendToken(name))
		add(post, usage.Count{Feature: name, Application: string(b.AppName), Environment: environment}, toggles.Value[name], at, left)
	}
}

// A bulkBody is what Unleash Edge reports for many instances.
type bulkBody struct {
	Applications jsonbody.Maybe[[]bulkApplication] `json:"applications"`
	Metrics      jsonbody.Maybe[[]bulkMetrics]     `json:"metrics"`
}

type bulkApplication struct {
	AppName     text    `json:"appName"`
	InstanceID  text    `json:"instanceId,omitzero"`
	Environment text    `json:"environment,omitzero"`
	SDKVersion  text    `json:"sdkVersion,omitzero"`
	Strategies  []text  `json:"strategies,omitzero"`
	Started     *moment `json:"started,omitzero"`
}

type bulkMetrics struct {
	FeatureName text             `json:"featureName"`
	AppName     text             `json:"appName"`
	Environment text             `json:"environment"`
	Timestamp   *moment          `json:"timestamp,omitzero"`
	Yes         count            `json:"yes,omitzero"`
	No          count            `json:"no,omitzero"`
	Variants    map[string]count `json:"variants,omitzero"`
}

func (b bulkBody) check(p *flags.Problems) {
	if !flags.CheckCount("/applications", "instances", len(b.Applications.Value), usage.MaxPostInstances, p) ||
		!flags.CheckCount("/metrics", "entries", len(b.Metrics.Value), usage.MaxCounts, p) {
		return
	}
	names := map[text]bool{}
	for _, a := range b.Applications.Value {
		names[a.AppName] = true
	}
	for _, m := range b.Metrics.Value {
		names[m.AppName] = true
	}
	delete(names, "")
	flags.CheckCount("/applications", "applications, with those of the metrics", len(names), usage.MaxPostApplications, p)
}

// addTo adds the instances with their own environment: Unleash Edge sends those of all environments with the token of one. As in
// Unleash, metrics of other environments than the token's are left out. Metrics of all projects count, because Edge sends them
// with the token of one of them.
func (b bulkBody) addTo(post *usage.Post, from *sender, left *flags.Problems) {
	if !b.Applications.Set && !b.Metrics.Set {
		left.Add("/applications", "is required")
		left.Add("/metrics", "is required")
	}
	post.Projects = []string{flags.All}
	for i, a := range b.Applications.Value {
		at := fmt.Sprintf("/applications/%d", i)
		if !checkApplication(at+"/appName", a.AppName, left) {
			continue
		}
		instance := usage.PostInstance{
			Application: string(a.AppName), Instance: a.InstanceID.name(at+"/instanceId", left), SDK: a.SDKVersion.name(at+"/sdkVersion", left),
			Environment: cmp.Or(a.Environment.name(at+"/environment", left), from.in("", "", left)),
			Registered:  true, Strategies: distinct(a.Strategies, at+"/strategies", left),
		}
		if a.Started != nil {
			instance.Started = a.Started.Time
		}
		post.Instances = append(post.Instances, instance)
	}
	for i, m := range b.Metrics.Value {
		at := fmt.Sprintf("/metrics/%d", i)
		switch {
		case m.FeatureName == "":
			left.Add(at+"/featureName", "is required")
			continue
		case isTooLong(string(m.FeatureName), usage.MaxFeature, at+"/featureName", left), !checkApplication(at+"/appName", m.AppName, left):
			continue
		}
		environment := cmp.Or(m.Environment.name(at+"/environment", left), from.in("", "", left))
		if from.environment == "" || environment == from.environment {
			add(post, usage.Count{Feature: string(m.FeatureName), Application: string(m.AppName), Environment: environment},
				toggle{Yes: m.Yes, No: m.No, Variants: m.Variants}, at, left)
		}
	}
}

// add adds a count to a post, unless it counts nothing. at is its place in the body.
func add(post *usage.Post, c usage.Count, t toggle, at string, left *flags.Problems) {
	for _, name := range slices.Sorted(maps.Keys(t.Variants)) {
		switch {
		case t.Variants[name] == 0, isTooLong(name, usage.MaxName, at+"/variants", left):
			continue
		case len(c.Variants) == usage.MaxVariants:
			left.Add(at+"/variants", "must have at most %d variants", usage.MaxVariants)
		case c.Variants == nil:
			c.Variants = map[string]int64{name: int64(t.Variants[name])}
		default:
			c.Variants[name] = int64(t.Variants[name])
		}
	}
	if c.Yes, c.No = int64(t.Yes), int64(t.No); c.Feature != "" && (c.Yes > 0 || c.No > 0 || c.Variants != nil) {
		post.Counts = append(post.Counts, c)
	}
}

// checkApplication reports whether a text can be the name of an application, without which a report counts for nothing.
func checkApplication(path string, name text, p *flags.Problems) bool {
	if name == "" {
		p.Add(path, "is required")
		return false
	}
	return !isTooLong(string(name), usage.MaxName, path, p)
}

// isTooLong reports whether a name has too many characters, and adds a problem if it does.
func isTooLong(name string, most int, path string, p *flags.Problems) bool {
	n := utf8.RuneCountInString(name)
	if n > most {
		p.Add(path, "must have at most %d characters; one has %d", most, n)
	}
	return n > most
}

// name returns a text, or "" and a problem if it has too many characters for a name.
func (t text) name(path string, p *flags.Problems) string {
	if isTooLong(string(t), usage.MaxName, path, p) {
		return ""
	}
	return string(t)
}

// distinct returns the names in order, each once, without the empty one and those that are too long. It adds a problem if there are too
// many, and returns the first ones.
func distinct(names []text, at string, left *flags.Problems) (list []string) {
	for i, name := range names {
		if valid := name.name(fmt.Sprintf("%s/%d", at, i), left); valid != "" {
			list = append(list, valid)
		}
	}
	slices.Sort(list)
	if list = slices.Compact(list); len(list) > usage.MaxStrategies {
		left.Add(at, "must have at most %d names; has %d", usage.MaxStrategies, len(list))
		list = list[:usage.MaxStrategies]
	}
	return list
}
