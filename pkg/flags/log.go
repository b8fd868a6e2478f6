package flags

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A LogQuery selects events of the log. An event matches a list if it matches one of its entries; an empty list
// matches all events.
type LogQuery struct {
	Projects        []string
	Features        []string
	Of              Key // the aggregate whose history is read; zero for all events
	Environments    []string
	Types           []EventType
	Actors          []string // names or user IDs of the callers who made the change
	Text            string   // must be contained in the event, case-sensitive; "" for any
	From, To        time.Time
	IncludeReserved bool   // whether reserved events are included, see ReservedEvents
	Limit           int    // maximum number of events, at least 1
	Cursor          string // LogPage.Next of the previous page; "" for the first
}

// A LogPage is a page of the log, newest first. A page can have fewer events than the limit, even none, without
// being the last.
type LogPage struct {
	Events []Event
	Next   string // cursor of the next page; "" on the last page. It encodes only a time and contains no secret
	Total  int    // number of matching events on all pages, or UnknownTotal
}

// UnknownTotal means that the total is not known, because counting would read the whole log.
const UnknownTotal = -1

// reserved are the events about tokens, users, sign-ins, roles and access to projects. The permission Read does not cover
// them.
var reserved = []EventType{
	APITokenCreated, APITokenUpdated, APITokenDeleted,
	PersonalTokenCreated, PersonalTokenDeleted,
	SignupTokenCreated, SignupTokenUpdated,
	UserCreated, UserUpdated, UserDeleted,
	UserSignedIn, UserSignedOut, UserSignedOutEverywhere, SignInLinkCreated,
	ServiceAccountCreated, ServiceAccountUpdated, ServiceAccountDeleted,
	RolesSeeded, RoleCreated, RoleUpdated, RoleDeleted,
	ProjectUserAdded, ProjectUserRoleChanged, ProjectUserRemoved, ProjectAccessUpdated,
}

// ReservedEvents returns the types of events that only administrators can see.
func ReservedEvents() []EventType { return slices.Clone(reserved) }

// IsReserved reports whether only administrators can see events of that type.
func IsReserved(t EventType) bool { return slices.Contains(reserved, t) }

// eventEpoch is the Unix time in milliseconds from which event numbers count: 2025-01-01. They last until 2094.
const eventEpoch = 1735689600000

// Number returns a number for clients that identify events by an integer of at most 53 bits. The upper 41 bits
// are milliseconds since 2025-01-01, the lower 12 the sub-millisecond part of the version 7 UUID. Numbers sort
// as IDs do. Two events that different processes create within 250 ns may have the same number.
func (e Event) Number() int64 {
	digits := strings.ReplaceAll(e.ID, "-", "")
	if len(digits) < 16 {
		return 0
	}
	within, _ := strconv.ParseInt(digits[13:16], 16, 64)
	return (millisecondsOf(digits)-eventEpoch)<<12 | within
}

// EventTime returns when the event of that ID was created, to the millisecond. The time is the beginning of the
// ID.
func EventTime(id string) time.Time {
	return time.UnixMilli(millisecondsOf(strings.ReplaceAll(id, "-", ""))).UTC()
}

// millisecondsOf parses the time at the beginning of a version 7 UUID; 0 if it is none.
func millisecondsOf(digits string) int64 {
	at, _ := strconv.ParseInt(digits[:min(12, len(digits))], 16, 64)
	return at
}

// An EventStore reads the events that changes stored.
type EventStore interface {
	// Log returns a page of the log of all events, newest first, with a single query. It can lag behind commits by
	// about a second, except when it selects one flag. It returns Invalid if the cursor is not from a query of the
	// same kind.
	Log(ctx context.Context, query LogQuery) (LogPage, error)
}
