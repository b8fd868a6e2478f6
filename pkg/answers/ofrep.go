package answers

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
)

// OFREP 0.3 is the protocol of OpenFeature providers: https://github.com/open-feature/protocol.

// An OfrepRequest is the body of both operations.
type OfrepRequest struct {
	Context OfrepContext `json:"context"`
}

// An OfrepContext describes the contexts that are accepted; contextBuilder reads them. All other fields are properties.
type OfrepContext struct {
	TargetingKey string `json:"targetingKey,omitzero"`
}

// An OfrepBulk is the response of /ofrep/v1/evaluate/flags (bulkEvaluationSuccess).
type OfrepBulk struct {
	Flags    []OfrepEvaluation `json:"flags"`
	Metadata OfrepBulkMetadata `json:"metadata"`
}

// An OfrepBulkMetadata describes all evaluations.
type OfrepBulkMetadata struct {
	Environment string `json:"environment"`
}

// An OfrepFailure is the response to a request that cannot be evaluated (evaluationFailure, flagNotFound,
// bulkEvaluationFailure).
type OfrepFailure struct {
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

// An OfrepEvaluation is a flag in a response of OFREP (its schema evaluationSuccess).
type OfrepEvaluation struct {
	Key      string         `json:"key"`
	Value    jsontext.Value `json:"value,omitzero"` // absent if the application should use the value in its code
	Reason   string         `json:"reason,omitzero"`
	Variant  string         `json:"variant"` // without variants, enabled or disabled: some providers need one
	Metadata OfrepMetadata  `json:"metadata"`
}

// An OfrepMetadata says more than OFREP asks for.
type OfrepMetadata struct {
	Enabled        bool   `json:"enabled"`
	Project        string `json:"project"`
	Type           string `json:"type"`
	ImpressionData bool   `json:"impressionData"`
	Decision       string `json:"decision,omitzero"` // what decided, in the evaluator's words
}

// ReadOFREPContext reads the context of a request of OFREP. It needs no targetingKey: that is optional in OpenFeature, and most flags
// need none. Without one, a flag is evaluated as an SDK evaluates it for a context without a user. The error is for OFREPFailure.
func ReadOFREPContext(body []byte) (*evaluate.Context, error) {
	var b contextBuilder
	context, found, err := contextOf(body)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, &contextError{codeInvalidContext, `the body has no context; send {"context": {"targetingKey": "…"}}`}
	case context != nil:
		if err := b.readContext(context); err != nil {
			return nil, err
		}
	}
	c, err := b.build()
	if err != nil {
		return nil, err
	}
	c.UserID = cmp.Or(c.UserID, b.key)
	return c, nil
}

// Evaluation returns the response of OFREP for one flag, and its result; nil if it was not evaluated.
func (r *Responder) Evaluation(set *Set, scope Scope, c *evaluate.Context, key string, q Request) (Response, *evaluate.Result) {
	f := set.flag(key)
	if f == nil || !scope.Sees(f.ProjectUID) {
		return newFailure(http.StatusNotFound, key, codeFlagNotFound, "there is no flag of this name in the projects of the token"), nil
	}
	complete(c, q)
	flag, evaluation := f.compiled(), set.evaluator().For(c)
	is, result := flag.evaluate(evaluation)
	if evaluation.Exhausted() {
		return newFailure(http.StatusBadRequest, key, codeInvalidContext, tooLongValues), nil
	}
	return newJSONResponse(http.StatusOK, appendEvaluation(nil, result, is.Reason.Kind, flag.reason(is.Reason))), &is
}

// Evaluations returns the response of OFREP for all flags. body is the body of the request: an ETag is bound to its context. events is the
// path of an event stream, or "" for none. It is a part of the ETag: a provider that gets a 304 keeps the stream that it knows.
func (r *Responder) Evaluations(ctx context.Context, set *Set, scope Scope, c *evaluate.Context, body []byte, events string, q Request) (Response, error) {
	complete(c, q)
	type evaluated struct {
		*result
		decision evaluate.ReasonKind
		reason   string
	}
	evaluation := set.evaluator().For(c)
	all := make([]evaluated, 0, len(set.flags))
	size, tag := 0, append(make([]byte, 0, 32*len(set.flags)+len(body)+100), scope.Environment...)
	tag = append(append(tag, body...), events...)
	for _, f := range set.flags {
		if !scope.Sees(f.ProjectUID) {
			continue
		}
		flag := f.compiled()
		is, result := flag.evaluate(evaluation)
		if err := bounded(ctx, evaluation); err != nil {
			return OFREPFailure(err, "")
		}
		e := evaluated{result, is.Reason.Kind, flag.reason(is.Reason)}
		all = append(all, e)
		size += len(result.evaluation) + len(`,"decision":"no strategy matched"},"reason":"TARGETING_MATCH"},`)
		tag = append(append(append(tag, result.sum[:]...), byte(e.decision)), e.reason...)
	}
	return r.evaluated(q, tag, func() []byte {
		text := append(make([]byte, 0, size+100), `{"flags":[`...)
		for i, e := range all {
			if i > 0 {
				text = append(text, ',')
			}
			text = appendEvaluation(text, e.result, e.decision, e.reason)
		}
		text = append(append(text, `],"metadata":`...), encode(OfrepBulkMetadata{scope.Environment})...)
		if events != "" {
			text = append(append(append(text, `,"eventStreams":[{"type":"sse","endpoint":{"requestUri":`...), encode(events)...), `}}]`...)
		}
		return append(text, '}')
	})
}

// OFREPFailure returns the response to a request for one flag, or for all with a key of "", that fails with an error. OFREP does not
// describe the body of a 401, 403 or 503: for these it returns the error.
func OFREPFailure(err error, key string) (Response, error) {
	if bad, ok := errors.AsType[*contextError](err); ok {
		return newFailure(http.StatusBadRequest, key, bad.code, bad.message), nil
	}
	bad, ok := errors.AsType[*flags.Error](err)
	if !ok {
		return Response{}, err
	}
	switch bad.Kind {
	case flags.Invalid:
		return newFailure(http.StatusBadRequest, key, codeParseError, bad.Message), nil
	case flags.TooLarge:
		return newFailure(http.StatusRequestEntityTooLarge, key, codeGeneral, bad.Message), nil
	case flags.UnsupportedMediaType:
		return newFailure(http.StatusUnsupportedMediaType, key, codeGeneral, bad.Message), nil
	}
	return Response{}, err
}

// newFailure returns a failure for a flag; a key of "" stands for all flags.
func newFailure(status int, key, code, details string) Response {
	if len(key) > maxPropertyName {
		key = jsonbody.Shorten(key) // no flag has such a long name
	}
	return newJSONResponse(status, encode(OfrepFailure{key, code, details}))
}

func newJSONResponse(status int, body []byte) Response {
	header := http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Cache-Control": {"no-cache"}}
	return Response{Status: status, Header: header, Body: body}
}

// The reasons of OFREP 0.3. Its schema has no others: OpenFeature's DEFAULT is not one of them.
const (
	ofrepStatic    = "STATIC"          // the same for every context
	ofrepTargeting = "TARGETING_MATCH" // decided by the context
	ofrepSplit     = "SPLIT"           // decided by the hash of an ID, or by chance
	ofrepDisabled  = "DISABLED"        // the flag is disabled in the environment
	ofrepUnknown   = "UNKNOWN"
)

// reason returns the reason of a result in OFREP.
func (c *compiledFlag) reason(r evaluate.Reason) string {
	switch r.Kind {
	case evaluate.FlagDisabled:
		return ofrepDisabled
	case evaluate.NoStrategies:
		return c.matched[0]
	case evaluate.StrategyMatched:
		return c.matched[r.Strategy]
	case evaluate.NoStrategyMatched:
		return c.unmatched
	case evaluate.ParentUnmet:
		return ofrepTargeting
	}
	return ofrepUnknown
}

// newReasons returns the reasons of a flag: by the index of the strategy that matched, and for no match. A flag without
// strategies has the reason at index 0.
func newReasons(f *evaluate.Flag) (matched []string, unmatched string) {
	if len(f.Strategies) == 0 {
		return []string{matchReason(f, evaluate.Strategy{Name: "default"}, true)}, ofrepUnknown
	}
	unmatched = ofrepSplit
	for i, s := range f.Strategies {
		matched = append(matched, matchReason(f, s, i == 0))
		if !isRollout(s) || hasConstraints(s) {
			unmatched = ofrepTargeting
		}
	}
	return matched, unmatched
}

// matchReason returns the reason if a strategy matched. The first strategy of a flag is reached by every context.
func matchReason(f *evaluate.Flag, s evaluate.Strategy, first bool) string {
	variants := s.Variants
	if len(variants) == 0 {
		variants = f.Variants
	}
	switch {
	case isSplit(variants) || isRollout(s) && percentageOf(s) < 100:
		return ofrepSplit
	case first && len(f.Dependencies) == 0 && !hasConstraints(s) && (s.Name == "default" || isComplete(s)):
		return ofrepStatic
	}
	return ofrepTargeting
}

func hasConstraints(s evaluate.Strategy) bool { return len(s.Constraints)+len(s.Segments) > 0 }

// isSplit reports whether a list of variants has more than one that can be chosen.
func isSplit(variants []evaluate.Variant) bool {
	chosen := 0
	for _, v := range variants {
		if v.Weight > 0 || len(v.Overrides) > 0 {
			chosen++
		}
	}
	return chosen > 1
}

func isRollout(s evaluate.Strategy) bool { return rolloutParameter(s) != "" }

// rolloutParameter returns the name of the parameter that has the percentage; "" if the strategy is no rollout.
func rolloutParameter(s evaluate.Strategy) string {
	switch s.Name {
	case "flexibleRollout":
		return "rollout"
	case "gradualRolloutUserId", "gradualRolloutSessionId", "gradualRolloutRandom":
		return "percentage"
	}
	return ""
}

// isComplete reports whether a rollout takes every context, also those without the ID that others are chosen by.
func isComplete(s evaluate.Strategy) bool {
	sticky := s.Parameters["stickiness"]
	needsID := s.Name != "gradualRolloutRandom" && (s.Name != "flexibleRollout" || sticky != "" && sticky != "default" && sticky != "random")
	return isRollout(s) && percentageOf(s) >= 100 && !needsID
}

// percentageOf returns the percentage of a rollout, or 0 if it is invalid.
func percentageOf(s evaluate.Strategy) float64 {
	percentage, err := strconv.ParseFloat(s.Parameters[rolloutParameter(s)], 64)
	if err != nil {
		return 0
	}
	return percentage
}
