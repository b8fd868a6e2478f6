package segments

import (
	"errors"
	"slices"
	"strconv"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

// inSegmentStrategies is the place of the list of the strategies that use a segment.
type inSegmentStrategies struct {
	inSegment
	wire.FlagPage
}

// listSegmentStrategies lists the strategies that use a segment.
func listSegmentStrategies(tx *httpapi.Tx, at inSegmentStrategies) (segmentStrategies, error) {
	s := tx.Segment(at.ID)
	var using strategyPage
	if tx.FlagsUsing(s.ID) != 0 {
		using = strategiesOn(tx, at.ID, at.FlagPage, func(u flags.StrategyUse) bool { return u.UsesSegment(s.ID) })
	}
	return segmentStrategies{
		Strategies:              httpapi.Each(using.list, usingStrategyOf),
		DefaultStrategies:       defaultsOn(tx, at.FlagPage, func(d flags.Strategy) bool { return d.UsesSegment(s.ID) }),
		ChangeRequestStrategies: []usingStrategy{},
		Next:                    using.next,
	}, nil
}

// inStrategy is the place of an operation on a strategy of any flag.
type inStrategy struct {
	httpapi.InService
	ID string `path:"strategyId"`
}

// listStrategySegments lists the segments of a strategy. As in Unleash, a strategy that does not exist has none.
func listStrategySegments(tx *httpapi.Tx, at inStrategy) (segmentList, error) {
	ids := segmentsOf(tx, at.ID)
	tx.Load(httpapi.Each(ids, flags.SegmentKey)...)
	list := []*flags.Segment{}
	for _, id := range ids {
		if s := tx.FindSegment(id); s != nil {
			list = append(list, s)
		}
	}
	flags.SortSegments(list)
	return segmentList{httpapi.Each(list, shape.SegmentViewOf)}, nil
}

// segmentsOf returns the segments of a strategy. It reads what the flags use until it finds the strategy.
func segmentsOf(tx *httpapi.Tx, strategy string) []int64 {
	type segmentsOf struct{ strategy string }
	return httpapi.OncePerRound(tx, segmentsOf{strategy}, func() (ids []int64) {
		tx.EachUse(func(u flags.FeatureUse) (goOn bool) {
			i := slices.IndexFunc(u.Strategies, func(s flags.StrategyUse) bool { return s.ID == strategy })
			if i >= 0 {
				ids = u.Strategies[i].Segments
			}
			return i < 0
		})
		return ids
	})
}

// setStrategySegments replaces the segments of a strategy. The body names the strategy, its project and its environment,
// but not its flag.
func setStrategySegments(tx *httpapi.Tx, _ httpapi.InService, in strategySegmentsBody) (strategySegmentsView, error) {
	project := tx.FindProject(in.Project)
	if err := tx.Caller.Authorize(access.UpdateFeatureStrategy, project, in.Environment); err != nil {
		return strategySegmentsView{}, err
	}
	if project == nil {
		return strategySegmentsView{}, flags.Problems{{Path: "/projectId", Message: "there is no project " + strconv.Quote(in.Project)}}.Err()
	}
	env, found := tx.FindProjectEnvironment(project, in.Environment)
	if !found {
		return strategySegmentsView{}, flags.Problems{{Path: "/environmentId",
			Message: "project " + strconv.Quote(in.Project) + " has no environment " + strconv.Quote(in.Environment)}}.Err()
	}
	f, strategy := findStrategy(tx, project, env, in)
	if f == nil {
		return strategySegmentsView{}, flags.Problems{{Path: "/strategyId",
			Message: "no flag of the project has a strategy " + strconv.Quote(in.Strategy) + " in this environment"}}.Err()
	}
	had := strategy.Segments
	strategy.Segments = in.Segments.Value
	var problems flags.Problems
	strategy.CheckSegments("/segmentIds", had, project, tx.FindSegment, &problems)
	if err := problems.Err(); err != nil {
		return strategySegmentsView{}, err
	}
	if err := f.ReplaceStrategy(env, strategy); err != nil {
		return strategySegmentsView{}, err
	}
	tx.Save(events.StrategyUpdated(httpapi.Was(tx, f), f, env, strategy.ID), f)
	return strategySegmentsView{in.Project, in.Strategy, in.Environment, strategy.Segments}, nil
}

// errFound ends the reading of flags.
var errFound = errors.New("found")

// findStrategy finds the strategy that the body names, and its flag, nil when there is none. No list tells which flag has a
// strategy, so it loads the flags of the project that have one in the environment, a hundred at a time, until one has it. With a hundred
// of them or fewer, the segments are loaded by the same call.
func findStrategy(tx *httpapi.Tx, project *flags.Project, env flags.ProjectEnvironment, in strategySegmentsBody) (*flags.Feature, flags.Strategy) {
	find := func(f *flags.Feature) (s flags.Strategy, found bool) {
		if f == nil || f.Archived || f.ProjectUID != project.UID { // changed since it was listed
			return s, false
		}
		s, err := f.Strategy(env, in.Strategy)
		return s, err == nil
	}
	segments := httpapi.Each(in.Segments.Value, flags.SegmentKey)
	type flagOf struct{ projectUID, environment, strategy string }
	name := httpapi.OncePerRound(tx, flagOf{project.UID, env.Name, in.Strategy}, func() (name string) {
		err := tx.Pages(slices.Concat(flagsWithStrategies(tx, project, env), segments), func(keys []flags.Key, loaded flags.View) error {
			for _, key := range keys {
				if _, found := find(flags.Find[*flags.Feature](loaded, key)); found {
					name = key.ID
					return errFound
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errFound) {
			tx.Fail(err)
		}
		return name
	})
	if name == "" {
		return nil, flags.Strategy{}
	}
	tx.Load(append(segments, flags.FeatureKey(name))...)
	f := tx.FindFeature(name)
	if s, found := find(f); found {
		return f, s
	}
	return nil, flags.Strategy{}
}

// flagsWithStrategies returns the keys of the active flags of a project that have a strategy in an environment.
func flagsWithStrategies(tx *httpapi.Tx, project *flags.Project, env flags.ProjectEnvironment) []flags.Key {
	type flagsWithStrategies struct{ projectUID, environment string }
	return httpapi.OncePerRound(tx, flagsWithStrategies{project.UID, env.Name}, func() (keys []flags.Key) {
		tx.EachSummary([]*flags.Project{project}, false, nil, func(_ *flags.Project, row flags.SummaryRow) error {
			whole, err := row.Whole()
			if err == nil && whole.Environments[env.Name].Strategies > 0 {
				keys = append(keys, flags.FeatureKey(row.Name))
			}
			return err
		})
		return keys
	})
}
