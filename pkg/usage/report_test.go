package usage

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"guidon/pkg/flags"
)

var reported = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// TestReportsAreBounded adds more than an application may have, with names that are large in JSON.
func TestReportsAreBounded(t *testing.T) {
	a, names := NewApplication("shop", reported), &ApplicationNames{}
	for i := range 60 {
		r := Report{Environment: fmt.Sprint("env", i), Projects: []string{"default", fmt.Sprint("p", i)}, At: reported}
		for n := range 300 {
			name := fmt.Sprint(i, n, strings.Repeat("\x01", 200))
			r.Features, r.Unknown, r.Strategies = append(r.Features, name), append(r.Unknown, "u"+name), append(r.Strategies, name)
			r.Instances = append(r.Instances, Instance{Name: name, SDK: name})
		}
		a.Add(r, 1)
		names.Add(r)
	}
	a.Add(Report{Environment: "env0", Projects: []string{"real"}, Uses: []string{"used"}, At: reported}, 1)
	if a.Projects["real"] == nil || a.Uses["used"] == nil || len(a.Projects) != 62 {
		t.Errorf("names that a client invents take the room of projects: %v %v", a.Projects, a.Uses)
	}
	var sdks, unknown [][]string
	for _, env := range a.Environments {
		sdks = append(sdks, env.SDKs)
	}
	for name, list := range names.Unknown {
		if unknown = append(unknown, list); len(list) > MaxUnknownFeatures {
			t.Errorf("%s has %d unknown names", name, len(list))
		}
	}
	for what, left := range map[string]int{
		"strategies": *roomFor(maxReportedNames, a.Strategies), "SDKs": *roomFor(maxReportedNames, sdks...),
		"unknown names": *roomFor(maxUnknownNames, unknown...), "flags": *roomFor(maxExistingNames, names.Features),
	} {
		if left < 0 || left > 2<<10 {
			t.Errorf("%s leave %d bytes, want a little", what, left)
		}
	}
}

func TestReportsAreIdempotent(t *testing.T) {
	report := Report{
		Environment: "production", Projects: []string{"default"}, At: reported, Features: []string{"b", "a"}, Unknown: []string{"x"},
		Strategies: []string{"default"}, Instances: []Instance{{Name: "i", SDK: "sdk:1", CreatedAt: reported, LastSeenAt: reported}},
	}
	a, names, instances := NewApplication("shop", reported), &ApplicationNames{}, &Instances{}
	instances.Add(report, reported)
	a.Add(report, 1)
	names.Add(report)
	again, moreNames, more := a.Clone(), names.Clone(), instances.Clone()
	report.At, report.Instances[0].LastSeenAt = reported.Add(time.Minute), reported.Add(time.Minute)
	more.Add(report, reported)
	again.Add(report, 1)
	moreNames.Add(report)
	if !reflect.DeepEqual(a, again) || !reflect.DeepEqual(names, moreNames) || !reflect.DeepEqual(instances, more) {
		t.Errorf("a report a minute later changes\n%+v %+v to\n%+v %+v", a, instances, again, more)
	}
	report.Features, report.Unknown = []string{"x"}, nil // was created since
	moreNames.Add(report)
	if len(moreNames.Unknown) > 0 || len(moreNames.Features) != 3 {
		t.Errorf("the flag that was created since is unknown: %+v", moreNames)
	}
}

func TestInstances(t *testing.T) {
	list := &Instances{}
	add := func(name string, at time.Time) {
		list.Add(Report{Instances: []Instance{{Name: name, Address: "192.0.2.1", CreatedAt: at, LastSeenAt: at}}}, at)
	}
	for i := range MaxInstances + 10 {
		add(fmt.Sprint(i), reported)
	}
	if len(list.List) != MaxInstances {
		t.Fatalf("there are %d instances, want %d", len(list.List), MaxInstances)
	}
	add("new", reported.Add(time.Minute))
	if has := list.find("new"); has {
		t.Error("an instance replaced one that reported a minute ago")
	}
	add("new", reported.Add(time.Hour))
	if !list.find("new") || len(list.List) != MaxInstances {
		t.Error("an instance did not replace one that reported an hour ago")
	}
	add("newer", reported.Add(InstanceTTL+30*time.Minute))
	if len(list.List) != 2 {
		t.Errorf("there are %d instances, want the two that reported in the last two days", len(list.List))
	}
}

func (i *Instances) find(name string) bool {
	for _, one := range i.List {
		if one.Name == name {
			return true
		}
	}
	return false
}

func TestAdmit(t *testing.T) {
	applications := &TokenApplications{}
	var names []string
	for i := range 2 * MaxTokenApplications {
		names = append(names, fmt.Sprint(i))
	}
	if n := len((&TokenApplications{}).Admit(names, true, reported)); n != MaxPublicApplications {
		t.Errorf("%d applications were admitted with a public token, want %d", n, MaxPublicApplications)
	}
	if n := len(applications.Admit(names, false, reported)); n != MaxTokenApplications {
		t.Errorf("%d applications were admitted, want %d", n, MaxTokenApplications)
	}
	if !applications.Admit([]string{"99"}, true, reported)["99"] || applications.Admit([]string{"new"}, false, reported)["new"] {
		t.Error("a known application was refused, or a new one was admitted beyond the limit")
	}
	if !applications.Admit([]string{"new"}, false, reported.Add(TokenApplicationsTTL+24*time.Hour))["new"] {
		t.Error("a new application was refused although the others have not reported for long")
	}
}

// TestRecordEvaluation checks that nothing changes that applications see.
func TestRecordEvaluation(t *testing.T) {
	env := flags.ProjectEnvironment{Environment: flags.Environment{Name: "production", UID: "u1", Type: flags.ProductionType}, Attachment: flags.Attachment{ID: "a1", EnvironmentUID: "u1"}}
	f := &flags.Feature{Name: "f", CreatedAt: reported}
	before := f.Clone()
	f.RecordEvaluation(env, reported.Add(90*time.Minute))
	if !f.LastSeenAt.Equal(reported.Add(90*time.Minute)) || !f.In(env).LastSeenAt.Equal(f.LastSeenAt) || f.Phase().Stage != flags.StageLive {
		t.Errorf("got %+v", f)
	}
	if !reflect.DeepEqual(before.Served(), f.Served()) {
		t.Errorf("applications see a change: %+v, %+v", before.Served(), f.Served())
	}
	again := f.Clone()
	for _, minutes := range []int{30, 91, 119} {
		again.RecordEvaluation(env, reported.Add(time.Duration(minutes)*time.Minute))
	}
	if !reflect.DeepEqual(f, again) {
		t.Errorf("the flag changes twice in an hour: %+v, %+v", f, again)
	}
	other := env
	other.UID, other.Attachment.EnvironmentUID = "u2", "u2" // created again
	again.Environments["production"] = flags.FeatureEnvironment{
		EnvironmentState: flags.EnvironmentState{EnvironmentUID: "u1", EnabledIn: "a1"}, Strategies: []flags.Strategy{{Name: "default"}},
	}
	served := again.Served()
	again.RecordEvaluation(other, reported.Add(5*time.Hour))
	if !reflect.DeepEqual(served, again.Served()) || !again.LastSeenAt.Equal(reported.Add(5*time.Hour)) {
		t.Errorf("an entry of a deleted environment was replaced: %+v", again)
	}
}
