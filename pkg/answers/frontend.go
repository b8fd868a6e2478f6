package answers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
)

// A FrontendRequest is the body of POST /api/frontend.
type FrontendRequest struct {
	Context FrontendContext `json:"context"`
}

// A FrontendContext describes the contexts that are accepted; contextBuilder reads them.
type FrontendContext struct {
	UserID        string            `json:"userId,omitzero"`
	SessionID     string            `json:"sessionId,omitzero"`
	RemoteAddress string            `json:"remoteAddress,omitzero"`
	Environment   string            `json:"environment,omitzero"`
	AppName       string            `json:"appName,omitzero"`
	CurrentTime   string            `json:"currentTime,omitzero"`
	Properties    map[string]string `json:"properties,omitzero"`
}

// A FrontendAnswer is the response of /api/frontend: the flags that are on.
type FrontendAnswer struct {
	Toggles []FrontendToggle `json:"toggles"`
}

// A FrontendToggle is a flag in a response of /api/frontend.
type FrontendToggle struct {
	Name           string          `json:"name"`
	Enabled        bool            `json:"enabled"`
	Variant        FrontendVariant `json:"variant"`
	ImpressionData bool            `json:"impressionData"`
}

// A FrontendVariant is the variant of a flag that is on.
type FrontendVariant struct {
	Name           string            `json:"name"`
	Payload        *evaluate.Payload `json:"payload,omitzero"`
	Enabled        bool              `json:"enabled"`
	OldFlagEnabled bool              `json:"feature_enabled"` // older SDKs read this one
	FlagEnabled    bool              `json:"featureEnabled"`
}

// Toggles returns the response of /api/frontend: the flags that are on for a context.
func (r *Responder) Toggles(ctx context.Context, set *Set, scope Scope, c *evaluate.Context, q Request) (Response, error) {
	return r.toggles(ctx, set, scope, c, q, false)
}

// AllToggles is Toggles with the flags that are off, as Unleash Edge has it at /api/frontend/all.
func (r *Responder) AllToggles(ctx context.Context, set *Set, scope Scope, c *evaluate.Context, q Request) (Response, error) {
	return r.toggles(ctx, set, scope, c, q, true)
}

func (r *Responder) toggles(ctx context.Context, set *Set, scope Scope, c *evaluate.Context, q Request, all bool) (Response, error) {
	complete(c, q)
	evaluation := set.evaluator().For(c)
	var list [][]byte
	size, tag := 0, make([]byte, 0, 16*len(set.flags))
	for _, f := range set.flags {
		flag := f.compiled()
		if !flag.flag.Enabled && !all || !scope.Sees(f.ProjectUID) {
			continue
		}
		is, result := flag.evaluate(evaluation)
		if err := bounded(ctx, evaluation); err != nil {
			return Response{}, invalidContext(err)
		}
		toggle := result.toggle
		switch {
		case is.Enabled:
		case all:
			toggle = encode(FrontendToggle{Name: f.Name, Variant: FrontendVariant{Name: evaluate.DisabledVariant}, ImpressionData: flag.flag.ImpressionData})
		default:
			continue
		}
		list = append(list, toggle)
		size += len(toggle) + 1
		tag = append(tag, result.sum[:]...)
	}
	return r.evaluated(q, tag, func() []byte {
		body := append(make([]byte, 0, size+len(`{"toggles":[]}`)), `{"toggles":[`...)
		for i, toggle := range list {
			if i > 0 {
				body = append(body, ',')
			}
			body = append(body, toggle...)
		}
		return append(body, `]}`...)
	})
}

// bounded returns the error that ends a request whose time is over, or whose context takes too much work.
func bounded(ctx context.Context, e *evaluate.Evaluation) error {
	switch {
	case e.Exhausted():
		return &contextError{codeInvalidContext, tooLongValues}
	case ctx.Err() != nil:
		return flags.Errorf(flags.Unavailable, "the flags could not be evaluated in time; try again")
	}
	return nil
}

const tooLongValues = "it takes too much work to compare the values of this context with all constraints; shorten the long ones, or leave them out"

// evaluated returns a response that depends on the bytes of. Its ETag is weak, because the body can be compressed or not. Caches must
// ask each time, because it depends on the caller's address and the time too.
func (r *Responder) evaluated(q Request, of []byte, text func() []byte) (Response, error) {
	sum := sha256.Sum256(of)
	return r.respond(q, `W/"`+hex.EncodeToString(sum[:16])+`"`, "no-cache", func() body {
		return r.newBody(slices.Values([][]byte{text()}), q.Gzip, compressFast)
	})
}
