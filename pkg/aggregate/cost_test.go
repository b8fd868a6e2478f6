package aggregate_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"guidon/internal/capacity"
	"guidon/pkg/access"
	"guidon/pkg/aggregate"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// costs returns what an aggregation costs.
func (w *world) costs() capacity.Cost {
	w.Helper()
	count := &capacity.Counter{}
	store := dynamotest.OpenOn(w.T, dynamotest.Engine(), w.store.Table(), count)
	return count.During(func() {
		if _, err := aggregate.New(store, aggregate.Settings{Settle: 10 * time.Second, Now: func() time.Time { return w.now }}).Run(w.Context()); err != nil {
			w.Fatal(err)
		}
	})
}

// TestInventedVariants reports variants that the flag does not have, with names that fill a sum. They must not make later
// aggregations of the flag cost more.
func TestInventedVariants(t *testing.T) {
	w := newWorld(t, "f")
	before := find[*flags.Feature](w, flags.FeatureKey("f"))
	after := before.Clone()
	development := after.Environments["development"]
	development.Strategies = []flags.Strategy{{ID: "s", Name: "default", Variants: []flags.Variant{{Name: "red", Weight: 1000}}}}
	after.Environments["development"] = development
	w.commit(flags.Write{Before: before, After: after})
	own := map[string]int64{"blue": 1, "red": 2, "disabled": 3}
	report := func(variants map[string]int64) {
		w.post(w.now, usage.Count{Feature: "f", Application: "shop", Environment: "development", Yes: 1, Variants: variants})
		w.now = w.now.Add(time.Minute)
	}
	report(own)
	w.run()
	report(own)
	ordinary := w.costs()
	for range 8 {
		invented := map[string]int64{}
		for range 100 {
			invented[rand.Text()+rand.Text()+rand.Text()+rand.Text()] = 1
		}
		w.post(w.now, usage.Count{Feature: "f", Application: fmt.Sprint("app-", rand.Text()), Environment: "development", Yes: 1, Variants: invented})
	}
	report(own)
	w.run()
	report(own)
	if later := w.costs(); later.Write > ordinary.Write+2 {
		t.Errorf("an aggregation writes %v units after variants were invented, and %v before", later.Write, ordinary.Write)
	}
	sums, err := w.store.Usage(t.Context(), "f", usage.Hour, noon)
	if err != nil || len(sums) != 1 {
		t.Fatal(sums, err)
	}
	other := int64(0)
	for _, c := range sums[0].Counts {
		other += c.Variants[usage.Other]
		if c.Application == "shop" && (c.Variants["blue"] != 4 || c.Variants["red"] != 8 || c.Variants["disabled"] != 12 || len(c.Variants) != 3) {
			t.Errorf("the variants of the flag: %v", c.Variants)
		}
	}
	if other != 800 {
		t.Errorf("%d invented variants are counted as %s, want 800", other, usage.Other)
	}
}

// TestFlagsOfOtherProjects reports the largest flags of another project with a public token, which does not count: their lookup must cost little.
// Flags of the token's project count, also an archived one, and one that a token of a server reports, too.
func TestFlagsOfOtherProjects(t *testing.T) {
	w := newWorld(t, "own", "old", "both")
	old := find[*flags.Feature](w, flags.FeatureKey("old"))
	archived := old.Clone()
	if err := archived.Archive(noon); err != nil {
		t.Fatal(err)
	}
	w.commit(flags.Write{Before: old, After: archived})
	project := &flags.Project{ID: "other", UID: "other-uid", Name: "Other"}
	w.commit(flags.Write{After: project})
	large := strings.Repeat("x", 300<<10)
	counts := []usage.Count{yes("own", 1), yes("old", 1), yes("both", 1)}
	for i := range 10 {
		name := fmt.Sprint("large-", i)
		f := flags.NewFeature(project, name, flags.DefaultMetadata(), "test", noon)
		f.Description = &large
		w.commit(flags.Write{After: f})
		counts = append(counts, yes(name, 1))
	}
	post := func(names ...usage.Count) {
		p := newPost(w.now, names...)
		p.TokenHash = access.HashSecret(dynamotest.FrontendToken)
		if err := w.store.PutPost(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	post(counts[:3]...)
	w.post(w.now, yes("both", 1))
	w.now = w.now.Add(time.Minute)
	ordinary := w.costs()
	post(counts...)
	w.post(w.now, yes("both", 1))
	w.now = w.now.Add(time.Minute)
	if cost := w.costs(); cost.Read > ordinary.Read+20 {
		t.Errorf("an aggregation with 10 large flags of another project reads %v units, and %v without", cost.Read, ordinary.Read)
	}
	for name, want := range map[string]int64{"own": 2, "old": 2, "both": 4, "large-0": 0} {
		w.wantTotal(name, want)
	}
	names := find[*usage.ApplicationNames](w, usage.ApplicationNamesKey("shop"))
	if text := fmt.Sprint(names); !strings.Contains(text, "large-9") {
		t.Errorf("the names of the other project are not listed as unknown: %s", text)
	}
}

// TestInventedNames reports 1000 flags that do not exist, with public tokens of one project and of two: one read of each, with full calls.
func TestInventedNames(t *testing.T) {
	w := newWorld(t)
	tokens := map[string]string{"one": dynamotest.FrontendToken, "two": "[]:development.two"}
	p := find[*flags.Project](w, flags.ProjectKey(flags.DefaultProject))
	other := &flags.Project{ID: "other", UID: "other-uid", Name: "Other"}
	w.commit(flags.Write{After: other}, flags.Write{After: &access.Token{
		Hash: access.HashSecret(tokens["two"]), Name: "two", Type: access.FrontendToken, Environment: "development",
		Projects: []string{p.ID, other.ID}, ProjectUIDs: []string{p.UID, other.UID},
	}})
	for name, secret := range tokens {
		report := func(n int) capacity.Cost {
			p := newPost(w.now)
			p.TokenHash = access.HashSecret(secret)
			for i := range n {
				p.Counts = append(p.Counts, yes(fmt.Sprint("invented-", i), 1))
			}
			if err := w.store.PutPost(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			w.now = w.now.Add(time.Minute)
			return w.costs()
		}
		report(1000)
		ordinary := report(1)
		if cost := report(1000); cost.Read > ordinary.Read+1000+20 || cost.Calls > ordinary.Calls+20 {
			t.Errorf("1000 invented names with a token of %s take %v, and one %v", name, cost, ordinary)
		}
	}
}

// TestInventedApplications sends 200 posts with a public token that are made to fill the list of applications. The list and the
// sum of the flag must stay small, and the projects that real applications use must be in the list. Deleting the invented ones makes room for others.
func TestInventedApplications(t *testing.T) {
	w := newWorld(t, "f")
	frontend := access.HashSecret(dynamotest.FrontendToken)
	post := func(application string, junk int) {
		p := newPost(w.now, usage.Count{Feature: "f", Application: application, Environment: "development", Yes: 1})
		p.TokenHash = frontend
		p.Instances[0].Registered, p.Instances[0].SDK = true, "sdk:"+rand.Text()
		for range junk {
			p.Counts = append(p.Counts, usage.Count{Feature: rand.Text() + strings.Repeat("x", 200), Application: application, Environment: "development", Yes: 1})
			p.Instances[0].Strategies = append(p.Instances[0].Strategies, rand.Text()+strings.Repeat("x", 200))
		}
		if err := w.store.PutPost(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	aggregated := func() {
		w.now = w.now.Add(time.Minute)
		w.run()
	}
	invented := make([]string, 100) // sums are compressed, so their names are random
	for i := range invented {
		invented[i] = fmt.Sprintf("junk-%03d-%.90s", i, rand.Text()+rand.Text()+rand.Text()+rand.Text())
	}
	w.post(w.now, yes("f", 1)) // of the application shop, with another token
	aggregated()
	w.post(w.now, yes("f", 1))
	w.now = w.now.Add(time.Minute)
	ordinary := w.costs()
	post("shop", 200) // an invented report of a real application
	for _, name := range invented {
		post(name, 100)
		post(name, 100)
	}
	aggregated()
	w.post(w.now, yes("f", 1))
	w.now = w.now.Add(time.Minute)
	if later := w.costs(); later.Write > ordinary.Write+4 {
		t.Errorf("an aggregation writes %v units after applications were invented, and %v before", later.Write, ordinary.Write)
	}

	count := &capacity.Counter{}
	store := dynamotest.OpenOn(t, dynamotest.Engine(), w.store.Table(), count)
	cost := count.During(func() {
		if list, err := store.List(t.Context(), usage.EntityApplication); err != nil || len(list) < 25 {
			t.Errorf("%d applications, %v", len(list), err)
		}
	})
	if cost.Read > 40 {
		t.Errorf("the list of applications reads %v units, want at most 40", cost.Read)
	}
	shop := find[*usage.Application](w, usage.ApplicationKey("shop"))
	if shop == nil || shop.Uses["default"] == nil || shop.Projects["default"] == nil {
		t.Errorf("the application shop: %+v, want its project", shop)
	}
	tokens := find[*usage.TokenApplications](w, usage.TokenApplicationsKey(frontend))
	if size := len(fmt.Sprint(tokens.Names)); size > 6<<10 {
		t.Errorf("the applications of the token have %d bytes", size)
	}

	post("new", 0)
	aggregated()
	if a := find[*usage.Application](w, usage.ApplicationKey("new")); a != nil {
		t.Fatalf("there is room for %s", a.Name)
	}
	for name := range tokens.Names {
		if a := find[*usage.Application](w, usage.ApplicationKey(name)); a != nil && name != "shop" {
			w.commit(flags.Write{Before: a})
		}
	}
	post("new", 0)
	aggregated()
	if find[*usage.Application](w, usage.ApplicationKey("new")) == nil {
		t.Error("there is no room for a new application after the invented ones were deleted")
	}
}

// TestInventedInstances reports 300 instances of one application that a public token invents, and then makes each as long as it may be.
// The list must stay small, as each report of one of them can write it, and an instance with a token of a server must have room.
func TestInventedInstances(t *testing.T) {
	w := newWorld(t, "f")
	report := func(token, instance, sdk string) {
		t.Helper()
		p := newPost(w.now, yes("f", 1))
		p.TokenHash = access.HashSecret(token)
		p.Instances[0].Instance, p.Instances[0].SDK = instance, sdk
		if err := w.store.PutPost(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	for _, sdk := range []string{"", strings.Repeat("x", 250)} {
		for i := range 300 {
			report(dynamotest.FrontendToken, fmt.Sprint("invented-", i), sdk)
		}
		w.now = w.now.Add(time.Minute)
		w.run()
		w.now = w.now.Add(usage.ReportInterval)
	}
	report(dynamotest.ClientToken, "server", "sdk:1")
	w.now = w.now.Add(time.Minute)
	w.run()
	instances := find[*usage.Instances](w, usage.InstancesKey("shop", "development"))
	text, err := json.Marshal(instances)
	if err != nil || len(text) > 20<<10 || len(instances.List) < 50 {
		t.Errorf("%d instances have %d bytes, %v; want at least 50 and at most 20 KB", len(instances.List), len(text), err)
	}
	if !slices.ContainsFunc(instances.List, func(i usage.Instance) bool { return i.Name == "server" }) {
		t.Error("the instance with the client token is not listed")
	}
}
