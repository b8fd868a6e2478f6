package events

import (
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// find is the strategy of that id, which the flag must have.
func find(f *flags.Feature, env flags.ProjectEnvironment, id string) shape.StrategyView {
	s, _ := f.Strategy(env, id)
	return shape.StrategyViewOf(s, f.Name)
}

// A changedStrategy is a strategy, and whether the flag is enabled in its environment: disabling or removing the last
// enabled strategy also disables the flag there.
type changedStrategy struct {
	shape.StrategyView
	Enabled bool `json:"enabledInEnvironment"`
}

func changedStrategyOf(f *flags.Feature, env flags.ProjectEnvironment, id string) changedStrategy {
	return changedStrategy{find(f, env, id), f.Enabled(env)}
}

// StrategyAdded is the event of a flag that got the strategy of that id.
func StrategyAdded(after *flags.Feature, env flags.ProjectEnvironment, id string) flags.Event {
	return inEnvironment(flags.FeatureStrategyAdd, after, env, find(after, env, id), nil)
}

// StrategyUpdated is the event of a flag whose strategy of that id changed.
func StrategyUpdated(before, after *flags.Feature, env flags.ProjectEnvironment, id string) flags.Event {
	return inEnvironment(flags.FeatureStrategyUpdate, after, env, changedStrategyOf(after, env, id), changedStrategyOf(before, env, id))
}

// StrategyRemoved is the event of a flag that lost the strategy of that id. Its Data is nil unless that disabled the flag
// in the environment.
func StrategyRemoved(before, after *flags.Feature, env flags.ProjectEnvironment, id string) flags.Event {
	event := inEnvironment(flags.FeatureStrategyRemove, after, env, nil, changedStrategyOf(before, env, id))
	if before.Enabled(env) != after.Enabled(env) {
		event.Data = stateIn(after, env)
	}
	return event
}

// StrategiesOrdered is the event of a flag whose strategies got other sort orders, which order has by their ids.
func StrategiesOrdered(before, after *flags.Feature, env flags.ProjectEnvironment, order map[string]float64) flags.Event {
	old := make(map[string]float64, len(order))
	for _, s := range before.In(env).Strategies {
		if _, moved := order[s.ID]; moved {
			old[s.ID] = s.SortOrder
		}
	}
	return inEnvironment(flags.FeatureStrategyOrder, after, env, order, old)
}
