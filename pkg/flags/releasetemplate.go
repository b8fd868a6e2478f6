package flags

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A ReleaseTemplate is a named list of milestones, of the whole service.
type ReleaseTemplate struct {
	Version     int64       `json:"version,omitzero"`
	ID          string      `json:"id"`   // UUID, never changes
	Name        string      `json:"name"` // unique in the service, also among archived ones
	Description *string     `json:"description,omitzero"`
	Milestones  []Milestone `json:"milestones"`
	Safeguards  []Safeguard `json:"safeguards,omitempty"`
	CreatedAt   time.Time   `json:"createdAt"`
	CreatedByID int64       `json:"createdById"`         // of the user, or TokenUserID
	ArchivedAt  time.Time   `json:"archivedAt,omitzero"` // zero while it can be used
}

// A Milestone is a stage of a release: while it runs, its strategies decide for which users the flag is on. Its slices are replaced, never
// changed in place.
type Milestone struct {
	ID         string     `json:"id"` // UUID
	Name       string     `json:"name"`
	SortOrder  int        `json:"sortOrder"`          // as it was sent; the milestones are stored in their order
	Minutes    int        `json:"minutes,omitzero"`   // after which the next milestone starts; 0 if a person starts it
	StartedAt  time.Time  `json:"startedAt,omitzero"` // of a plan: when it was last started; zero before
	Strategies []Strategy `json:"strategies"`         // without default parameters: their groupId becomes the name of the flag
}

// The limits of templates.
const (
	MaxReleaseTemplates    = 100
	MaxMilestones          = 10
	MaxMilestoneStrategies = 40            // of all milestones together
	MaxMilestoneMinutes    = 365 * 24 * 60 // a year
	maxPlanSize            = 64 << 10      // of all milestones, in bytes
)

// Key returns the key of the template.
func (t *ReleaseTemplate) Key() Key { return ReleaseTemplateKey(t.ID) }

// StoredVersion returns the version at which the template was loaded.
func (t *ReleaseTemplate) StoredVersion() int64 { return t.Version }

// Clone returns a copy that can be changed.
func (t *ReleaseTemplate) Clone() *ReleaseTemplate {
	c := *t
	return &c
}

// Check adds all problems that can be found without the registry of strategy types.
func (t *ReleaseTemplate) Check(limits Limits, p *Problems) {
	checkTitle("/name", t.Name, p)
	CheckLength("/description", valueOrEmpty(t.Description), MaxDescription, p)
	checkMilestones(t.Milestones, limits, p)
	checkSafeguards(t.Safeguards, p)
}

// Segments returns the IDs of the segments that the template uses, sorted.
func (t *ReleaseTemplate) Segments() (ids []int64) {
	if t == nil {
		return nil
	}
	for _, m := range t.Milestones {
		for _, s := range m.Strategies {
			ids = append(ids, s.Segments...)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// checkMilestones adds all problems of milestones that can be found without the registry of strategy types.
func checkMilestones(list []Milestone, limits Limits, p *Problems) {
	if !CheckCount("/milestones", "milestones", len(list), MaxMilestones, p) {
		return
	}
	if len(list) == 0 {
		p.Add("/milestones", "is required: at least one milestone")
	}
	strategies, size := 0, 0
	for i, m := range list {
		at := "/milestones/" + strconv.Itoa(i)
		checkTitle(at+"/name", m.Name, p)
		strategies += len(m.Strategies)
		size += len(m.Name) + FeatureEnvironment{Strategies: m.Strategies}.Size()
		if !slices.ContainsFunc(m.Strategies, func(s Strategy) bool { return !s.Disabled }) {
			p.Add(at+"/strategies", "must have at least one strategy that is not disabled")
		}
	}
	if !CheckCount("/milestones", "strategies in total", strategies, MaxMilestoneStrategies, p) {
		return
	}
	if size > maxPlanSize {
		p.Add("/milestones", "must take at most %d KiB in total, but take %d KiB; shorten texts, or move lists of values to segments", maxPlanSize>>10, (size+1023)>>10)
		return
	}
	eachMilestoneStrategy(list, p, func(s Strategy, below *Problems) { s.CheckWithoutRegistry(limits, below) })
}

// CheckMilestoneTypes adds the problems of the types of strategies of milestones.
func CheckMilestoneTypes(list []Milestone, types *StrategyTypes, p *Problems) {
	eachMilestoneStrategy(list, p, func(s Strategy, below *Problems) { s.CheckType(types, below) })
}

// CheckMilestoneSegments adds a problem for each of the segments added that milestones use and that does not exist. Whether the project of a
// flag can use a segment is checked there.
func CheckMilestoneSegments(list []Milestone, added []int64, find func(id int64) *Segment, p *Problems) {
	eachMilestoneStrategy(list, p, func(s Strategy, below *Problems) {
		for i, id := range s.Segments {
			if slices.Contains(added, id) && find(id) == nil {
				below.Add("/segments/"+strconv.Itoa(i), "there is no segment %d", id)
			}
		}
	})
}

// eachMilestoneStrategy runs a check of each strategy of milestones, and adds its problems with the path of the strategy.
func eachMilestoneStrategy(list []Milestone, p *Problems, check func(s Strategy, below *Problems)) {
	for i, m := range list {
		for j, s := range m.Strategies {
			var below Problems
			check(s, &below)
			for _, d := range below {
				if d.Path == "/name" {
					d.Path = "/strategyName" // as a strategy of a milestone calls it
				}
				p.Add("/milestones/"+strconv.Itoa(i)+"/strategies/"+strconv.Itoa(j)+d.Path, "%s", d.Message)
			}
		}
	}
}

// SetMilestones replaces the milestones. IDs stay by position, so that the same milestones change nothing; newID makes the others.
func (t *ReleaseTemplate) SetMilestones(list []Milestone, newID func() string) {
	for i := range list {
		m, before := &list[i], Milestone{}
		if i < len(t.Milestones) {
			before = t.Milestones[i]
		}
		m.ID = before.ID
		if m.ID == "" {
			m.ID = newID()
		}
		for j := range m.Strategies {
			s := &m.Strategies[j]
			s.Variants = Distribute(s.Variants)
			if j < len(before.Strategies) {
				s.ID = before.Strategies[j].ID
			} else {
				s.ID = newID()
			}
		}
	}
	t.Milestones = list
}

// SetSafeguards replaces the safeguards. The ID of one stays with its signal; newID makes the others.
func (t *ReleaseTemplate) SetSafeguards(list []Safeguard, newID func() string) {
	for i := range list {
		if had := slices.IndexFunc(t.Safeguards, func(s Safeguard) bool { return s.Signal == list[i].Signal }); had >= 0 {
			list[i].ID = t.Safeguards[had].ID
		} else {
			list[i].ID = newID()
		}
	}
	t.Safeguards = list
}

// Archive keeps new plans from using the template.
func (t *ReleaseTemplate) Archive(at time.Time) {
	if t.ArchivedAt.IsZero() {
		t.ArchivedAt = at
	}
}

// CheckUnusedByTemplates returns Conflict if a template uses the segment.
func (s *Segment) CheckUnusedByTemplates(templates []*ReleaseTemplate) error {
	var users []string
	for _, t := range templates {
		if slices.Contains(t.Segments(), s.ID) {
			users = append(users, "release template "+strconv.Quote(t.Name))
		}
	}
	if len(users) > 0 {
		slices.Sort(users)
		return inUseError("segment "+strconv.FormatInt(s.ID, 10)+" ("+strconv.Quote(s.Name)+") is", users)
	}
	return nil
}

// checkTitle adds the problems of a name that any words will do for.
func checkTitle(path, title string, p *Problems) {
	if strings.TrimSpace(title) == "" {
		p.Add(path, "is required")
		return
	}
	CheckLength(path, title, MaxTitle, p)
	CheckControl(path, title, p)
}
