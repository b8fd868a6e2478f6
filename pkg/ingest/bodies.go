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

// in returns the environment of what a sender reports. SDKs send "default" in most bodies.
func (s *sender) in(environment text) string {
	return cmp.Or(s.environment, string(environment), defaultEnvironment)
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

func (b registerBody) check(p *flags.Problems) {
	checkRequired("/appName", b.AppName != "", p)
	checkRequired("/interval", b.Interval.given, p)
	checkRequired("/started", b.Started.given, p)
	checkRequired("/strategies", b.Strategies != nil, p)
	checkInstance("", b.AppName, b.InstanceID, b.Environment, b.SDKVersion, b.Strategies, p)
}

func (b registerBody) addTo(post *usage.Post, from *sender) {
	post.Instances = []usage.PostInstance{{
		Application: string(b.AppName), Instance: string(b.InstanceID), Environment: from.in(b.Environment),
		SDK: cmp.Or(string(b.SDKVersion), from.sdk), Address: from.address,
		Registered: true, Strategies: distinct(b.Strategies), Started: b.Started.Time,
	}}
}

// A metricsBody is how often an instance evaluated flags since its last report.
type metricsBody struct {
	AppName     text                   `json:"appName"`
	InstanceID  text                   `json:"instanceId,omitzero"`
	Environment text                   `json:"environment,omitzero"`
	SDKVersion  text                   `json:"sdkVersion,omitzero"`
	Bucket      jsonbody.Maybe[bucket] `json:"bucket"`
}

// A bucket has the counts. The times are those of the sender, which can be wrong: counts belong to the hour in which they arrive.
type bucket struct {
	Start   moment            `json:"start"`
	Stop    moment            `json:"stop"`
	Toggles map[string]toggle `json:"toggles"`
}

type toggle struct {
	Yes      count            `json:"yes,omitzero"`
	No       count            `json:"no,omitzero"`
	Variants map[string]count `json:"variants,omitzero"`
}

func (b metricsBody) check(p *flags.Problems) {
	checkRequired("/appName", b.AppName != "", p)
	checkInstance("", b.AppName, b.InstanceID, b.Environment, b.SDKVersion, nil, p)
	if checkRequired("/bucket", b.Bucket.Set, p); b.Bucket.Set {
		b.Bucket.Value.check(p)
	}
}

func (b bucket) check(p *flags.Problems) {
	checkRequired("/bucket/start", b.Start.given, p)
	checkRequired("/bucket/stop", b.Stop.given, p)
	checkRequired("/bucket/toggles", b.Toggles != nil, p)
	if !flags.CheckCount("/bucket/toggles", "flags", len(b.Toggles), usage.MaxCounts, p) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(b.Toggles)) {
		if n := utf8.RuneCountInString(name); n > usage.MaxFeature {
			p.Add("/bucket/toggles", "must have names of at most %d characters; one has %d", usage.MaxFeature, n)
			continue
		}
		checkVariants(string(jsontext.Pointer("/bucket/toggles").AppendToken(name))+"/variants", b.Toggles[name].Variants, p)
	}
}

func (b metricsBody) addTo(post *usage.Post, from *sender) {
	environment := from.in(b.Environment)
	post.Instances = []usage.PostInstance{{
		Application: string(b.AppName), Instance: string(b.InstanceID), Environment: environment,
		SDK: cmp.Or(string(b.SDKVersion), from.sdk), Address: from.address,
	}}
	for _, name := range slices.Sorted(maps.Keys(b.Bucket.Value.Toggles)) {
		add(post, usage.Count{Feature: name, Application: string(b.AppName), Environment: environment}, b.Bucket.Value.Toggles[name])
	}
}

// A bulkBody is what Unleash Edge reports for many instances.
type bulkBody struct {
	Applications []bulkApplication `json:"applications"`
	Metrics      []bulkMetrics     `json:"metrics"`
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
	checkRequired("/applications", b.Applications != nil, p)
	checkRequired("/metrics", b.Metrics != nil, p)
	if !flags.CheckCount("/applications", "instances", len(b.Applications), usage.MaxPostInstances, p) ||
		!flags.CheckCount("/metrics", "entries", len(b.Metrics), usage.MaxCounts, p) {
		return
	}
	names := map[text]bool{}
	for i, a := range b.Applications {
		at := fmt.Sprintf("/applications/%d", i)
		checkRequired(at+"/appName", a.AppName != "", p)
		checkInstance(at, a.AppName, a.InstanceID, a.Environment, a.SDKVersion, a.Strategies, p)
		names[a.AppName] = true
	}
	for i, m := range b.Metrics {
		at := fmt.Sprintf("/metrics/%d", i)
		checkRequired(at+"/featureName", m.FeatureName != "", p)
		checkRequired(at+"/appName", m.AppName != "", p)
		checkRequired(at+"/environment", m.Environment != "", p)
		flags.CheckLength(at+"/featureName", string(m.FeatureName), usage.MaxFeature, p)
		checkInstance(at, m.AppName, "", m.Environment, "", nil, p)
		checkVariants(at+"/variants", m.Variants, p)
		names[m.AppName] = true
	}
	flags.CheckCount("/applications", "applications, with those of the metrics", len(names), usage.MaxPostApplications, p)
}

// addTo adds the instances with their own environment: Unleash Edge sends those of all environments with the token of one. As in
// Unleash, metrics of other environments than the token's are left out. Metrics of all projects count, because Edge sends them
// with the token of one of them.
func (b bulkBody) addTo(post *usage.Post, from *sender) {
	post.Projects = []string{flags.All}
	for _, a := range b.Applications {
		instance := usage.PostInstance{
			Application: string(a.AppName), Instance: string(a.InstanceID), SDK: string(a.SDKVersion),
			Environment: cmp.Or(string(a.Environment), from.in("")), Registered: true, Strategies: distinct(a.Strategies),
		}
		if a.Started != nil {
			instance.Started = a.Started.Time
		}
		post.Instances = append(post.Instances, instance)
	}
	for _, m := range b.Metrics {
		if from.environment == "" || string(m.Environment) == from.environment {
			add(post, usage.Count{Feature: string(m.FeatureName), Application: string(m.AppName), Environment: string(m.Environment)},
				toggle{Yes: m.Yes, No: m.No, Variants: m.Variants})
		}
	}
}

// add adds a count to a post, unless it counts nothing.
func add(post *usage.Post, c usage.Count, t toggle) {
	for name, n := range t.Variants {
		if n == 0 {
			continue
		}
		if c.Variants == nil {
			c.Variants = map[string]int64{}
		}
		c.Variants[name] = int64(n)
	}
	if c.Yes, c.No = int64(t.Yes), int64(t.No); c.Feature != "" && (c.Yes > 0 || c.No > 0 || c.Variants != nil) {
		post.Counts = append(post.Counts, c)
	}
}

// checkRequired adds a problem if a field is missing.
func checkRequired(path string, given bool, p *flags.Problems) {
	if !given {
		p.Add(path, "is required")
	}
}

// checkInstance checks the texts of an instance. path is that of the object that has them.
func checkInstance(path string, application, instance, environment, sdk text, strategies []text, p *flags.Problems) {
	flags.CheckLength(path+"/appName", string(application), usage.MaxName, p)
	flags.CheckLength(path+"/instanceId", string(instance), usage.MaxName, p)
	flags.CheckLength(path+"/environment", string(environment), usage.MaxName, p)
	flags.CheckLength(path+"/sdkVersion", string(sdk), usage.MaxName, p)
	if !flags.CheckCount(path+"/strategies", "names", len(strategies), usage.MaxStrategies, p) {
		return
	}
	for i, name := range strategies {
		flags.CheckLength(fmt.Sprintf("%s/strategies/%d", path, i), string(name), usage.MaxName, p)
	}
}

// checkVariants checks the names of variants.
func checkVariants(path string, variants map[string]count, p *flags.Problems) {
	if !flags.CheckCount(path, "variants", len(variants), usage.MaxVariants, p) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		flags.CheckLength(path, name, usage.MaxName, p)
	}
}

// distinct returns the names in order, each once, without the empty one.
func distinct(names []text) (list []string) {
	for _, name := range names {
		if name != "" {
			list = append(list, string(name))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
