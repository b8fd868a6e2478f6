package dynamo

import (
	"github.com/go-json-experiment/json"

	"guidon/pkg/flags"
)

// DynamoDB's limit of an item is 400 KiB. A document gets that less the space for its envelope, in bytes.
const (
	maxDocument  = 400<<10 - envelopeSize
	envelopeSize = 512
)

// An envelope is an item: a key and a version around one JSON document.
type envelope struct {
	PK       string `dynamodbav:"pk"`
	SK       string `dynamodbav:"sk"`
	UID      string `dynamodbav:"uid,omitempty"`
	Version  int64  `dynamodbav:"version,omitempty"`
	Document string `dynamodbav:"doc,omitempty"`
	Begun    int64  `dynamodbav:"begun,omitempty"` // only in a segment's guard
	Uses     int64  `dynamodbav:"uses,omitempty"`  // only in a segment's guard

	feedAttributes // only in the feed and its pages, except for TTL
}

// encode is a document as JSON. Equal content gives equal bytes: a write whose bytes have not changed is left out.
func encode(document any) (string, error) {
	b, err := json.Marshal(document, json.Deterministic(true))
	return string(b), err
}

func decode(document string, into any) error { return json.Unmarshal([]byte(document), into) }

// A codec converts aggregates to documents and back.
type codec struct {
	encode func(flags.Aggregate) (document string, err error)
	decode func(envelope) (flags.Aggregate, error)
}

// An aggregate is a pointer to a type of the domain.
type aggregate[T any] interface {
	*T
	flags.Aggregate
}

// A document is the stored form of an aggregate: the JSON of its type, which has the names in its tags.
type document[T any] struct {
	Format    int `json:"format"`
	Aggregate *T  `json:",embed"`
}

// jsonCodec is the codec of an aggregate. Its version is an attribute of the item instead of a field of the document.
func jsonCodec[T any, A aggregate[T]](version func(A) *int64) codec {
	return codec{
		encode: func(a flags.Aggregate) (string, error) {
			stored := *a.(A)
			*version(&stored) = 0
			return encode(document[T]{format, &stored})
		},
		decode: func(e envelope) (flags.Aggregate, error) {
			a := A(new(T))
			err := decode(e.Document, a)
			*version(a) = e.Version
			return a, err
		},
	}
}

// format is the version of all stored forms: a table of another one is refused, see StartFeed. From the release 0.1.0 on, a change that would
// misread what is stored increases the version in its document, reads both, and adds a golden file.
const format = 2

// convert converts each element of a list. An empty list becomes nil.
func convert[A, B any](list []A, f func(A) B) []B {
	if len(list) == 0 {
		return nil
	}
	out := make([]B, len(list))
	for i, a := range list {
		out[i] = f(a)
	}
	return out
}
