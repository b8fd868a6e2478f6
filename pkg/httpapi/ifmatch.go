package httpapi

import (
	"crypto/sha256"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
)

// CheckIfMatch compares what an operation changes with the ETags in the If-Match of the request (RFC 9110 section 13.1.1). before
// and after are what its GET answers before and after the change; after is nil for a removal.
//
// Without that header, with "*" or with the ETag of before, the operation can go on. Otherwise the caller has read something older:
// PreconditionFailed. A request that changes nothing can always go on, because it may repeat one whose answer was lost.
//
// The ETags of Guidon are weak, because they are the same for a compressed body. They are compared without the W/.
func (tx *Tx) CheckIfMatch(before, after any) error {
	header := strings.Join(tx.request.http.Header.Values("If-Match"), ",") // the adapter of Lambda events splits headers
	if header == "" {
		return nil
	}
	current := tx.tagOf(before)
	for item := range strings.SplitSeq(header, ",") {
		if item = strings.TrimSpace(item); item == "*" || strings.TrimPrefix(item, "W/") == strings.TrimPrefix(current, "W/") {
			return nil
		}
	}
	if after != nil && tx.tagOf(after) == current {
		return nil
	}
	return flags.Errorf(flags.PreconditionFailed, "this was changed after you read it, and nothing was saved: "+
		"read it again, and send its new ETag in If-Match")
}

// tagOf is the ETag of an answer (see encode).
func (tx *Tx) tagOf(answer any) string {
	sum := sha256.New()
	tx.must(json.MarshalWrite(sum, answer, json.Deterministic(true), jsontext.AllowInvalidUTF8(true)))
	return weakTag(sum)
}
