package linear

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// A kind is what an operation is.
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
	list   kind = "list"    // one list is a read of each flag, in the time that the whole list took
	tail   kind = "tail"    // the newest event of the flag
	all    kind = "history" // all events of the flag
)

// An input is what is asked for. value is new with every operation, so that what is read tells who wrote it.
type input struct {
	kind     kind
	flag     string
	strategy string // its groupId: the name that its maker gave it, which never changes
	value    string // of a description or title
	stale    bool
}

func (in input) reads() bool { return slices.Contains([]kind{read, list, tail, all}, in.kind) }

// An output is what was answered.
type output struct {
	status  int  // 0 for an operation of unknown effect
	saw     seen // by a read
	summary summary
	event   string // by a tail: the newest
	events  int    // by all: how many
}

// seen is a flag as a read of it shows it. It compares by ==.
type seen struct {
	summary
	description string
	strategies  string // group=title, sorted, between commas
}

// A summary is a flag as a list shows it.
type summary struct{ exists, stale, on, strategies bool }

// A state is a flag with what is left of its history: with all of it, every order of changes that leads to the same flag
// would be a state of its own, until the end.
type state struct {
	seen
	event  string // the newest one
	events int
}

// happened is the state with an event added.
func (s state) happened(event string) state {
	s.event, s.events = event, s.events+1
	return s
}

// The names of events, with what tells one from the other.
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

// titleOf is the title of a strategy.
func titleOf(strategies, group string) (string, bool) {
	for one := range strings.SplitSeq(strategies, ",") {
		if name, title, _ := strings.Cut(one, "="); name == group {
			return title, true
		}
	}
	return "", false
}

// with has a strategy in the place of the one of its group, or besides; without has none of the group.
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

// apply is a change made to a flag, and how it is answered.
func (s state) apply(in input) (state, int) {
	title, has := titleOf(s.strategies, in.strategy)
	switch {
	case in.kind == create && s.exists:
		return s, http.StatusConflict
	case in.kind == create:
		s.exists, s.description = true, in.value
		return s.happened(created(in.value)), http.StatusCreated
	case !s.exists:
		return s, http.StatusNotFound
	case in.kind == patch:
		was := s.stale
		s.description, s.stale = in.value, in.stale
		s = s.happened(updated(in.value))
		switch {
		case s.stale && !was:
			s = s.happened(becameStale)
		case was && !s.stale:
			s = s.happened(becameFresh)
		}
		return s, http.StatusOK
	case in.kind == on && !s.on && s.strategies == "":
		return s, http.StatusConflict // it has no strategies
	case in.kind == on && !s.on:
		s.on = true
		return s.happened(switchedOn), http.StatusOK
	case in.kind == off && s.on:
		s.on = false
		return s.happened(switchedOff), http.StatusOK
	case in.kind == on, in.kind == off:
		return s, http.StatusOK
	case in.kind == add:
		s.strategies = with(s.strategies, in.strategy, in.value)
		return s.happened(added(in.strategy, in.value)), http.StatusOK
	case !has:
		return s, http.StatusNotFound
	case in.kind == edit:
		s.strategies = with(s.strategies, in.strategy, in.value)
		return s.happened(edited(in.strategy, in.value)), http.StatusOK
	}
	s.strategies = without(s.strategies, in.strategy)
	s = s.happened(removed(in.strategy, title))
	if s.on && s.strategies == "" {
		s.on = false
		s = s.happened(switchedOff)
	}
	return s, http.StatusOK
}

// shown is the state as a list shows it.
func (s state) shown() summary {
	return summary{exists: s.exists, stale: s.stale, on: s.on, strategies: s.strategies != ""}
}

// step tells whether an operation may have been answered so in that state, and what it makes of it. A change of unknown
// effect may take place anywhere from its call to the end; behind all reads it is as though it had not.
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

// model is one flag's; each is checked by itself, since no operation here touches two.
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

// patience is how long a verdict may take. Without one, nothing is shown.
const patience = 30 * time.Second
