package flags

import (
	"context"
	"time"
)

// An OutboxEntry is an event that is to be sent by an addon. A change stores it in its own transaction, so that no event is
// lost and none of a change that was not made is sent. An entry is in one of three places: in the outbox until it was sent,
// then among the delivered, or among the parked if it could not be sent.
type OutboxEntry struct {
	Addon int64
	ID    string // of the event, see EventTime. Entries are in the order of their IDs

	// Subject identifies the aggregate whose versions count in Version, usually a flag. The events of a subject are to be
	// sent in the order of their versions. The order of the IDs can differ from it, because each instance of the service has
	// a clock of its own.
	Subject string
	Version int64

	Test *Event // the event of a test, which is in no log and has no Subject; nil for all others

	Attempts int       // that failed
	Next     time.Time // not to be sent before; zero for at once
	Busy     time.Time // until when the receiver asked for no requests at all, when the last attempt failed; zero if it did not
	Error    string    // of the last failed attempt
}

// The times for which the store keeps entries.
const (
	OutboxKept    = 30 * 24 * time.Hour // that were not sent, for example because the addon was disabled or deleted
	DeliveredKept = 7 * 24 * time.Hour  // that were sent or parked
)

// MaxOutboxPage is the largest page of Outbox, and the largest number of entries of Resend.
const MaxOutboxPage = 100

// MaxDeliveryDetail is the largest length of OutboxEntry.Error and Delivery.Detail, in bytes. The store cuts off the rest.
const MaxDeliveryDetail = 1000

// WhichDeliveries selects deliveries.
type WhichDeliveries int

// What can be selected.
const (
	AllDeliveries WhichDeliveries = iota
	SentDeliveries
	ParkedDeliveries
	WaitingDeliveries // the oldest entries of the outbox: those that failed are among them
)

// A Delivery is an entry that was sent or parked, or is still in the outbox.
type Delivery struct {
	OutboxEntry
	Parked bool
	At     time.Time // when it was sent or parked; zero if it is in the outbox
	Detail string    // what the receiver answered, if it was sent: "204 No Content"
}

// A DeliveryStore reads what addons sent or are to send, and lets users test an addon and send events again.
type DeliveryStore interface {
	// OutboxEvents returns the events of entries, by their IDs.
	OutboxEvents(ctx context.Context, entries []OutboxEntry) (map[string]Event, error)

	// Deliveries returns entries of an addon: the latest that were sent or parked, the oldest that wait, or all of these,
	// newest event first.
	Deliveries(ctx context.Context, addon int64, which WhichDeliveries, limit int) ([]Delivery, error)

	// Parked returns the oldest parked entries of an addon, at most limit and MaxOutboxPage, and whether there are more.
	Parked(ctx context.Context, addon int64, limit int) (entries []OutboxEntry, more bool, err error)

	// PutOutbox puts an entry into the outbox without a change, for a test.
	PutOutbox(ctx context.Context, entry OutboxEntry) error

	// Resend moves parked entries back into the outbox, with no attempts.
	Resend(ctx context.Context, entries []OutboxEntry) error
}

// An OutboxStore sends the events of addons. Only the holder of an addon's lease may use Delivered, Failed and Park.
type OutboxStore interface {
	// Outbox returns the oldest entries of an addon's outbox with IDs after a given one ("" for the first), at most limit and
	// MaxOutboxPage, and whether there are more.
	Outbox(ctx context.Context, addon int64, after string, limit int) (entries []OutboxEntry, more bool, err error)

	// Delivered moves an entry from the outbox to the delivered ones. Attempts is the number of failed ones before.
	Delivered(ctx context.Context, entry OutboxEntry, at time.Time, detail string) error

	// Failed stores Attempts, Next, Busy and Error of an entry, which stays in the outbox.
	Failed(ctx context.Context, entry OutboxEntry) error

	// Park moves an entry from the outbox to the parked ones, with its Attempts and Error.
	Park(ctx context.Context, entry OutboxEntry, at time.Time) error

	// TakeAddonLease takes the lease for sending the events of an addon until a time, for a holder. It returns false if
	// another holder has it at the time now. The holder can take it again to extend it, or to end it (until = now).
	TakeAddonLease(ctx context.Context, addon int64, holder string, now, until time.Time) (bool, error)
}
