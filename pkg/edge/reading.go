package edge

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/answers"
	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// guidonTag matches an ETag of Guidon's deltas: the epoch, the number, and the scope.
var guidonTag = regexp.MustCompile(`^(?:W/)?"([^":]*):([0-9]{1,18}):[0-9a-f]+"$`)

// A reading is what an upstream responded, decoded. A flag that cannot be read is left out, and so is off everywhere; a segment too, and
// then strategies that name it are off, as with one that does not exist.
type reading struct {
	epoch    string
	number   int64
	numbered bool // whether the upstream told the number
	guidon   bool // whether epoch and number are Guidon's own
	tag      string

	complete     bool // whether it has everything, and not only changes
	features     map[string]*answers.ClientFeature
	segments     map[int64]*answers.ClientSegment
	gone         []string // names of flags
	goneSegments []int64
	odd          map[part]string // what is left out, and why
}

// A part is a flag or a segment, as the log and the metrics name it.
type part struct{ kind, name string }

const (
	aFlag    = "flag"
	aSegment = "segment"
)

func segmentPart(id int64) part { return part{aSegment, strconv.FormatInt(id, 10)} }

func newReading(r reading) *reading {
	r.features, r.segments, r.odd = map[string]*answers.ClientFeature{}, map[int64]*answers.ClientSegment{}, map[part]string{}
	return &r
}

// A feature is a flag as upstreams write it. Unleash says that a dependency without enabled needs its parent to be on, and that
// stickiness and weight type of a variant have defaults.
type feature struct {
	answers.ClientFeature
	Dependencies []dependency `json:"dependencies,omitempty"`
}

type dependency struct {
	Feature  string   `json:"feature"`
	Enabled  *bool    `json:"enabled"`
	Variants []string `json:"variants"`
}

// A segment is a segment as upstreams write it. One without constraints would have everyone in it.
type segment struct {
	answers.ClientSegment
	Constraints *[]shape.Constraint `json:"constraints"`
}

// stored returns a flag as it is read again.
func stored(f answers.ClientFeature) feature {
	s := feature{ClientFeature: f}
	for _, d := range f.Dependencies {
		s.Dependencies = append(s.Dependencies, dependency{d.Feature, &d.Enabled, d.Variants})
	}
	return s
}

// served returns the flag as SDKs get it.
func (f feature) served() (*answers.ClientFeature, error) {
	served := f.ClientFeature
	if served.Name == "" {
		return nil, errNameless
	}
	served.Project = cmp.Or(served.Project, "default")
	lists := [][]shape.Variant{served.Variants}
	for _, strategy := range served.Strategies {
		lists = append(lists, strategy.Variants)
		if err := checkConstraints(strategy.Constraints); err != nil {
			return nil, err
		}
	}
	for _, list := range lists {
		if err := completeVariants(list); err != nil {
			return nil, err
		}
	}
	served.Dependencies = nil
	for _, d := range f.Dependencies {
		if d.Feature == "" {
			return nil, errors.New("it depends on a flag without a name")
		}
		served.Dependencies = append(served.Dependencies, shape.Dependency{Feature: d.Feature, Enabled: d.Enabled == nil || *d.Enabled, Variants: d.Variants})
	}
	return &served, nil
}

// checkConstraints returns an error if a constraint does not say which field it is about: an inverted one would let everyone in.
func checkConstraints(list []shape.Constraint) error {
	for _, c := range list {
		if c.ContextName == "" {
			return errors.New("it has a constraint without contextName")
		}
	}
	return nil
}

// errNameless is the error of a flag or segment that cannot be told from others.
var errNameless = errors.New("it has no name")

// completeVariants fills in the defaults: SDKs take an empty stickiness for the name of a field, and would choose a variant at random.
// Weights become whole numbers, because SDKs take no others.
func completeVariants(list []shape.Variant) error {
	for i := range list {
		v := &list[i]
		v.Stickiness, v.WeightType, v.Weight = cmp.Or(v.Stickiness, "default"), cmp.Or(v.WeightType, flags.Variable), math.Round(v.Weight)
		if v.Weight < 0 || v.Weight > math.MaxInt32 {
			return fmt.Errorf("the variant %q has the weight %g", jsonbody.Shorten(v.Name), v.Weight)
		}
	}
	return nil
}

// addFlag adds a flag. The last one of a name counts, so one that cannot be read replaces an earlier one. The error is errNameless if
// there is no name.
func (r *reading) addFlag(i jsonbody.Item[feature]) error {
	name, err := i.Value.Name, i.Err
	if err != nil {
		var named struct {
			Name string `json:"name"`
		}
		_ = jsonbody.DecodeForeign(i.Raw, &named)
		name = named.Name
	}
	if name == "" {
		return errNameless
	}
	var served *answers.ClientFeature
	if err == nil {
		served, err = i.Value.served()
	}
	if err != nil {
		r.removeFlag(name)
		r.odd[part{aFlag, name}] = err.Error()
		return nil //nolint:nilerr // the other flags count
	}
	r.features[name] = served
	delete(r.odd, part{aFlag, name})
	return nil
}

// addSegment adds a segment, as addFlag does a flag.
func (r *reading) addSegment(i jsonbody.Item[segment]) error {
	id, err := i.Value.ID, i.Err
	if err != nil {
		var named struct {
			ID int64 `json:"id"`
		}
		_ = jsonbody.DecodeForeign(i.Raw, &named)
		id = named.ID
	}
	if id == 0 {
		return errNameless
	}
	if err == nil && i.Value.Constraints == nil {
		err = errors.New("it has no constraints")
	}
	if err == nil {
		err = checkConstraints(*i.Value.Constraints)
	}
	if err != nil {
		r.removeSegment(id)
		r.odd[segmentPart(id)] = err.Error()
		return nil //nolint:nilerr // the other segments count
	}
	s := i.Value.ClientSegment
	s.Constraints = *i.Value.Constraints
	r.segments[id] = &s
	delete(r.odd, segmentPart(id))
	return nil
}

func (r *reading) removeFlag(name string) {
	delete(r.features, name)
	delete(r.odd, part{aFlag, name})
	r.gone = append(r.gone, name)
}

func (r *reading) removeSegment(id int64) {
	delete(r.segments, id)
	delete(r.odd, segmentPart(id))
	r.goneSegments = append(r.goneSegments, id)
}

// addAll adds all flags and segments of a complete reading. It is an error if there are flags, and none of them has a name: then it is
// something else.
func (r *reading) addAll(features jsonbody.Items[feature], segments jsonbody.Items[segment]) error {
	nameless := func(kind string, i int, cause error) {
		r.odd[part{kind, fmt.Sprintf("(number %d of the list)", i+1)}] = cmp.Or(cause, errNameless).Error()
	}
	named := 0
	for i, f := range features {
		if r.addFlag(f) != nil {
			nameless(aFlag, i, f.Err)
		} else {
			named++
		}
	}
	if len(features) > 0 && named == 0 {
		return fmt.Errorf("none of its flags can be read: %w", cmp.Or(features[0].Err, errNameless))
	}
	for i, s := range segments {
		if r.addSegment(s) != nil {
			nameless(aSegment, i, s.Err)
		}
	}
	r.gone, r.goneSegments = nil, nil
	return nil
}

// readFeatures decodes a response of GET /api/client/features.
func readFeatures(body []byte, tag string) (*reading, error) {
	var document struct {
		Features jsonbody.Items[feature] `json:"features"`
		Segments jsonbody.Items[segment] `json:"segments"`
		Meta     jsontext.Value          `json:"meta"`
	}
	if err := jsonbody.DecodeForeign(body, &document); err != nil {
		return nil, fmt.Errorf("its response is no list of flags: %w", err)
	}
	if document.Features == nil {
		return nil, errNoList
	}
	var meta struct {
		RevisionID int64 `json:"revisionId"`
	}
	if document.Meta != nil {
		_ = jsonbody.DecodeForeign(document.Meta, &meta) // without it, Edge numbers the states itself
	}
	r := newReading(reading{epoch: unleashEpoch, number: meta.RevisionID, numbered: meta.RevisionID > 0, tag: tag, complete: true})
	return r, r.addAll(document.Features, document.Segments)
}

var errNoList = errors.New("its response has no flags")

// A simpleFlag is a flag in the simple form of a file: its name, and {"enabled": true, "variant": "blue"}.
type simpleFlag struct {
	Enabled *bool  `json:"enabled"`
	Variant string `json:"variant"`
}

// readFile decodes a file: a response of GET /api/client/features, or the simple form.
func readFile(text []byte) (*reading, error) {
	text = jsonbody.WithoutMark(text)
	r, err := readFeatures(text, "")
	var list map[string]jsontext.Value
	if err == nil || jsonbody.DecodeForeign(text, &list) != nil {
		return r, err
	}
	if kind := list["features"].Kind(); kind == '[' || kind == 'n' {
		return nil, err
	}
	simple := newReading(reading{complete: true})
	for name, value := range list {
		f := jsonbody.ReadItem[simpleFlag](value)
		if f.Err == nil && f.Value.Enabled == nil {
			f.Err = errors.New("it does not say whether it is enabled")
		}
		if f.Err != nil {
			simple.odd[part{aFlag, name}] = f.Err.Error()
			continue
		}
		served := feature{ClientFeature: answers.ClientFeature{
			Name: name, Type: "release", Enabled: *f.Value.Enabled, Variants: []shape.Variant{},
			Strategies: []answers.ClientStrategy{{Name: "default", Constraints: []shape.Constraint{}, Parameters: map[string]string{}, Variants: []shape.Variant{}}},
		}}
		if f.Value.Variant != "" {
			served.Variants = []shape.Variant{{Name: f.Value.Variant, Weight: 1000}}
		}
		if err := simple.addFlag(jsonbody.Item[feature]{Value: served}); err != nil {
			simple.odd[part{aFlag, name}] = err.Error()
		}
	}
	if len(simple.features) == 0 {
		return nil, errors.New(`it has no flags: it must be a response of GET /api/client/features, or {"name": {"enabled": true, "variant": "blue"}}`)
	}
	return simple, nil
}

// A deltaEvent is a change. Its type says which of the fields it has.
type deltaEvent struct {
	EventID     int64                   `json:"eventId"`
	Type        string                  `json:"type"`
	Features    jsonbody.Items[feature] `json:"features"`
	Segments    jsonbody.Items[segment] `json:"segments"`
	Feature     jsontext.Value          `json:"feature"`
	FeatureName string                  `json:"featureName"`
	Segment     jsontext.Value          `json:"segment"`
	SegmentID   int64                   `json:"segmentId"`
}

// errEvent is the error of a delta with an event that cannot be read: something has changed, and the delta does not tell what.
var errEvent = errors.New("its response has an event that cannot be read")

// readDelta decodes a response of GET /api/client/delta.
func readDelta(body []byte, tag string) (*reading, error) {
	var document struct {
		Events jsonbody.Items[deltaEvent] `json:"events"`
	}
	if err := jsonbody.DecodeForeign(body, &document); err != nil {
		return nil, fmt.Errorf("its response is no delta: %w", err)
	}
	if len(document.Events) == 0 {
		return nil, errors.New("its response has no events")
	}
	r := newReading(reading{epoch: unleashEpoch, numbered: true, tag: tag})
	for _, e := range document.Events {
		err := e.Err
		if err == nil {
			r, err = r.applied(e.Value)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", errEvent, jsonbody.Shorten(e.Value.Type), err)
		}
	}
	if parts := guidonTag.FindStringSubmatch(tag); parts != nil {
		r.epoch, r.guidon = parts[1], parts[1] != unleashEpoch && parts[1] != ownEpoch
		r.number, _ = strconv.ParseInt(parts[2], 10, 64)
	}
	return r, nil
}

// applied returns the reading with an event, or a new one that begins with it.
func (r *reading) applied(e deltaEvent) (*reading, error) {
	r.number = max(r.number, e.EventID)
	switch {
	case e.Type == "hydration" && e.Features != nil:
		r = newReading(reading{epoch: r.epoch, number: r.number, numbered: true, tag: r.tag, complete: true})
		return r, r.addAll(e.Features, e.Segments)
	case e.Type == "feature-updated" && e.Feature != nil:
		return r, r.addFlag(jsonbody.ReadItem[feature](e.Feature))
	case e.Type == "feature-removed" && e.FeatureName != "":
		r.removeFlag(e.FeatureName)
	case e.Type == "segment-updated" && e.Segment != nil:
		return r, r.addSegment(jsonbody.ReadItem[segment](e.Segment))
	case e.Type == "segment-removed" && e.SegmentID != 0:
		r.removeSegment(e.SegmentID)
	default:
		return r, errors.New("it is of an unknown type, or lacks what it is about")
	}
	return r, nil
}
