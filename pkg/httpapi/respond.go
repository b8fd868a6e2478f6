package httpapi

import (
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/backoff"
	"guidon/pkg/flags"
)

// failures has the status and name of each kind of error (contract: Errors).
var failures = map[flags.Kind]struct {
	status int
	name   string
}{
	flags.Invalid:              {http.StatusBadRequest, "ValidationError"},
	flags.Unauthenticated:      {http.StatusUnauthorized, "AuthenticationRequired"},
	flags.Forbidden:            {http.StatusForbidden, "NoAccessError"},
	flags.ReviewRequired:       {http.StatusForbidden, "PermissionError"},
	flags.NotFound:             {http.StatusNotFound, "NotFoundError"},
	flags.NameExists:           {http.StatusConflict, "NameExistsError"},
	flags.Conflict:             {http.StatusConflict, "ConflictError"},
	flags.PreconditionFailed:   {http.StatusPreconditionFailed, "PreconditionFailedError"},
	flags.TooLarge:             {http.StatusRequestEntityTooLarge, "PayloadTooLargeError"},
	flags.UnsupportedMediaType: {http.StatusUnsupportedMediaType, "ContentTypeerror"}, // spelled so in the contract
	flags.TooManyRequests:      {http.StatusTooManyRequests, "TooManyRequestsError"},
	flags.Unavailable:          {http.StatusServiceUnavailable, "ServiceUnavailableError"},
	flags.Internal:             {http.StatusInternalServerError, "InternalError"},
}

// retryAfter is the Retry-After header of a 503 or 429, in seconds. People and scripts can try again at once, but applications can wait: they
// are many, and go on with the flags that they have.
func (o outcome) retryAfter() int {
	if !o.application {
		return 1
	}
	return backoff.PollAfterLeast + rand.N(backoff.PollAfterMost-backoff.PollAfterLeast+1) //nolint:gosec // needs no secure random number
}

// An errorBody is the body of every error (contract: Errors).
type errorBody struct {
	ID      string        `json:"id"` // the errorId of the log line
	Name    string        `json:"name"`
	Message string        `json:"message"`
	Details []errorDetail `json:"details,omitempty"`

	Permissions []string `json:"permissions,omitempty"` // of a PermissionError: those with which the caller could do it
}

type errorDetail struct {
	Message     string `json:"message"`
	Description string `json:"description"` // the same: some clients of Unleash show this one
	Path        string `json:"path,omitzero"`
}

// A manifestError is the body of an error as the OpenFeature CLI reads it.
type manifestError struct {
	Error struct {
		ID      string           `json:"id"` // as of errorBody
		Message string           `json:"message"`
		Status  int              `json:"status"`
		Details []manifestDetail `json:"details,omitempty"`
	} `json:"error"`
}

type manifestDetail struct {
	Field   string `json:"field,omitzero"`
	Message string `json:"message"`
}

func manifestErrorOf(status int, failure errorBody) (body manifestError) {
	body.Error.ID, body.Error.Message, body.Error.Status = failure.ID, failure.Message, status
	body.Error.Details = Each(failure.Details, func(d errorDetail) manifestDetail {
		return manifestDetail{strings.TrimPrefix(d.Path, "/"), d.Message}
	})
	return body
}

// An outcome is the result of a request.
type outcome struct {
	route  string
	path   string // the pattern of a path that no operation serves, see apipath.Pattern; empty for others
	status int    // if it succeeded

	application bool // whether an application or a browser sent it, see Serve
	openFeature bool // see Operation
	body        any  // nil without one
	from        *Tx  // the transaction that made the response; nil without one
	err         error
	rounds      int
	took        time.Duration
}

// respond writes the response and its log line. The log line has the route, or the pattern of an unknown path. It never has the path
// as sent, which can contain a secret, or a body.
func (s *service) respond(w http.ResponseWriter, r *http.Request, o outcome) {
	status, body := o.status, o.body
	from := &Tx{}
	if o.err == nil && o.from != nil {
		from = o.from
	}
	var failure errorBody
	if o.err != nil {
		status, failure = o.fail(w.Header())
		if body = failure; o.openFeature {
			body = manifestErrorOf(status, failure)
		}
	}
	maps.Copy(w.Header(), from.header)
	for _, cookie := range from.cookies {
		w.Header().Add("Set-Cookie", cookie)
	}
	if from.location != "" {
		w.Header().Set("Location", from.location)
	}
	w.Header().Set("X-Content-Type-Options", "nosniff") // a text in the body must not make it a page
	if body == nil {
		if from.secret {
			w.Header().Set("Cache-Control", "no-store")
		}
		s.log(r, o, status, failure)
		w.WriteHeader(status)
		return
	}
	tagged := o.err == nil && r.Method == http.MethodGet && !from.secret // callers may cache it, and revalidate it each time
	answer := encode(body, AcceptsGzip(r), tagged)
	if TooLong(answer.body, answer.gzipped) {
		o.err = flags.Errorf(flags.TooLarge, "%s", TooLongMessage(answer.gzipped))
		s.respond(w, r, o)
		return
	}
	w.Header().Add("Vary", "Accept-Encoding")
	if from.secret {
		w.Header().Set("Cache-Control", "no-store")
	}
	if tagged {
		w.Header().Set("ETag", answer.etag)
		w.Header().Set("Cache-Control", "private, no-cache")
		if matchesTag(r, answer.etag) {
			s.log(r, o, http.StatusNotModified, failure)
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if o.application && (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests) {
		s.logRefusal(r, o, status, failure)
	} else {
		s.log(r, o, status, failure)
	}
	if from.download != "" {
		w.Header().Set("Content-Disposition", `attachment; filename="`+from.download+`"`)
	}
	answer.write(w, status)
}

// maxDetails limits what an application gets of an error: its token can be public, and data out is most of the price of a refused report.
const maxDetails = 5

// fail returns the status and body of an error, and sets when to try again.
func (o outcome) fail(header http.Header) (int, errorBody) {
	status, body := describe(o.err)
	if o.application && len(body.Details) > maxDetails {
		body.Details = body.Details[:maxDetails]
	}
	switch status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		header.Set("Retry-After", strconv.Itoa(o.retryAfter()))
	case http.StatusUnsupportedMediaType:
		header.Set("Accept-Encoding", "gzip") // of bodies (RFC 9110 section 12.5.3)
	}
	return status, body
}

// pagesHint says how to read a long list.
const pagesHint = "read pages: with limit, and cursor or offset, where the operation has them; the flags of a project with " +
	"GET /api/admin/projects/{projectId}/features?limit=1000, and then cursor"

// TooLongMessage says what to do about a response that is too long for Lambda.
func TooLongMessage(gzipped bool) string {
	if gzipped {
		return "the response is larger than the 6 MB that Lambda can return, even compressed; " + pagesHint
	}
	return "the response is larger than the 6 MB that Lambda can return; accept a compressed one (Accept-Encoding: gzip), or " + pagesHint
}

// describe returns the status and body of an error. They tell nothing of its cause.
func describe(err error) (int, errorBody) {
	e, ok := errors.AsType[*flags.Error](err)
	if !ok {
		e = flags.Errorf(flags.Internal, "internal error; search the log for this id")
	}
	as, ok := failures[e.Kind]
	if !ok {
		as = failures[flags.Internal]
	}
	body := errorBody{ID: uuid.NewString(), Name: as.name, Message: e.Message, Permissions: e.Permissions}
	for _, d := range e.Details {
		body.Details = append(body.Details, errorDetail{Message: d.Message, Description: d.Message, Path: d.Path})
	}
	return as.status, body
}
