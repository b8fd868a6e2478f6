package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/flags"
)

// failures gives each kind of failure its status and name (contract: Errors).
var failures = map[flags.Kind]struct {
	status int
	name   string
}{
	flags.Invalid:              {http.StatusBadRequest, "ValidationError"},
	flags.Unauthenticated:      {http.StatusUnauthorized, "AuthenticationRequired"},
	flags.Forbidden:            {http.StatusForbidden, "NoAccessError"},
	flags.NotFound:             {http.StatusNotFound, "NotFoundError"},
	flags.NameExists:           {http.StatusConflict, "NameExistsError"},
	flags.Conflict:             {http.StatusConflict, "ConflictError"},
	flags.TooLarge:             {http.StatusRequestEntityTooLarge, "PayloadTooLargeError"},
	flags.UnsupportedMediaType: {http.StatusUnsupportedMediaType, "ContentTypeerror"}, // spelled so in the contract
	flags.Unavailable:          {http.StatusServiceUnavailable, "ServiceUnavailableError"},
	flags.Internal:             {http.StatusInternalServerError, "InternalError"},
}

// retryAfter is how long a caller is asked to wait after a 503, in seconds.
const retryAfter = 1

// An errorBody is the body of every failure.
type errorBody struct {
	ID      string        `json:"id"` // also in the log line
	Name    string        `json:"name"`
	Message string        `json:"message"`
	Details []errorDetail `json:"details,omitempty"`
}

type errorDetail struct {
	Message     string `json:"message"`
	Description string `json:"description"` // the same: some clients of Unleash show this one
	Path        string `json:"path,omitzero"`
}

// An outcome is what came of a request.
type outcome struct {
	route  string
	path   string // the pattern of a path that no operation serves, see pathPattern; empty for others
	status int    // of success
	body   any    // nil for none
	from   *Tx    // that made the answer; nil for none
	err    error
	rounds int
	took   time.Duration
}

// respond is the only place that writes an answer and its log line. The line names the route, never the path, which may
// hold a secret, and never a body.
func (s *service) respond(w http.ResponseWriter, r *http.Request, o outcome) {
	status, body := o.status, o.body
	from := o.from
	if from == nil {
		from = &Tx{}
	}
	var failure errorBody
	if o.err != nil {
		status, failure = describe(o.err)
		body = failure
		if status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
		}
	}
	if body == nil {
		s.log(r, o, status, failure)
		w.WriteHeader(status)
		return
	}
	tagged := o.err == nil && r.Method == http.MethodGet && !from.secret // the caller may keep it, and ask each time whether it is still the same
	answer, err := encode(body, acceptsGzip(r), tagged)
	if err != nil { // a defect: a body that is no JSON
		panic(err)
	}
	if answer.tooLong() {
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
	s.log(r, o, status, failure)
	if o.err == nil && from.download != "" {
		w.Header().Set("Content-Disposition", `attachment; filename="`+from.download+`"`)
	}
	if o.err == nil && from.location != "" {
		w.Header().Set("Location", from.location)
	}
	answer.setHeaders(w.Header())
	w.WriteHeader(status)
	_, _ = w.Write(answer.body) // a caller that has gone cannot be told
}

// TooLongMessage says what to do about an answer that is too long for Lambda.
func TooLongMessage(gzipped bool) string {
	const pages = "ask for fewer at a time: by limit and offset where the operation has them, and flags by GET /api/admin/search/features"
	if gzipped {
		return "the answer is larger than the 6 MB that Lambda can return, even compressed; " + pages
	}
	return "the answer is larger than the 6 MB that Lambda can return; accept a compressed one (Accept-Encoding: gzip), " + pages
}

// describe makes a failure public: its status and body, and nothing of its cause.
func describe(err error) (int, errorBody) {
	e, ok := errors.AsType[*flags.Error](err)
	if !ok {
		e = flags.Errorf(flags.Internal, "internal error; search the log for this id")
	}
	as, ok := failures[e.Kind]
	if !ok {
		as = failures[flags.Internal]
	}
	body := errorBody{ID: uuid.NewString(), Name: as.name, Message: e.Message}
	for _, d := range e.Details {
		body.Details = append(body.Details, errorDetail{Message: d.Message, Description: d.Message, Path: d.Path})
	}
	return as.status, body
}
