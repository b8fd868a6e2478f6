package projects

import (
	"strconv"

	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

func attachEnvironment(tx *httpapi.Tx, at httpapi.InProject, in attachEnvironmentBody) error {
	if err := in.checkStrategyType(tx.StrategyTypes()); err != nil {
		return err
	}
	p, env := at.Project(tx), tx.Environments().Find(in.Environment)
	if env == nil {
		return flags.Problems{{Path: "/environment", Message: "there is no environment " + strconv.Quote(in.Environment)}}.Err()
	}
	if err := p.Attach(*env, flags.ShortID(tx.NewID())); err != nil {
		return err
	}
	if body := in.DefaultStrategy.Value; body != nil {
		if _, err := changeDefaultStrategy(tx, p, *env, *body, defaultStrategyPath); err != nil {
			return err
		}
	}
	if _, on := p.Review(*env); !on && (in.ChangeRequests.Value || env.RequiredApprovals > 0) {
		if err := setReview(tx, p, *env, true, 0); err != nil {
			return err
		}
	}
	tx.Save(events.ProjectEnvironmentAdded(p, env.Name), withRegistry(tx, p)...)
	return nil
}

func detachEnvironment(tx *httpapi.Tx, at httpapi.InProjectEnvironment) error {
	p, env := at.Find(tx)
	p.Detach(env)
	deleteSignals(tx, flags.SignalsKey(env.Attachment.ID))
	tx.Save(events.ProjectEnvironmentRemoved(httpapi.Was(tx, p), env.Name), p)
	return nil
}

// mostSignals is how many items of signals are deleted with an environment: what more projects have stays stored, where nothing reads it, because a
// transaction has a limit.
const mostSignals = 50

// deleteSignals deletes the signals of environments that leave their project: they never count again.
func deleteSignals(tx *httpapi.Tx, keys ...flags.Key) {
	tx.Load(keys...)
	n := 0
	for _, key := range keys {
		if signals := httpapi.Find[*flags.Signals](tx, key); signals != nil && n < mostSignals {
			tx.AlsoDelete(signals)
			n++
		}
	}
}

func setDefaultStrategy(tx *httpapi.Tx, at httpapi.InProjectEnvironment, in wire.NewStrategyBody) (shape.DefaultStrategyView, error) {
	var problems flags.Problems
	in.CheckType(tx.StrategyTypes(), &problems)
	if err := problems.Err(); err != nil {
		return shape.DefaultStrategyView{}, err
	}
	p, env := at.Find(tx)
	s, err := changeDefaultStrategy(tx, p, env.Environment, in, "")
	if err != nil {
		return shape.DefaultStrategyView{}, err
	}
	tx.Save(events.DefaultStrategyUpdated(httpapi.Was(tx, p), p, env.Name), p)
	return *shape.DefaultStrategyViewOf(&s), nil
}

// changeDefaultStrategy sets the default strategy of a project in an environment to the one of the body, which is at path in
// the request. Invalid if its segments cannot be used, or if the default strategies of the project become too large.
func changeDefaultStrategy(tx *httpapi.Tx, p *flags.Project, env flags.Environment, body wire.NewStrategyBody, path string) (flags.Strategy, error) {
	s := body.ApplyTo(flags.Strategy{})
	tx.Load(httpapi.Each(s.Segments, flags.SegmentKey)...)
	var problems flags.Problems
	s.CheckSegments(path+"/segments", nil, p, tx.FindSegment, &problems)
	if err := problems.Err(); err != nil {
		return s, err
	}
	s = p.SetDefaultStrategy(flags.ProjectEnvironment{Environment: env}, s)
	return s, p.CheckDefaultStrategies(httpapi.Was(tx, p))
}

// An attachEnvironmentBody adds an environment to a project.
type attachEnvironmentBody struct {
	Environment     string                                `json:"environment"`
	ChangeRequests  jsonbody.Maybe[bool]                  `json:"changeRequestsEnabled"`
	DefaultStrategy jsonbody.Maybe[*wire.NewStrategyBody] `json:"defaultStrategy"`
}

const defaultStrategyPath = "/defaultStrategy"

func (b attachEnvironmentBody) Check(limits flags.Limits, problems *flags.Problems) {
	wire.CheckName("/environment", b.Environment, problems)
	if strategy := b.DefaultStrategy.Value; strategy != nil {
		problems.CheckAt(defaultStrategyPath, func(below *flags.Problems) { strategy.Check(limits, below) })
	}
}

// checkStrategyType checks the default strategy against the registry of strategy types.
func (b attachEnvironmentBody) checkStrategyType(types *flags.StrategyTypes) error {
	var problems flags.Problems
	if strategy := b.DefaultStrategy.Value; strategy != nil {
		problems.CheckAt(defaultStrategyPath, func(below *flags.Problems) { strategy.CheckType(types, below) })
	}
	return problems.Err()
}
