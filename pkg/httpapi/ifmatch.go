package httpapi

import (
	"net/http"
	"strings"

	"guidon/pkg/flags"
)

// CheckIfMatch compares what an operation changes with the ETags in the If-Match of the request (RFC 9110 section 13.1.1). before
// and after are what its GET returns before and after the change; after is nil for a removal.
//
// Without that header, with "*" or with the ETag of before, the operation can go on. Otherwise the caller has read something older:
// see mismatch. A request that changes nothing can always go on, because it may repeat one whose response was lost.
//
// The ETags of Guidon are weak, because they are the same for a compressed body. They are compared without the W/.
func (tx *Tx) CheckIfMatch(before, after any) error {
	r := tx.request.http
	if strings.Join(r.Header.Values("If-Match"), "") == "" {
		return nil
	}
	current := tagOf(before)
	if listsTag(r, "If-Match", current) || after != nil && tagOf(after) == current {
		return nil
	}
	return mismatch(r, "ETag")
}

// CheckRevision compares the If-Match of the request with a revision that the body of the read has as a field. It returns whether there is
// one that matches: seen is false without that header, and with "*". See mismatch if none matches.
func (tx *Tx) CheckRevision(revision string) (seen bool, err error) {
	given := strings.TrimSpace(strings.Join(tx.request.http.Header.Values("If-Match"), ","))
	if given == "" || given == "*" {
		return false, nil
	}
	for tag := range listedTags(tx.request.http, "If-Match") { // "*" beside others is none of them
		if tag == `"`+revision+`"` {
			return true, nil
		}
	}
	return false, mismatch(tx.request.http, "revision")
}

// mismatch is the error of an If-Match of which no item matches: PreconditionFailed, or Invalid if none is in quotes, as ETags are.
func mismatch(r *http.Request, what string) error {
	for tag := range listedTags(r, "If-Match") {
		if strings.HasPrefix(tag, `"`) {
			return flags.Errorf(flags.PreconditionFailed, "this was changed after you read it, and nothing was saved: "+
				"read it again, and send its new %s in If-Match", what)
		}
	}
	return flags.Errorf(flags.Invalid, "the header If-Match needs the %s in double quotes, such as If-Match: \"5f2c\"; nothing was saved", what)
}

// tagOf is the ETag with which a read returns this body.
func tagOf(answer any) string { return encode(answer, false, true).etag }
