package shape

import "guidon/pkg/flags"

// A ReleaseTemplateView is a release template.
type ReleaseTemplateView struct {
	ID              string          `json:"id"`
	Discriminator   string          `json:"discriminator"`
	Name            string          `json:"name"`
	Description     *string         `json:"description"`
	CreatedByUserID int64           `json:"createdByUserId"`
	CreatedAt       Time            `json:"createdAt"`
	ArchivedAt      *Time           `json:"archivedAt"`
	Milestones      []MilestoneView `json:"milestones"`
	Safeguards      []SafeguardView `json:"safeguards"`
}

// ReleaseTemplateViewOf returns a release template.
func ReleaseTemplateViewOf(t *flags.ReleaseTemplate) ReleaseTemplateView {
	return ReleaseTemplateView{
		ID: t.ID, Discriminator: "template", Name: t.Name, Description: t.Description, CreatedByUserID: t.CreatedByID,
		CreatedAt: Time(t.CreatedAt), ArchivedAt: TimeOrNull(t.ArchivedAt),
		Milestones: Each(t.Milestones, func(m flags.Milestone) MilestoneView { return MilestoneViewOf(m, t.ID) }),
		Safeguards: Each(t.Safeguards, SafeguardViewOf),
	}
}

// A SafeguardView is a safeguard of a release template or plan.
type SafeguardView struct {
	ID          string          `json:"id"`
	Signal      SignalRef       `json:"signal"`
	Action      SafeguardAction `json:"action"`
	TriggeredAt *Time           `json:"triggeredAt"`
}

// A SignalRef is the signal of a safeguard: a CloudWatch alarm or a named signal.
type SignalRef struct {
	Alarm string `json:"alarm,omitzero"` // its ARN
	Name  string `json:"name,omitzero"`
}

// A SafeguardAction is what a safeguard does.
type SafeguardAction struct {
	Type flags.SafeguardAction `json:"type"`
	ID   string                `json:"id,omitzero"`
}

// SafeguardViewOf returns a safeguard.
func SafeguardViewOf(s flags.Safeguard) SafeguardView {
	view := SafeguardView{ID: s.ID, Signal: SignalRef{Name: s.Signal}, Action: SafeguardAction{s.Action, s.ID}, TriggeredAt: TimeOrNull(s.TriggeredAt)}
	if s.IsAlarm() {
		view.Signal = SignalRef{Alarm: s.Signal}
	}
	return view
}

// A MilestoneView is a milestone of a release template or plan.
type MilestoneView struct {
	ID         string                  `json:"id"`
	Name       string                  `json:"name"`
	SortOrder  int                     `json:"sortOrder"`
	Template   string                  `json:"releasePlanDefinitionId"`
	StartedAt  *Time                   `json:"startedAt,omitempty"`
	Transition *TransitionCondition    `json:"transitionCondition"`
	Strategies []MilestoneStrategyView `json:"strategies,omitempty"`
}

// A TransitionCondition says when the next milestone starts.
type TransitionCondition struct {
	Minutes int `json:"intervalMinutes"`
}

// MilestoneViewOf returns a milestone of the template or plan of that ID.
func MilestoneViewOf(m flags.Milestone, template string) MilestoneView {
	view := MilestoneView{ID: m.ID, Name: m.Name, SortOrder: m.SortOrder, Template: template, StartedAt: TimeOrNull(m.StartedAt)}
	if m.Minutes > 0 {
		view.Transition = &TransitionCondition{m.Minutes}
	}
	view.Strategies = Each(m.Strategies, func(s flags.Strategy) MilestoneStrategyView {
		return MilestoneStrategyView{
			ID: s.ID, Milestone: m.ID, SortOrder: s.SortOrder, Title: s.Title, Name: s.Name, Disabled: s.Disabled, Segments: s.Segments,
			Constraints: Constraints(s.Constraints), Variants: Variants(s.Variants), Parameters: s.Parameters,
		}
	})
	return view
}

// A MilestoneStrategyView is a strategy of a milestone.
type MilestoneStrategyView struct {
	ID          string            `json:"id"`
	Milestone   string            `json:"milestoneId"`
	SortOrder   float64           `json:"sortOrder"`
	Title       *string           `json:"title"`
	Name        string            `json:"strategyName"`
	Disabled    bool              `json:"disabled"`
	Segments    []int64           `json:"segments"`
	Constraints []Constraint      `json:"constraints"`
	Variants    []Variant         `json:"variants"`
	Parameters  map[string]string `json:"parameters"`
}

// A ReleasePlanView is a release plan.
type ReleasePlanView struct {
	ID              string          `json:"id"`
	Discriminator   string          `json:"discriminator"`
	Name            string          `json:"name"`
	Description     *string         `json:"description"`
	FeatureName     string          `json:"featureName"`
	Environment     string          `json:"environment"`
	CreatedByUserID int64           `json:"createdByUserId"`
	CreatedAt       Time            `json:"createdAt"`
	Template        string          `json:"releasePlanTemplateId"`
	Active          *string         `json:"activeMilestoneId"`
	Run             int64           `json:"run"`
	Milestones      []MilestoneView `json:"milestones"`
	Safeguards      []SafeguardView `json:"safeguards"`
}

// ReleasePlanViewOf returns a release plan of a flag in an environment.
func ReleasePlanViewOf(p flags.ReleasePlan, feature, environment string) ReleasePlanView {
	view := ReleasePlanView{
		ID: p.ID, Discriminator: "plan", Name: p.Name, Description: p.Description, FeatureName: feature, Environment: environment,
		CreatedByUserID: p.CreatedByID, CreatedAt: Time(p.CreatedAt), Template: p.TemplateID, Run: p.Run,
		Milestones: Each(p.Milestones, func(m flags.Milestone) MilestoneView { return MilestoneViewOf(m, p.ID) }),
		Safeguards: Each(p.Safeguards, SafeguardViewOf),
	}
	if p.Active > 0 {
		view.Active = &p.Milestones[p.Active-1].ID
	}
	return view
}

// A Progression says after how many minutes a milestone of a plan is followed by the next one.
type Progression struct {
	Source     string              `json:"sourceMilestone"`
	Target     string              `json:"targetMilestone"`
	Transition TransitionCondition `json:"transitionCondition"`
}

// ProgressionOf returns how a milestone of a plan is followed by the next one; nil if a person starts that.
func ProgressionOf(p *flags.ReleasePlan, milestone string) *Progression {
	for i, m := range p.Milestones {
		if m.ID == milestone && m.Minutes > 0 && i+1 < len(p.Milestones) {
			return &Progression{m.ID, p.Milestones[i+1].ID, TransitionCondition{m.Minutes}}
		}
	}
	return nil
}

// A SignalView is a named signal, without what it says.
type SignalView struct {
	Name      string `json:"name"`
	CreatedAt Time   `json:"createdAt"`
}

// SignalViewOf returns a signal.
func SignalViewOf(s flags.Signal) SignalView { return SignalView{s.Name, Time(s.CreatedAt)} }
