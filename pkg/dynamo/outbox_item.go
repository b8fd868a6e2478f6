package dynamo

import (
	"strconv"
	"strings"
	"time"

	"guidon/pkg/flags"
)

// The partitions of an addon's entries. The sort key is the ID of the event.
const (
	outboxPrefix    = "OUTBOX#"
	deliveredPrefix = "DELIVERED#"
	parkedPrefix    = "PARKED#"
)

func outboxKey(prefix string, addon int64, id string) itemKey {
	return itemKey{prefix + strconv.FormatInt(addon, 10), id}
}

// addonLeaseKey is not in the partition of the entries.
func addonLeaseKey(addon int64) itemKey {
	return itemKey{"OUTBOX", "LEASE#" + strconv.FormatInt(addon, 10)}
}

// An outboxItem is the item of an entry. It refers to the event by the key: the partition of the event is Subject, and the
// sort key follows from Version.
type outboxItem struct {
	PK       string `dynamodbav:"pk"`
	SK       string `dynamodbav:"sk"`
	Document string `dynamodbav:"doc"`
	TTL      int64  `dynamodbav:"ttl"`
}

// An outboxRef names an event.
type outboxRef struct {
	ID      string `json:"id"`
	Subject string `json:"subject,omitzero"`
	Version int64  `json:"version,omitzero"`
}

// An outboxDocument is the stored form of an entry, and of its delivery.
type outboxDocument struct {
	Format int   `json:"format"`
	Addon  int64 `json:"addon"`
	outboxRef
	Also     []outboxRef    `json:"also,omitempty"` // further entries of the same change, see Store.unfold
	Test     *eventDocument `json:"test,omitzero"`
	Attempts int            `json:"attempts,omitzero"`
	Next     time.Time      `json:"next,omitzero"`
	Busy     time.Time      `json:"busy,omitzero"`
	Error    string         `json:"error,omitzero"`
	Parked   bool           `json:"parked,omitzero"`
	At       time.Time      `json:"at,omitzero"`
	Detail   string         `json:"detail,omitzero"`
}

func storeDelivery(d flags.Delivery) (outboxDocument, error) {
	doc := outboxDocument{
		Format: format, Addon: d.Addon, outboxRef: outboxRef{d.ID, d.Subject, d.Version}, Attempts: d.Attempts, Next: d.Next,
		Busy: d.Busy, Error: clip(d.Error), Parked: d.Parked, At: d.At, Detail: clip(d.Detail),
	}
	if d.Test == nil {
		return doc, nil
	}
	test, err := storeEvent(*d.Test)
	doc.Test = &test
	return doc, err
}

func (doc outboxDocument) delivery() (flags.Delivery, error) {
	d := flags.Delivery{
		OutboxEntry: flags.OutboxEntry{
			Addon: doc.Addon, ID: doc.ID, Subject: doc.Subject, Version: doc.Version, Attempts: doc.Attempts, Next: doc.Next,
			Busy: doc.Busy, Error: doc.Error,
		},
		Parked: doc.Parked, At: doc.At, Detail: doc.Detail,
	}
	if doc.Test == nil {
		return d, nil
	}
	test, err := doc.Test.event("")
	d.Test = &test
	return d, err
}

// clip cuts a text off after flags.MaxDeliveryDetail bytes, and replaces what is not valid UTF-8, which JSON cannot hold.
func clip(text string) string {
	if len(text) > flags.MaxDeliveryDetail {
		text = text[:flags.MaxDeliveryDetail]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// newOutboxItem is the item of an entry or a delivery.
func newOutboxItem(prefix string, d flags.Delivery, expires time.Time) (outboxItem, error) {
	doc, err := storeDelivery(d)
	if err != nil {
		return outboxItem{}, err
	}
	return doc.item(prefix, expires.Unix())
}

// item is the item of the document.
func (doc outboxDocument) item(prefix string, expires int64) (outboxItem, error) {
	document, err := encode(doc)
	at := outboxKey(prefix, doc.Addon, doc.ID)
	return outboxItem{at.pk, at.sk, document, expires}, err
}

// unfolded are the documents of the entry and of those that its item also has.
func (doc outboxDocument) unfolded() []outboxDocument {
	also := doc.Also
	doc.Also = nil
	all := []outboxDocument{doc}
	for _, ref := range also {
		all = append(all, outboxDocument{Format: doc.Format, Addon: doc.Addon, outboxRef: ref})
	}
	return all
}
