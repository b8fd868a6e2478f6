package events

import (
	"guidon/pkg/flags"
)

// A reviewRule says whether change requests are on in an environment of a project, and how many approvals they need.
type reviewRule struct {
	Enabled   bool `json:"changeRequestEnabled"`
	Approvals int  `json:"requiredApprovals"`
}

func reviewRuleOf(p *flags.Project, env flags.Environment) reviewRule {
	rule, on := p.Review(env)
	return reviewRule{on, rule.Approvals}
}

// ReviewsConfigured is the event of a project that switched change requests on or off in an environment, or requires another number of
// approvals.
func ReviewsConfigured(before, after *flags.Project, env flags.Environment) flags.Event {
	return flags.Event{
		Type: flags.ReviewsConfigured, Project: after.ID, Environment: env.Name, Data: reviewRuleOf(after, env), PreData: reviewRuleOf(before, env),
	}
}

// A brokenGlass is why an administrator skipped change requests that nobody skips.
type brokenGlass struct {
	Reason       string   `json:"reason"`
	Environments []string `json:"environments"`
}

// GlassBroken is the event beside the event of a change with which an administrator skipped change requests that nobody skips.
func GlassBroken(of flags.Event, environments []string, reason string) flags.Event {
	return flags.Event{
		Type: flags.GlassBroken, Project: of.Project, Environment: of.Environment, FeatureName: of.FeatureName,
		Data: brokenGlass{reason, environments},
	}
}
