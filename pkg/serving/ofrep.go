package serving

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// OFREP 0.3 is the protocol of OpenFeature providers: https://github.com/open-feature/protocol.

// An ofrepRequest is the body of both operations.
type ofrepRequest struct {
	Context ofrepContext `json:"context"`
}

// An ofrepContext describes the contexts that are taken; they are read by contextBuilder. All other fields are properties.
type ofrepContext struct {
	TargetingKey string `json:"targetingKey,omitzero"`
}

// An ofrepBulk is the answer of /ofrep/v1/evaluate/flags (bulkEvaluationSuccess).
type ofrepBulk struct {
	Flags    []ofrepEvaluation `json:"flags"`
	Metadata ofrepBulkMetadata `json:"metadata"`
}

type ofrepBulkMetadata struct {
	Environment string `json:"environment"`
}

// An ofrepFailure is the answer to a request that cannot be evaluated (evaluationFailure, flagNotFound,
// bulkEvaluationFailure).
type ofrepFailure struct {
	Key          string `json:"key,omitzero"` // of an evaluation of one flag
	ErrorCode    string `json:"errorCode"`
	ErrorDetails string `json:"errorDetails"`
}

// The error codes.
const (
	codeFlagNotFound   = "FLAG_NOT_FOUND"
	codeParseError     = "PARSE_ERROR"
	codeInvalidContext = "INVALID_CONTEXT"
	codeGeneral        = "GENERAL"
)

// serveEvaluation evaluates one flag.
func (s *frontend) serveEvaluation(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	key := r.PathValue("key")
	call, err := s.readOFREP(ctx, r)
	if err != nil {
		return failOFREP(err, key)
	}
	set := s.sets.of(call.access.state, call.access.environment)
	f := set.find(key)
	if f == nil || !call.access.seesProject(f.project.UID) {
		return newFailure(http.StatusNotFound, key, codeFlagNotFound, "there is no flag of this name in the projects of the token"), nil
	}
	result, answer := set.evaluate(f, call.context)
	body := appendEvaluation(nil, answer, result.Reason.Kind, f.reason(result.Reason))
	return newJSONResponse(http.StatusOK, body), nil
}

// serveEvaluations evaluates all flags.
func (s *frontend) serveEvaluations(ctx context.Context, r *http.Request) (httpapi.Response, error) {
	call, err := s.readOFREP(ctx, r)
	if err != nil {
		return failOFREP(err, "")
	}
	type evaluated struct {
		*answer
		decision evaluate.ReasonKind
		reason   string
	}
	set := s.sets.of(call.access.state, call.access.environment)
	all := make([]evaluated, 0, len(set.flags))
	size, tag := 0, append(make([]byte, 0, 32*len(set.flags)+len(call.body)+100), call.access.environmentName...)
	tag = append(tag, call.body...) // an ETag is bound to its context
	visible := call.access.visible()
	for _, f := range set.flags {
		if !visible(f.project) {
			continue
		}
		if ctx.Err() != nil {
			return httpapi.Response{}, errTooSlow
		}
		result, answer := set.evaluate(f, call.context)
		e := evaluated{answer, result.Reason.Kind, f.reason(result.Reason)}
		all = append(all, e)
		size += len(answer.evaluation) + len(`,"decision":"no strategy matched"},"reason":"TARGETING_MATCH"},`)
		tag = append(append(append(tag, answer.sum[:]...), byte(e.decision)), e.reason...)
	}
	return s.respond(r, newETag(tag), func() []byte {
		body := append(make([]byte, 0, size+100), `{"flags":[`...)
		for i, e := range all {
			if i > 0 {
				body = append(body, ',')
			}
			body = appendEvaluation(body, e.answer, e.decision, e.reason)
		}
		body = append(append(body, `],"metadata":`...), encodeFragment(ofrepBulkMetadata{call.access.environmentName})...)
		return append(body, '}')
	})
}

// An ofrepCall is a request of OFREP.
type ofrepCall struct {
	access  *access
	context *evaluate.Context
	body    []byte
}

// readOFREP authenticates a request and reads its context. The context needs no targetingKey: it is optional in OpenFeature, and
// most flags need none. Without one, a flag is evaluated as an SDK evaluates it for a context without a user.
func (s *frontend) readOFREP(ctx context.Context, r *http.Request) (ofrepCall, error) {
	a, err := s.access(ctx, withAPIKey(r), r.URL.Query().Get("environment"), flags.ClientToken, flags.FrontendToken)
	if err != nil {
		return ofrepCall{}, err
	}
	body, err := readContextBody(r)
	if err != nil {
		return ofrepCall{}, err
	}
	var b contextBuilder
	if found, err := b.readBody(body); err != nil {
		return ofrepCall{}, err
	} else if !found {
		return ofrepCall{}, &contextError{codeInvalidContext, `the body has no context; send {"context": {"targetingKey": "…"}}`}
	}
	c, err := b.build()
	if err != nil {
		return ofrepCall{}, err
	}
	c.UserID = cmp.Or(c.UserID, b.key)
	s.complete(c, r)
	return ofrepCall{a, c, body}, nil
}

// withAPIKey returns the request with the token of X-API-Key, unless it has another one.
func withAPIKey(r *http.Request) *http.Request {
	key := r.Header.Get("X-Api-Key")
	if key == "" || httpapi.Secret(r) != "" {
		return r
	}
	r = r.WithContext(r.Context())
	r.Header = r.Header.Clone()
	r.Header.Set("Authorization", key)
	return r
}

// failOFREP answers a request that cannot be evaluated, as OFREP describes it. It says nothing about the body of a 401, 403 or
// 503: these are as elsewhere.
func failOFREP(err error, key string) (httpapi.Response, error) {
	if bad, ok := errors.AsType[*contextError](err); ok {
		return newFailure(http.StatusBadRequest, key, bad.code, bad.message), nil
	}
	bad, ok := errors.AsType[*flags.Error](err)
	if !ok {
		return httpapi.Response{}, err
	}
	switch bad.Kind {
	case flags.Invalid:
		return newFailure(http.StatusBadRequest, key, codeParseError, bad.Message), nil
	case flags.TooLarge:
		return newFailure(http.StatusRequestEntityTooLarge, key, codeGeneral, bad.Message), nil
	case flags.UnsupportedMediaType:
		return newFailure(http.StatusUnsupportedMediaType, key, codeGeneral, bad.Message), nil
	}
	return httpapi.Response{}, err
}

// newFailure returns a failure for a flag; a key of "" stands for all flags.
func newFailure(status int, key, code, details string) httpapi.Response {
	if len(key) > maxPropertyName {
		key = jsonbody.Shorten(key) // no flag has such a long name
	}
	return newJSONResponse(status, encodeFragment(ofrepFailure{key, code, details}))
}

func newJSONResponse(status int, body []byte) httpapi.Response {
	header := http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Cache-Control": {"no-cache"}}
	return httpapi.Response{Status: status, Header: header, Body: body}
}
