package review

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
)

// An Action is what a change does. The names are those of Unleash.
type Action string

// The actions.
const (
	UpdateEnabled    Action = "updateEnabled"
	AddStrategy      Action = "addStrategy"
	UpdateStrategy   Action = "updateStrategy"
	DeleteStrategy   Action = "deleteStrategy"
	PatchVariant     Action = "patchVariant"
	ReorderStrategy  Action = "reorderStrategy"
	ArchiveFeature   Action = "archiveFeature"
	AddDependency    Action = "addDependency"
	DeleteDependency Action = "deleteDependency"
	UpdateSegment    Action = "updateSegment"
	DeleteSegment    Action = "deleteSegment"

	AddReleasePlan             Action = "addReleasePlan"
	DeleteReleasePlan          Action = "deleteReleasePlan"
	StartMilestone             Action = "startMilestone"
	ResumeMilestoneProgression Action = "resumeMilestoneProgression"
)

// Actions returns all actions.
func Actions() []Action {
	return []Action{
		UpdateEnabled, AddStrategy, UpdateStrategy, DeleteStrategy, PatchVariant, ReorderStrategy, ArchiveFeature, AddDependency, DeleteDependency, UpdateSegment, DeleteSegment,
		AddReleasePlan, DeleteReleasePlan, StartMilestone, ResumeMilestoneProgression,
	}
}

// OfSegment reports whether the action changes a segment instead of a flag.
func (a Action) OfSegment() bool { return a == UpdateSegment || a == DeleteSegment }

// OfWholeFlag reports whether the action changes a flag in all environments of its project.
func (a Action) OfWholeFlag() bool {
	return a == ArchiveFeature || a == AddDependency || a == DeleteDependency
}

// releasePlanActions are the actions of Unleash that change parts of release plans. Change requests do not have them.
var releasePlanActions = []Action{"changeMilestoneProgression", "deleteMilestoneProgression", "changeSafeguard", "deleteSafeguard", "updateMilestoneStrategy"}

// CheckAction adds a problem if there is no such action.
func CheckAction(at string, a Action, problems *flags.Problems) {
	switch {
	case a == "":
		problems.Add(at, "is required")
	case slices.Contains(releasePlanActions, a):
		problems.Add(at, "%q changes a part of a release plan, which change requests only add and delete whole: delete the plan, and add another one", a)
	case !slices.Contains(Actions(), a):
		problems.Add(at, "must be one of %s", flags.CommaList(Actions()))
	}
}

// A Change is one change of a request, with the body of the operation that would make it directly.
type Change struct {
	ID       int64          `json:"id"` // in the request
	Action   Action         `json:"action"`
	Feature  string         `json:"feature,omitzero"`
	Segment  int64          `json:"segment,omitzero"`  // ID, for the actions of segments
	Strategy string         `json:"strategy,omitzero"` // ID, if the change replaces or removes one
	Name     string         `json:"name,omitzero"`     // of the segment when the change was made
	Payload  jsontext.Value `json:"payload,omitempty"`
	Default  jsontext.Value `json:"default,omitempty"` // the default strategy that switching on adds; nil if it adds none
	Before   jsontext.Value `json:"before,omitzero"`   // what it replaced, or would have, when the request was closed; null if that was too large, nil if nothing is known of it
	By       Person         `json:"by"`
	At       time.Time      `json:"at"`
}

// CheckLimits returns Invalid if there are too many changes, or if they are too large.
func CheckLimits(changes []Change) error {
	if n := len(changes); n > MaxChanges {
		return flags.Errorf(flags.Invalid, "a change request can have at most %d changes, and this one would have %d; send it to review and begin another one", MaxChanges, n)
	}
	size, features, segments := 0, map[string]bool{}, 0
	for _, c := range changes {
		size += len(c.Payload)
		if c.Action.OfSegment() {
			segments++
		}
		if c.Feature != "" {
			features[c.Feature] = true
		}
	}
	if n := len(features); n > MaxFlags {
		return flags.Errorf(flags.Invalid, "a change request can change at most %d flags, and this one would change %d; send it to review and begin another one", MaxFlags, n)
	}
	if segments > MaxSegments {
		return flags.Errorf(flags.Invalid, "a change request can change segments at most %d times, and this one would %d times; send it to review and begin another one", MaxSegments, segments)
	}
	if size > MaxSize {
		return flags.Errorf(flags.Invalid, "the changes of a change request can have at most %d KiB, and these have %d; send it to review and begin another one", MaxSize>>10, size>>10)
	}
	return nil
}

// Features returns the names of the flags that the request changes, in the order of their first changes.
func (r *Request) Features() (names []string) {
	for _, c := range r.Changes {
		if c.Feature != "" && !slices.Contains(names, c.Feature) {
			names = append(names, c.Feature)
		}
	}
	return names
}

// OfWholeFlag reports whether the request changes a flag in all environments of its project.
func (r *Request) OfWholeFlag(name string) bool {
	return slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Feature == name && c.Action.OfWholeFlag() })
}

// Segments returns the IDs of the segments that the request changes, in the order of their first changes.
func (r *Request) Segments() (ids []int64) {
	for _, c := range r.Changes {
		if c.Action.OfSegment() && !slices.Contains(ids, c.Segment) {
			ids = append(ids, c.Segment)
		}
	}
	return ids
}

// hash is a hash of what an approval is for: the title, the changes, what they were made on, and the environments whose protection they touch.
func (r *Request) hash() string {
	changes := slices.Clone(r.Changes)
	for i := range changes {
		changes[i].By, changes[i].At = Person{}, time.Time{}
	}
	return hashOf(struct {
		Project, Environment, Attachment, Title string
		Changes                                 []Change
		Bases                                   Bases
		Guarded                                 []Guarded
	}{r.ProjectUID, r.EnvironmentUID, r.AttachmentID, r.Title, changes, r.Bases, r.Guarded})
}

// hashOf is the SHA-256 of a value as JSON, in hexadecimal digits.
func hashOf(value any) string {
	text, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("review: a value without JSON: %v", err)) // a defect: all of them are stored as JSON
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Bases are what the changes of a request were made on: hashes of the parts of each flag and segment that applications see, when the
// request changed it first. Descriptions, favorites, other environments, and titles of strategies do not count.
type Bases struct {
	Features map[string]FeatureBase `json:"features,omitempty"`
	Segments map[int64]SegmentBase  `json:"segments,omitempty"`
	Uses     map[string][]int64     `json:"uses,omitempty"` // IDs of the segments that each flag uses once the changes are made, sorted
}

// A FeatureBase is what a change of a flag was made on, in the environment of the request and of the flag as a whole.
type FeatureBase struct {
	Project      string `json:"project"` // UID
	Archived     bool   `json:"archived,omitzero"`
	Dependencies string `json:"dependencies"`
	Children     string `json:"children,omitzero"` // names of the flags that depend on it; "" for none
	On           bool   `json:"on,omitzero"`
	Strategies   string `json:"strategies"`
	Variants     string `json:"variants"`
	Plan         string `json:"plan,omitzero"`   // its release plan, without what a run changes; "" for none
	Run          int64  `json:"run,omitzero"`    // of the plan; 0 unless a milestone is started
	Values       string `json:"values,omitzero"` // its value type and default value; "" for none
	Segments     string `json:"segments"`        // the names and content of the segments that the strategies use, before the changes or after them

	Elsewhere string `json:"elsewhere,omitzero"` // where it is on, strategies and variants in other guarded environments, see Action.OfWholeFlag
}

// A SegmentBase is what a change of a segment was made on.
type SegmentBase struct {
	Project     string `json:"project"`       // UID; "" for all projects
	Name        string `json:"name,omitzero"` // those who approve go by it
	Constraints string `json:"constraints"`
	Begun       int64  `json:"begun,omitzero"` // how often a strategy has begun to use it: a change of it changes those flags; 0 as a part of a FeatureBase
	Uses        string `json:"uses,omitzero"`  // hash of where flags use it under protection; "" as a part of a FeatureBase
}

// A SegmentUse is a flag that uses a segment in an environment where change requests are on.
type SegmentUse struct{ Feature, ProjectUID, EnvironmentUID string }

// UsesHash returns a hash of uses of a segment, in any order. It is never "".
func UsesHash(uses []SegmentUse) string {
	uses = list(uses)
	slices.SortFunc(uses, func(a, b SegmentUse) int {
		return cmp.Or(cmp.Compare(a.Feature, b.Feature), cmp.Compare(a.EnvironmentUID, b.EnvironmentUID))
	})
	return hashOf(uses)
}

func (b Bases) clone() Bases {
	return Bases{maps.Clone(b.Features), maps.Clone(b.Segments), maps.Clone(b.Uses)}
}

// BaseOf returns what changes of a flag are made on now. elsewhere are the other environments that they concern. uses are the segments that it
// uses in all of these after the changes. segment returns the segment of an ID, or nil.
func BaseOf(f *flags.Feature, env flags.ProjectEnvironment, elsewhere []flags.ProjectEnvironment, uses []int64, segment func(id int64) *flags.Segment) FeatureBase {
	others := map[string]FeatureBase{}
	for _, other := range elsewhere {
		others[other.UID] = contentOf(f, other)
	}
	base := contentOf(f, env)
	if len(others) > 0 {
		base.Elsewhere = hashOf(others)
	}
	for _, s := range f.AllStrategies(env) {
		uses = slices.Concat(uses, s.Segments)
	}
	segments := map[int64]SegmentBase{}
	for _, id := range uses {
		segments[id] = SegmentBaseOf(segment(id))
	}
	base.Project, base.Archived, base.Dependencies, base.Segments = f.ProjectUID, f.Archived, hashOf(list(f.Dependencies)), hashOf(segments)
	if len(f.Children) > 0 {
		base.Children = hashOf(f.Children)
	}
	if f.ValueType != "" { // where the flag is not used yet, anyone may change them
		base.Values = hashOf([]string{string(f.ValueType), string(f.DefaultValue)})
	}
	return base
}

// contentOf is the part of a base that is about one environment, without its segments.
func contentOf(f *flags.Feature, env flags.ProjectEnvironment) FeatureBase {
	own, plan := f.WithoutProgress(env)
	var strategies []flags.Strategy
	for _, s := range own {
		s.Title = nil
		strategies = append(strategies, s)
	}
	base := FeatureBase{On: f.Enabled(env), Strategies: hashOf(list(strategies)), Variants: hashOf(list(f.In(env).Variants))}
	if plan != nil {
		base.Plan = hashOf(plan)
	}
	return base
}

// list is a list that is never nil, so that it has the same hash as an empty one.
func list[T any](l []T) []T { return append([]T{}, l...) }

// SegmentBaseOf returns what a change of a segment is made on now. The segment is nil if there is none.
func SegmentBaseOf(s *flags.Segment) SegmentBase {
	if s == nil {
		return SegmentBase{}
	}
	return SegmentBase{Project: s.ProjectUID, Name: s.Name, Constraints: hashOf(list(s.Constraints))}
}

// Difference returns what is different now from what the changes of a flag were made on, in words; "" if nothing is. now is nil if there
// is no such flag any more.
func (b FeatureBase) Difference(name string, now *FeatureBase) string {
	switch {
	case now == nil:
		return fmt.Sprintf("flag %q does not exist any more", name)
	case *now == b:
		return ""
	case now.Project != b.Project:
		return fmt.Sprintf("flag %q was moved to another project", name)
	}
	var words []string
	note := func(changed bool, text string) {
		if changed {
			words = append(words, text)
		}
	}
	note(!b.Archived && now.Archived, "it was archived")
	note(b.Archived && !now.Archived, "it was revived")
	note(!b.On && now.On, "it was switched on")
	note(b.On && !now.On, "it was switched off")
	note(b.Strategies != now.Strategies, "its strategies were changed")
	note(b.Plan != now.Plan, "its release plan was changed")
	note(b.Run != now.Run, "its release plan went on")
	note(b.Variants != now.Variants, "its variants were changed")
	note(b.Values != now.Values, "its value type or default value was changed")
	note(b.Segments != now.Segments, "a segment that it uses was changed or renamed")
	note(b.Dependencies != now.Dependencies, "its dependencies were changed")
	note(b.Children != now.Children, "the flags that depend on it were changed")
	note(b.Elsewhere != now.Elsewhere, "it was changed in another environment that the change concerns")
	return fmt.Sprintf("flag %q is not what it was when the change was made: %s", name, join(words))
}

// Difference is the same for a segment.
func (b SegmentBase) Difference(id int64, now *SegmentBase) string {
	switch {
	case now == nil:
		return "segment " + strconv.FormatInt(id, 10) + " does not exist any more"
	case now.Project != b.Project:
		return "segment " + strconv.FormatInt(id, 10) + " was moved to another project"
	case now.Name != b.Name:
		return "segment " + strconv.FormatInt(id, 10) + " is not what it was when the change was made: it was renamed"
	case now.Constraints != b.Constraints:
		return "segment " + strconv.FormatInt(id, 10) + " is not what it was when the change was made: its constraints were changed"
	case now.Begun != b.Begun && now.Uses != b.Uses:
		return "segment " + strconv.FormatInt(id, 10) + " is used by other strategies than when the change was made"
	}
	return ""
}

func join(words []string) string {
	text := ""
	for i, w := range words {
		switch {
		case i == 0:
			text = w
		case i == len(words)-1:
			text += ", and " + w
		default:
			text += ", " + w
		}
	}
	return text
}
