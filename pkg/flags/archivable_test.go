package flags_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/flags"
)

// TestArchivable changes one condition of a flag that is safe to archive at a time.
func TestArchivable(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(days int) time.Time { return now.Add(-time.Duration(days) * 24 * time.Hour) }
	environment := func(name, kind string) flags.ProjectEnvironment {
		return flags.ProjectEnvironment{Environment: flags.Environment{Name: name, UID: name, Type: kind}, Attachment: flags.Attachment{ID: name}}
	}
	dev, production := environment("dev", "development"), environment("prod", flags.ProductionType)
	everyone := flags.Strategy{Name: "flexibleRollout", Parameters: map[string]string{"rollout": "100"}}
	half := flags.Strategy{Name: "flexibleRollout", Parameters: map[string]string{"rollout": "50"}}
	variants := []flags.Variant{{Name: "a", Weight: 500}, {Name: "b", Weight: 500}}
	type world struct {
		f     *flags.Feature
		check flags.ArchiveCheck
	}
	set := func(w *world, env flags.ProjectEnvironment, on bool, offSince time.Time, variants []flags.Variant, strategies ...flags.Strategy) {
		fe := flags.FeatureEnvironment{
			EnvironmentState: flags.EnvironmentState{EnvironmentUID: env.UID}, Strategies: strategies, Variants: variants,
		}
		if !offSince.IsZero() {
			fe.OffSince = offSince.Unix()
		}
		if on {
			fe.EnabledIn = env.Attachment.ID
		}
		w.f.Environments[env.Name] = fe
	}
	scan := func(w *world) *flags.CodeScan { return &w.check.References.Repositories[0] }
	for _, c := range []struct {
		name   string
		change func(w *world)
		want   []string // parts of what stands against it
	}{
		{"off for long", func(*world) {}, nil},
		{"never on", func(w *world) { clear(w.f.Environments) }, nil},
		{"off for 29 days", func(w *world) { set(w, production, false, ago(29), nil, half) }, []string{"off only since 2026-01-31"}},
		{"off for 30 days", func(w *world) { set(w, production, false, ago(30), nil, half) }, nil},
		{"on for some", func(w *world) { set(w, production, true, time.Time{}, nil, half) }, []string{"not the same for everyone in prod"}},
		{"on for some, completed", func(w *world) {
			set(w, production, true, time.Time{}, nil, half)
			w.f.Complete(flags.Completion{}, ago(1))
		}, nil},
		{"on for everyone", func(w *world) { set(w, production, true, time.Time{}, nil, everyone) }, nil},
		{"on for everyone and a few", func(w *world) { set(w, production, true, time.Time{}, nil, half, everyone) }, nil},
		{"on for everyone, but no longer by the disabled strategy", func(w *world) {
			disabled := everyone
			disabled.Disabled = true
			set(w, production, true, time.Time{}, nil, half, disabled)
		}, []string{"not the same for everyone"}},
		{"on for everyone in production only", func(w *world) {
			set(w, production, true, time.Time{}, nil, everyone)
			set(w, dev, true, time.Time{}, nil, half)
		}, nil},
		{"on for everyone in development only", func(w *world) { set(w, dev, true, time.Time{}, nil, everyone) }, []string{"not the same for everyone in prod"}},
		{"without production", func(w *world) {
			w.check.Environments = w.check.Environments[:1]
			set(w, dev, true, time.Time{}, nil, everyone)
		}, nil},
		{"with variants", func(w *world) { set(w, production, true, time.Time{}, variants, everyone) }, []string{"not the same for everyone"}},
		{"with one variant", func(w *world) { set(w, production, true, time.Time{}, variants[:1], everyone) }, nil},
		{"with variants of a strategy", func(w *world) {
			split := everyone
			split.Variants = variants
			set(w, production, true, time.Time{}, nil, split)
		}, []string{"not the same for everyone"}},
		{"with a parent", func(w *world) {
			set(w, production, true, time.Time{}, nil, everyone)
			w.f.Dependencies = []flags.Dependency{{Feature: "parent"}}
		}, []string{"not the same for everyone"}},
		{"used 29 days ago", func(w *world) { w.f.LastSeenAt = ago(29) }, []string{"An application evaluated it on 2026-01-31."}},
		{"used 30 days ago", func(w *world) { w.f.LastSeenAt = ago(30) }, nil},
		{"new", func(w *world) { w.f.CreatedAt = ago(3) }, []string{"off only since", "created or revived on 2026-02-26"}},
		{"new and completed", func(w *world) {
			w.f.CreatedAt = ago(3)
			w.f.Complete(flags.Completion{}, now)
		}, []string{"created or revived on 2026-02-26"}},
		{"revived", func(w *world) {
			w.f.Archived = true
			w.f.Revive(ago(2))
		}, []string{"off only since", "created or revived on 2026-02-27"}},
		{"asked for by OFREP", func(w *world) { w.check.AskedForAll = ago(1) }, []string{"Pages ask for it by OFREP together with all other flags, last on 2026-02-28."}},
		{"asked for by OFREP long ago", func(w *world) { w.check.AskedForAll = ago(31) }, nil},
		{"with children", func(w *world) { w.f.Children = []string{"child"} }, []string{"Other flags depend on it."}},
		{"never scanned", func(w *world) { w.check.References = nil }, []string{"No repository was scanned"}},
		{"no repositories", func(w *world) { w.check.References.Repositories = nil }, []string{"No repository was scanned"}},
		{"an old scan", func(w *world) { scan(w).ScannedAt = ago(7) }, []string{"The last scan is older than 7 days: shop."}},
		{"a partial scan", func(w *world) { scan(w).Partial = true }, []string{"The last scan left out files: shop."}},
		{"not looked for", func(w *world) { scan(w).Flags = nil }, []string{"The last scan did not look for it: shop."}},
		{"named", func(w *world) { scan(w).Flags["f"] = []flags.CodePlace{{Path: "a", Line: 1, Count: 1}} }, []string{"The code names it: shop."}},
		{"one repository of many", func(w *world) {
			w.check.References.Repositories = append(w.check.References.Repositories, flags.CodeScan{Repository: "web", ScannedAt: ago(9), Flags: scan(w).Flags})
		}, []string{"older than 7 days: web."}},
		{"many repositories", func(w *world) {
			old := flags.CodeScan{Repository: "r", ScannedAt: ago(9), Flags: scan(w).Flags}
			w.check.References.Repositories = []flags.CodeScan{old, old, old, old, old}
		}, []string{"older than 7 days: r, r, r and 2 more repositories."}},
		{"everything", func(w *world) {
			set(w, production, true, time.Time{}, nil, half)
			w.f.LastSeenAt, w.check.AskedForAll, w.f.Children, scan(w).Flags = now, now, []string{"c"}, nil
		}, []string{"not the same", "evaluated", "OFREP", "depend", "did not look"}},
	} {
		w := &world{
			&flags.Feature{Name: "f", CreatedAt: ago(100), Environments: map[string]flags.FeatureEnvironment{}},
			flags.ArchiveCheck{Environments: []flags.ProjectEnvironment{dev, production}, Now: now, References: &flags.CodeReferences{Repositories: []flags.CodeScan{
				{Repository: "shop", ScannedAt: ago(1), Flags: map[string][]flags.CodePlace{"f": nil}},
			}}},
		}
		set(w, production, false, ago(90), nil, half)
		c.change(w)
		got := w.check.Against(w.f.Summary())
		if !slices.EqualFunc(got, c.want, strings.Contains) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestRecordSwitches notes when a flag is switched off, and nothing else.
func TestRecordSwitches(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	state := func(enabledIn string) *flags.Feature {
		return &flags.Feature{Environments: map[string]flags.FeatureEnvironment{"prod": {EnvironmentState: flags.EnvironmentState{EnabledIn: enabledIn}}}}
	}
	for _, c := range []struct {
		before, after *flags.Feature
		want          int64
	}{{state("a"), state(""), at.Unix()}, {state(""), state(""), 0}, {state(""), state("a"), 0}, {state("a"), state("a"), 0}, {nil, state(""), 0}} {
		c.after.RecordSwitches(c.before, at)
		if got := c.after.Environments["prod"].OffSince; got != c.want {
			t.Errorf("%+v to %+v: %v, want %v", c.before, c.after, got, c.want)
		}
	}
}
