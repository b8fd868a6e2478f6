package linear

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// A kind is the kind of an operation.
type kind string

const (
	create kind = "create"
	patch  kind = "patch"
	on     kind = "on"
	off    kind = "off"
	add    kind = "add strategy"
	edit   kind = "edit strategy"
	remove kind = "remove strategy"
	read   kind = "read"
	list   kind = "list"    // recorded as one read of each flag, with the times of the list
	tail   kind = "tail"    // the newest event of the flag
	all    kind = "history" // all events of the flag
)

// An input has the parameters of an operation. value is unique, so that a value that was read identifies the write.
type input struct {
	kind     kind
	flag     string
	strategy string // its groupId, which is set when it is added and never changes
	value    string // of a description or title
	stale    bool
}

func (in input) reads() bool { return slices.Contains([]kind{read, list, tail, all}, in.kind) }

// An output is the response to an operation.
type output struct {
	status  int  // 0 for an operation of unknown effect
	saw     seen // from a read
	summary summary
	event   string // from a tail: the newest event
	events  int    // from all: the number of events
}

// seen is a flag as in the response to a read. It is compared with ==.
type seen struct {
	summary
	description string
	strategies  string // group=title, sorted, separated by commas
}

// A summary is a flag as in a list.
type summary struct{ exists, stale, on, strategies bool }

// A state is a flag with its newest event and the number of its events. With all events, each order of changes that leads to
// the same flag would be a different state, and the search would take too long.
type state struct {
	seen
	event  string // the newest one
	events int
}

// withEvent returns the state with another event.
func (s state) withEvent(event string) state {
	s.event, s.events = event, s.events+1
	return s
}

// The types of events, with the values that identify them.
func created(description string) string  { return "feature-created " + description }
func updated(description string) string  { return "feature-metadata-updated " + description }
func added(group, title string) string   { return "feature-strategy-add " + group + "=" + title }
func edited(group, title string) string  { return "feature-strategy-update " + group + "=" + title }
func removed(group, title string) string { return "feature-strategy-remove " + group + "=" + title }

const (
	switchedOn  = "feature-environment-enabled "
	switchedOff = "feature-environment-disabled "
	becameStale = "feature-stale-on "
	becameFresh = "feature-stale-off "
)

// titleOf returns the title of the strategy of a group.
func titleOf(strategies, group string) (string, bool) {
	for one := range strings.SplitSeq(strategies, ",") {
		if name, title, _ := strings.Cut(one, "="); name == group {
			return title, true
		}
	}
	return "", false
}

// with adds a strategy, or replaces the one of its group. without removes the one of a group.
func with(strategies, group, title string) string {
	return joined(append(split(without(strategies, group)), group+"="+title))
}

func without(strategies, group string) string {
	return joined(slices.DeleteFunc(split(strategies), func(one string) bool { return strings.HasPrefix(one, group+"=") }))
}

func split(strategies string) []string {
	return slices.DeleteFunc(strings.Split(strategies, ","), func(one string) bool { return one == "" })
}

func joined(strategies []string) string {
	slices.Sort(strategies)
	return strings.Join(strategies, ",")
}

// apply returns the state after a change, and the status of the response.
func (s state) apply(in input) (state, int) {
	title, has := titleOf(s.strategies, in.strategy)
	switch {
	case in.kind == create && s.exists:
		return s, http.StatusConflict
	case in.kind == create:
		s.exists, s.description = true, in.value
		return s.withEvent(created(in.value)), http.StatusCreated
	case !s.exists:
		return s, http.StatusNotFound
	case in.kind == patch:
		was := s.stale
		s.description, s.stale = in.value, in.stale
		switch {
		case s.stale && !was:
			s = s.withEvent(becameStale)
		case was && !s.stale:
			s = s.withEvent(becameFresh)
		}
		s = s.withEvent(updated(in.value))
		return s, http.StatusOK
	case in.kind == on && !s.on && s.strategies == "":
		return s, http.StatusConflict // it has no strategies
	case in.kind == on && !s.on:
		s.on = true
		return s.withEvent(switchedOn), http.StatusOK
	case in.kind == off && s.on:
		s.on = false
		return s.withEvent(switchedOff), http.StatusOK
	case in.kind == on, in.kind == off:
		return s, http.StatusOK
	case in.kind == add:
		s.strategies = with(s.strategies, in.strategy, in.value)
		return s.withEvent(added(in.strategy, in.value)), http.StatusOK
	case !has:
		return s, http.StatusNotFound
	case in.kind == edit:
		s.strategies = with(s.strategies, in.strategy, in.value)
		return s.withEvent(edited(in.strategy, in.value)), http.StatusOK
	}
	s.strategies = without(s.strategies, in.strategy)
	s = s.withEvent(removed(in.strategy, title))
	if s.on && s.strategies == "" {
		s.on = false
		s = s.withEvent(switchedOff)
	}
	return s, http.StatusOK
}

// shown returns the state as in a list.
func (s state) shown() summary {
	return summary{exists: s.exists, stale: s.stale, on: s.on, strategies: s.strategies != ""}
}

// step reports whether the response is legal in a state, and returns the next state. A change of unknown effect may take place
// at any time after its request, even after all reads, where it has no visible effect.
func step(s state, in input, out output) (bool, state) {
	switch in.kind {
	case read:
		s.summary = s.shown()
		return out.saw == s.seen, s
	case list:
		return out.summary == s.shown(), s
	case tail:
		return out.event == s.event, s
	case all:
		return out.events == s.events, s
	}
	after, status := s.apply(in)
	return out.status == 0 || out.status == status, after
}

// model is the model of one flag. Flags are checked separately, since no operation changes two of them.
var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byFlag := map[string][]porcupine.Operation{}
		for _, o := range history {
			flag := o.Input.(input).flag
			byFlag[flag] = append(byFlag[flag], o)
		}
		var parts [][]porcupine.Operation
		for _, part := range byFlag {
			parts = append(parts, part)
		}
		return parts
	},
	Init:              func() any { return state{} },
	Step:              stepOf,
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v → %+v", in, out) },
	DescribeState:     func(s any) string { return fmt.Sprintf("%+v", s) },
}

func stepOf(s, in, out any) (bool, any) {
	legal, after := step(s.(state), in.(input), out.(output))
	return legal, after
}

// checkTimeout limits the time of the checker. A history without a verdict fails the test.
const checkTimeout = 30 * time.Second
