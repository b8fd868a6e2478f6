package linear

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// A deltaClient applies deltas. Each can come from another instance.
type deltaClient struct {
	*client
	ids map[int64]string // the names of segments

	trail []string // the last answers, for messages
}

type wireEvent struct {
	EventID     int64
	Type        string
	Features    []wireFlag
	Segments    []wireSegment
	Feature     *wireFlag
	FeatureName string
	Segment     *wireSegment
	SegmentID   int64
}

func (c *deltaClient) poll(i *instance) {
	is := reading{process: i.process(), view: c.view, how: c.name, began: c.now()}
	before := c.etag
	a := i.get(c.t.Context(), "/api/client/delta"+c.query(), c.tokenOf(c.view), spec, c.etag)
	is.ended = c.now()
	if !c.count(a, is) {
		return
	}
	if a.status == http.StatusOK {
		var delta struct{ Events []wireEvent }
		if err := json.Unmarshal(a.body, &delta); err != nil || len(delta.Events) == 0 {
			c.problem("%s: %v in %s", is, err, a.body)
			return
		}
		for _, e := range delta.Events {
			if err := c.apply(e); err != nil {
				c.problem("%s: %v in %s", is, err, a.body)
			}
		}
	}
	if a.etag != "" {
		c.etag = a.etag
	}
	c.trail = append(c.trail, fmt.Sprintf("%v %v to %v: %s to %s: %s", is.process, is.began, is.ended, before, c.etag, a.body))
	c.trail = c.trail[max(0, len(c.trail)-6):]
	is.how = fmt.Sprintf("%s, from %s to %s with %d bytes,", c.name, before, c.etag, len(a.body))
	if !c.check(is) {
		c.problem("the last answers to %s were\n%s", c.name, strings.Join(c.trail, "\n"))
	}
}

func (c *deltaClient) apply(e wireEvent) error {
	switch {
	case e.Type == "hydration":
		c.hydrations.Add(1)
		c.flags, c.segments, c.ids = map[string]string{}, map[string]string{}, map[int64]string{}
		for _, f := range e.Features {
			c.flags[f.Name] = f.shown()
		}
		for _, s := range e.Segments {
			c.segments[s.Name], c.ids[s.ID] = s.shown(), s.Name
		}
		return nil
	case e.Type == "feature-updated" && e.Feature != nil:
		c.flags[e.Feature.Name] = e.Feature.shown()
	case e.Type == "feature-removed" && e.FeatureName != "":
		delete(c.flags, e.FeatureName)
	case e.Type == "segment-updated" && e.Segment != nil:
		c.segments[e.Segment.Name], c.ids[e.Segment.ID] = e.Segment.shown(), e.Segment.Name
	case e.Type == "segment-removed" && e.SegmentID != 0:
		delete(c.segments, c.ids[e.SegmentID])
	default:
		return fmt.Errorf("event %+v", e)
	}
	c.deltas[e.Type].Add(1)
	return nil
}

// equals compares what deltas added up to with a whole answer, when nothing changes any more.
func (c *deltaClient) equals(whole *client) {
	for _, i := range c.instances {
		c.untilAnswered(c.poll, i)
		whole.etag = ""
		whole.untilAnswered(whole.poll, i)
		if !maps.Equal(c.flags, whole.flags) || !maps.Equal(c.segments, whole.segments) {
			c.problem("%s: the deltas add up to\n%v\n%v\nnot to what instance %d answers:\n%v\n%v",
				c.name, lines(c.flags), lines(c.segments), i.number, lines(whole.flags), lines(whole.segments))
		}
	}
}

func lines(m map[string]string) string {
	var text strings.Builder
	for name, shown := range m {
		fmt.Fprintf(&text, "%s: %s\n", name, shown)
	}
	return text.String()
}
