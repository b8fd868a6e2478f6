package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

func coldFlag(i int) string { return fmt.Sprintf("%scold-flag-%05d", ours, i) }

// fill creates the flags in the project "default", each in one transaction, enabled in every environment.
func (c *cold) fill(ctx context.Context) error {
	project, environments, err := c.project(ctx)
	if err != nil {
		return err
	}
	on := true
	for numbers := range slices.Chunk(slices.Collect(rangeTo(c.size)), 100) {
		var changes []flags.Change
		for _, i := range numbers {
			metadata := flags.DefaultMetadata()
			description := fmt.Sprintf("Shows the page %s to some users.", uuid.NewString()) // random: it compresses as real texts do
			metadata.Description = &description
			f := flags.NewFeature(project, coldFlag(i), metadata, "bench", time.Now())
			for _, env := range environments {
				content := flags.ImportedFlag{Metadata: f.Metadata, Strategies: []flags.Strategy{coldStrategy(f.Name)}, Enabled: &on}
				if err := f.Import(env, content, uuid.NewString, flags.DefaultLimits()); err != nil {
					return err
				}
			}
			changes = append(changes, change(nil, f, events.FeatureCreated(f)))
		}
		// As in an import: the first change of a round can move old entries out of the feed's item.
		feed, err := c.store.Load(ctx, []flags.Key{flags.FeedKey()})
		if err != nil {
			return err
		}
		for i := range changes {
			changes[i].Feed = flags.Find[*flags.Feed](feed, flags.FeedKey())
		}
		if err := errors.Join(c.store.CommitAll(ctx, changes)...); err != nil {
			return err
		}
	}
	return nil
}

func rangeTo(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// project loads the project "default" and its environments.
func (c *cold) project(ctx context.Context) (*flags.Project, []flags.ProjectEnvironment, error) {
	view, err := c.store.Load(ctx, []flags.Key{flags.ProjectKey("default"), flags.EnvironmentsKey()})
	if err != nil {
		return nil, nil, err
	}
	project := flags.Find[*flags.Project](view, flags.ProjectKey("default"))
	environments := project.AvailableEnvironments(flags.Find[*flags.Environments](view, flags.EnvironmentsKey()))
	if len(environments) != 3 {
		return nil, nil, fmt.Errorf("the project has %d environments, expected 3", len(environments))
	}
	return project, environments, nil
}

func coldStrategy(flag string) flags.Strategy {
	variant := func(name string) flags.Variant {
		return flags.Variant{Name: name, Weight: 500, WeightType: flags.Variable, Stickiness: "default",
			Payload: &flags.Payload{Type: "string", Value: uuid.NewString()}}
	}
	return flags.Strategy{
		Name: "flexibleRollout", Parameters: map[string]string{"rollout": "100", "stickiness": "default", "groupId": flag},
		Constraints: []flags.Constraint{{ContextName: "appName", Operator: flags.In, Values: []string{"web", "bench", uuid.NewString()}}},
		Variants:    []flags.Variant{variant("blue"), variant("green")},
	}
}

// change switches a flag in the environment of the tokens.
func (c *cold) change(ctx context.Context) error {
	_, environments, err := c.project(ctx)
	if err != nil {
		return err
	}
	key := flags.FeatureKey(coldFlag(0))
	view, err := c.store.Load(ctx, []flags.Key{key})
	if err != nil {
		return err
	}
	before := flags.Find[*flags.Feature](view, key)
	after := before.Clone()
	i := slices.IndexFunc(environments, func(e flags.ProjectEnvironment) bool { return e.Name == environment })
	if after.Enabled(environments[i]) {
		after.Disable(environments[i])
	} else if err := after.Enable(environments[i], uuid.NewString); err != nil {
		return err
	}
	return c.store.Commit(ctx, change(before, after, events.FeatureCreated(after)))
}

// change is a change of a flag, before which is nil if it is created.
func change(before, after *flags.Feature, event flags.Event) flags.Change {
	write := flags.Write{After: after}
	if before != nil {
		write.Before = before
	}
	event.ID, event.CreatedAt, event.CreatedBy = uuid.Must(uuid.NewV7()).String(), time.Now(), "bench"
	return flags.Change{Writes: []flags.Write{write}, Event: event}
}
