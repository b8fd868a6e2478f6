package flags

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A LogQuery says which events of the log are wanted. Of a list, any one will do; an empty list leaves nothing out.
type LogQuery struct {
	Projects        []string
	Features        []string
	Environments    []string
	Types           []EventType
	Actors          []string  // the names or ids of those who did it
	Text            string    // stands somewhere in the event, in this case; "" for any
	From, To        time.Time // the first and the last moment, both included; zero for no bound
	IncludeReserved bool      // whether reserved events may be shown
	Limit           int       // at most this many events, from 1
	Cursor          string    // LogPage.Next of the page before; "" for the first
}

// A LogPage is a part of the log, newest first. It may have fewer events than were asked for, even none, and yet not be
// the last.
type LogPage struct {
	Events []Event
	Next   string // where the next page begins; "" for the last. It tells of a moment, and so of nothing that is secret
	Total  int    // the number of events that match on all pages; UnknownTotal when the query of the page does not tell
}

// UnknownTotal is the total of a log that would have to be read to its end to be counted.
const UnknownTotal = -1

// reserved are the events of what "may read" does not reach: tokens, users, roles, and who holds what in a project.
var reserved = []EventType{
	APITokenCreated, APITokenUpdated, APITokenDeleted,
	PersonalTokenCreated, PersonalTokenDeleted,
	SignupTokenCreated, SignupTokenUpdated,
	UserCreated, UserUpdated, UserDeleted,
	ServiceAccountCreated, ServiceAccountUpdated, ServiceAccountDeleted,
	RolesSeeded, RoleCreated, RoleUpdated, RoleDeleted,
	ProjectUserAdded, ProjectUserRoleChanged, ProjectUserRemoved, ProjectAccessUpdated,
}

// ReservedEvents lists the types of events that only administrators see.
func ReservedEvents() []EventType { return slices.Clone(reserved) }

// eventEpoch is the millisecond that the numbers of events count from, 2025-01-01: from there they last until 2094.
const eventEpoch = 1735689600000

// Number is a whole number of 53 bits at most for those who know events by number: the milliseconds from 2025-01-01 in
// the upper 41, and the 12 bits in which a UUID of version 7 orders what happens within one. It orders events as their
// ids do, and two that different processes made in the same 250 ns may share it.
func (e Event) Number() int64 {
	digits := strings.ReplaceAll(e.ID, "-", "")
	if len(digits) < 16 {
		return 0
	}
	within, _ := strconv.ParseInt(digits[13:16], 16, 64)
	return (millisecondOf(digits)-eventEpoch)<<12 | within
}

// EventTime is when the event of that id was made, to the millisecond: ids begin with it.
func EventTime(id string) time.Time {
	return time.UnixMilli(millisecondOf(strings.ReplaceAll(id, "-", ""))).UTC()
}

// millisecondOf reads the time that the digits of a UUID of version 7 begin with; 0 where they are none.
func millisecondOf(digits string) int64 {
	at, _ := strconv.ParseInt(digits[:min(12, len(digits))], 16, 64)
	return at
}
