package dynamo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// loadEnvelopes reads the items of up to maxBatch keys, which must differ: one call. It requests the keys that a busy engine leaves
// unprocessed again.
func (s *Store) loadEnvelopes(ctx context.Context, keys []itemKey) (items []envelope, err error) {
	for attempt := 0; len(keys) > 0; attempt++ {
		if attempt > 0 && !pause(ctx, attempt) {
			return nil, unavailable(false, ctx.Err())
		}
		b := append(make([]byte, 0, 1024), `{"RequestItems":{`...)
		b = append(appendText(b, s.table), `:{"Keys":[`...)
		for i, key := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendKey(b, key)
		}
		var got []envelope
		var a attempts
		b = append(b, `],"ConsistentRead":true}}}`...)
		e := &exchange{operation: "BatchGetItem", body: b, attempts: &a, read: func(response []byte) (err error) {
			got, keys, err = readBatch(response)
			return err
		}}
		if err := s.run(ctx, e); err != nil {
			return nil, a.readError(err)
		}
		items = append(items, got...)
	}
	return items, nil
}

// An envelopeQuery selects items of a partition, in order.
type envelopeQuery struct {
	pk          string
	prefix      string // of the sort keys
	first, last string // instead of a prefix: the sort keys are from one to the other
	limit       int    // of the items in one call; 0 for as many as fit into 1 MB
}

// queryEnvelopes calls each with the documents and versions of the items that a query selects, until it returns false: one call per
// MB.
func (s *Store) queryEnvelopes(ctx context.Context, q envelopeQuery, each func(envelope) (goOn bool, err error)) error {
	for page := (envelopePage{more: true}); page.more; {
		var err error
		if page, err = s.queryPage(ctx, q, page.last); err != nil {
			return err
		}
		for _, item := range page.items {
			goOn, err := each(item)
			if err != nil {
				return internalError(err)
			}
			if !goOn {
				return nil
			}
		}
	}
	return nil
}

// An envelopePage is what one call returns of a query.
type envelopePage struct {
	items []envelope
	last  itemKey // of the items that were read, if there are more
	more  bool
}

// queryPage reads the items that a query selects after a key, or the first of them after the zero key: one call.
func (s *Store) queryPage(ctx context.Context, q envelopeQuery, after itemKey) (page envelopePage, err error) {
	var a attempts
	e := &exchange{operation: "Query", body: s.queryBody(q, after), attempts: &a, read: func(response []byte) (err error) {
		page.items, page.last, page.more, err = readPage(response)
		return err
	}}
	if err := s.run(ctx, e); err != nil {
		return envelopePage{}, a.readError(err)
	}
	return page, nil
}

func (s *Store) queryBody(q envelopeQuery, start itemKey) []byte {
	b := append(make([]byte, 0, 512), `{"ConsistentRead":true,"ProjectionExpression":"#d,#v","ExpressionAttributeNames":{"#d":"doc","#v":"version"},"TableName":`...)
	b = appendText(b, s.table)
	switch {
	case q.prefix != "":
		b = append(b, `,"KeyConditionExpression":"pk = :pk AND begins_with(sk, :a)","ExpressionAttributeValues":{":a":{"S":`...)
		b = append(appendText(b, q.prefix), "},"...)
	case q.last != "":
		b = append(b, `,"KeyConditionExpression":"pk = :pk AND sk BETWEEN :a AND :b","ExpressionAttributeValues":{":a":{"S":`...)
		b = append(appendText(b, q.first), `},":b":{"S":`...)
		b = append(appendText(b, q.last), "},"...)
	default:
		b = append(b, `,"KeyConditionExpression":"pk = :pk","ExpressionAttributeValues":{`...)
	}
	b = append(b, `":pk":{"S":`...)
	b = append(appendText(b, q.pk), "}}"...)
	if q.limit > 0 {
		b = strconv.AppendInt(append(b, `,"Limit":`...), int64(q.limit), 10)
	}
	if start != (itemKey{}) {
		b = appendKey(append(b, `,"ExclusiveStartKey":`...), start)
	}
	return append(b, '}')
}

// readBatch reads a response of BatchGetItem from one table.
func readBatch(response []byte) (items []envelope, unprocessed []itemKey, err error) {
	r := &scanner{json: string(response)}
	complete := false
	r.object(func(name string) {
		switch name {
		case "Responses":
			complete = true
			r.object(func(string) {
				r.array(func() { items = append(items, r.envelope()) })
			})
		case "UnprocessedKeys":
			complete = true
			r.object(func(string) {
				r.object(func(name string) {
					if name != "Keys" {
						r.skip()
						return
					}
					r.array(func() {
						e := r.envelope()
						unprocessed = append(unprocessed, itemKey{e.PK, e.SK})
					})
				})
			})
		default:
			r.skip()
		}
	})
	if err := r.end(); err != nil {
		return nil, nil, err
	}
	if !complete {
		return nil, nil, errNoItems
	}
	return items, unprocessed, nil
}

// errNoItems is the error for a response without a field that all responses of DynamoDB have: without it, everything would
// look as if it did not exist.
var errNoItems = errors.New("dynamo: the response has no list of items")

// readPage reads a response of Query, and the key to go on from if there is more.
func readPage(response []byte) (items []envelope, last itemKey, more bool, err error) {
	r := &scanner{json: string(response)}
	complete := false
	r.object(func(name string) {
		switch name {
		case "Items":
			complete = true
			r.array(func() { items = append(items, r.envelope()) })
		case "Count":
			complete = true
			r.skip()
		case "LastEvaluatedKey":
			e := r.envelope()
			last = itemKey{e.PK, e.SK}
		default:
			r.skip()
		}
	})
	if err := r.end(); err != nil {
		return nil, itemKey{}, false, err
	}
	if !complete {
		return nil, itemKey{}, false, errNoItems
	}
	return items, last, last != itemKey{}, nil
}

// envelope reads an item, or a key.
func (s *scanner) envelope() (e envelope) {
	s.object(func(name string) {
		switch name {
		case "pk":
			e.PK = s.textAttribute()
		case "sk":
			e.SK = s.textAttribute()
		case "uid":
			e.UID = s.textAttribute()
		case "doc":
			e.Document = s.textAttribute()
		case "version":
			e.Version = s.numberAttribute()
		case "begun":
			e.Begun = s.numberAttribute()
		case "uses":
			e.Uses = s.numberAttribute()
		case "epoch":
			e.Epoch = s.textAttribute()
		case "n":
			e.Number = s.numberAttribute()
		case "turn":
			e.Turn = s.numberAttribute()
		case "ttl":
			e.TTL = s.numberAttribute()
		case "earlier":
			e.Earlier = s.textsAttribute()
		case "recent":
			e.Recent = s.textsAttribute()
		case "entries":
			e.Entries = s.textsAttribute()
		default:
			s.skip()
		}
	})
	return e
}

// attribute reads an attribute, and calls value if it has the type. An attribute that is NULL is as one that is missing.
func (s *scanner) attribute(wanted string, value func()) {
	s.object(func(given string) {
		switch {
		case given == wanted:
			value()
		case given == "NULL":
			s.skip()
		case s.err == nil:
			s.err = &malformedItem{fmt.Sprintf("an attribute of an item has the type %.20q instead of %s", given, wanted)}
		}
	})
}

func (s *scanner) textAttribute() (text string) {
	s.attribute("S", func() { text = s.text() })
	return text
}

func (s *scanner) numberAttribute() (n int64) {
	s.attribute("N", func() {
		var err error
		digits := s.text()
		if n, err = strconv.ParseInt(digits, 10, 64); err != nil && s.err == nil {
			s.err = &malformedItem{fmt.Sprintf("an attribute of an item is %.40q instead of a whole number", digits)}
		}
	})
	return n
}

func (s *scanner) textsAttribute() (texts []string) {
	s.attribute("L", func() {
		s.array(func() { texts = append(texts, s.textAttribute()) })
	})
	return texts
}
