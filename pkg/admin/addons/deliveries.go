package addons

import (
	"context"
	"slices"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

// The states of a delivery. Unleash has the first two.
const (
	stateSuccess = "success"
	stateFailed  = "failed"  // parked
	stateWaiting = "waiting" // in the outbox: not sent yet, or to be sent again
)

// selections are the deliveries that the states of the query select; "" is that of a query without one.
var selections = map[string]flags.WhichDeliveries{
	"": flags.AllDeliveries, stateSuccess: flags.SentDeliveries, stateFailed: flags.ParkedDeliveries, stateWaiting: flags.WaitingDeliveries,
}

// inDeliveries is the place of an operation on the deliveries of an addon.
type inDeliveries struct {
	inAddon
	which flags.WhichDeliveries
}

// Parse reads the query.
func (at *inDeliveries) Parse(r httpapi.Request) error {
	which, known := selections[r.Query().Get("state")]
	if !known {
		return flags.Errorf(flags.Invalid, "the query's state must be %s, %s or %s", stateSuccess, stateFailed, stateWaiting)
	}
	at.which = which
	return nil
}

// A deliveryList has the latest deliveries of an addon. The names are those of Unleash 6.
type deliveryList struct {
	Deliveries []deliveryView `json:"integrationEvents"`
}

// A deliveryView is an event that an addon sent, could not send, or is to send.
type deliveryView struct {
	ID           string           `json:"id"`
	AddonID      int64            `json:"integrationId"`
	CreatedAt    shape.Time       `json:"createdAt"` // when it was sent or parked; when it happened if it waits
	State        string           `json:"state"`
	StateDetails string           `json:"stateDetails"`
	Event        *shape.EventView `json:"event"` // null if it is no longer stored
	Details      deliveryDetails  `json:"details"`
}

type deliveryDetails struct {
	FailedAttempts int         `json:"failedAttempts"`
	NextAttemptAt  *shape.Time `json:"nextAttemptAt,omitzero"` // of one that waits after a failed attempt
}

// listDeliveries lists deliveries, newest event first. Events that only administrators can see are left out for
// others.
func listDeliveries(tx *httpapi.Tx, at inDeliveries) (deliveryList, error) {
	_, a := at.find(tx)
	all := tx.Deliveries(a.ID, at.which, flags.MaxOutboxPage)
	entries := httpapi.Each(all, func(d flags.Delivery) flags.OutboxEntry { return d.OutboxEntry })
	events := tx.OutboxEvents(entries)
	all = slices.DeleteFunc(slices.Clone(all), func(d flags.Delivery) bool {
		return !tx.Caller.Admin && flags.IsReserved(events[d.ID].Type)
	})
	views := httpapi.Each(all, func(d flags.Delivery) deliveryView { return deliveryViewOf(d, events) })
	return deliveryList{httpapi.PageOf(tx.Query(), views)}, nil
}

func deliveryViewOf(d flags.Delivery, events map[string]flags.Event) deliveryView {
	view := deliveryView{
		ID: d.ID, AddonID: d.Addon, CreatedAt: shape.Time(d.At), State: stateSuccess, StateDetails: d.Detail,
		Details: deliveryDetails{FailedAttempts: d.Attempts},
	}
	switch {
	case d.Parked:
		view.State, view.StateDetails = stateFailed, d.Error
	case d.At.IsZero():
		view.State, view.StateDetails, view.CreatedAt = stateWaiting, d.Error, shape.Time(flags.EventTime(d.ID))
		view.Details.NextAttemptAt = shape.TimeOrNull(d.Next)
	}
	if event, stored := events[d.ID]; stored {
		shown := shape.EventViewOf(event)
		view.Event = &shown
	}
	return view
}

// A resentView tells how many parked events will be sent again, and whether there are more.
type resentView struct {
	Resent int  `json:"resent"`
	More   bool `json:"more"`
}

// resend puts the oldest parked events into the outbox again.
func resend(tx *httpapi.Tx, at inAddon) (resentView, error) {
	a := at.findEnabled(tx)
	entries, more := tx.Parked(a.ID, flags.MaxOutboxPage)
	if len(entries) > 0 {
		tx.After(func(ctx context.Context, store httpapi.Store) error { return store.Resend(ctx, entries) })
	}
	return resentView{len(entries), more}, nil
}
