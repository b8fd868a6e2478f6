// Package lambdahttp lets an http.Handler answer API Gateway: it is the door of every Lambda function, and of the local
// gateway, which calls the same one.
//
// The work is done by aws-lambda-go-api-proxy, which turns an event into a request and what the handler wrote into an
// answer. It parses rawPath as if it were still escaped, but API Gateway hands it over decoded: "100%" would be no path,
// "a%2Fb" would be decoded twice, a "?" would begin a query and a "#" end everything. So the event is put right before
// the adapter sees it, and the handler finds in r.URL.EscapedPath() what the caller meant.
package lambdahttp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
	"github.com/google/uuid"
)

// An EventHandler is what lambda.Start takes for an HTTP API with payload format 2.0.
type EventHandler func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error)

// Handler serves events by h. The context of a request is the invocation's, with the function's deadline.
//
// It does not recover: a panic in h ends the process, so h answers for its own, as every handler of pkg/httpapi does.
func Handler(h http.Handler) EventHandler {
	adapter, secret := httpadapter.NewV2(h), frontSecret()
	return func(ctx context.Context, event events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		if !fromFront(event, secret) {
			return notFromFront(ctx), nil
		}
		event, err := mend(event)
		if err != nil {
			return internalError(ctx, err), nil
		}
		response, err := adapter.ProxyWithContext(ctx, event)
		if err != nil { // an h that wrote nothing: the adapter would say 504
			return internalError(ctx, err), nil
		}
		return response, nil
	}
}

// mend puts an event right for the adapter. What it leaves is a request for certain: the adapter would print what it
// cannot convert, with the path, which may hold a secret. API Gateway sends none of what is an error here.
func mend(event events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPRequest, error) {
	if !isToken(event.RequestContext.HTTP.Method) {
		return event, errors.New("the event has no HTTP method")
	}
	if event.IsBase64Encoded {
		body, err := base64.StdEncoding.DecodeString(event.Body)
		if err != nil {
			return event, fmt.Errorf("the event's body: %w", err)
		}
		event.Body, event.IsBase64Encoded = string(body), false
	}
	if domain := event.RequestContext.DomainName; domain != "" {
		if u, err := url.Parse("https://" + domain); err != nil || u.Host != domain {
			event.RequestContext.DomainName = ""
		}
	}
	if event.RawPath == "" {
		event.RawPath = event.RequestContext.HTTP.Path
	}
	event.RawPath = escapePath(event.RawPath)
	event.RawQueryString = escapeQuery(event.RawQueryString)
	if _, twice := event.Headers["cookie"]; twice && len(event.Cookies) > 0 {
		// sam local sends cookies as a header too, which would double each.
		event.Headers = maps.Clone(event.Headers)
		delete(event.Headers, "cookie")
	}
	return event, nil
}

// isToken tells whether a text can be a method.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// escapePath escapes each segment of a decoded path. Dots and empty segments stay as they are: whether such a path
// means anything is for the handler to say.
func escapePath(path string) string {
	if head, value, ok := cutText(path); ok {
		return escapePath(head) + "/" + escapeValue(value)
	}
	if strings.IndexFunc(path, needsEscape) < 0 {
		return path
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		segments[i] = url.PathEscape(segment)
	}
	return strings.Join(segments, "/")
}

// texts are the paths that end in a text of any characters, with * for a segment.
var texts = [][]string{
	{"", "api", "admin", "features", "*", "tags", "*"},   // the value of a flag's tag
	{"", "api", "admin", "tags", "*"},                    // the value of a tag
	{"", "api", "admin", "context", "*", "legal-values"}, // a value of a context field
}

// cutText cuts a path before the text that it ends in. The text is the rest of the path, which may have slashes and dots
// of its own: they are no segments.
func cutText(path string) (head, text string, ok bool) {
	for _, before := range texts {
		segments := strings.SplitN(path, "/", len(before)+1)
		fits := len(segments) > len(before) && segments[len(before)] != ""
		for i := 0; fits && i < len(before); i++ {
			fits = before[i] == "*" || before[i] == segments[i]
		}
		if fits {
			return strings.Join(segments[:len(before)], "/"), segments[len(before)], true
		}
	}
	return path, "", false
}

// EndsInText tells whether a decoded path ends in a text that may hold slashes of its own.
func EndsInText(path string) bool {
	_, _, ok := cutText(path)
	return ok
}

// escapeValue escapes a text as one segment that is no "..", either.
func escapeValue(value string) string {
	if strings.Trim(value, ".") == "" {
		return strings.ReplaceAll(value, ".", "%2E")
	}
	return url.PathEscape(value)
}

// needsEscape tells, erring on the safe side, which characters a segment cannot hold as they are.
func needsEscape(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("/-._~:@&=+$", r)
}

// escapeQuery escapes what would end a query or be no part of a URL at all; the rest came as the caller escaped it.
func escapeQuery(query string) string {
	bad := func(c byte) bool { return c <= ' ' || c == '#' || c >= 0x7f }
	var out strings.Builder
	done := 0
	for i := range len(query) {
		if bad(query[i]) {
			out.WriteString(query[done:i])
			_, _ = fmt.Fprintf(&out, "%%%02X", query[i])
			done = i + 1
		}
	}
	if done == 0 {
		return query
	}
	return out.String() + query[done:]
}

// internalError is the interface's 500, for what never reached a handler that would have written it.
func internalError(ctx context.Context, cause error) events.APIGatewayV2HTTPResponse {
	id := uuid.NewString()
	slog.ErrorContext(ctx, "event", slog.String("errorId", id), slog.Any("cause", cause))
	return events.APIGatewayV2HTTPResponse{
		StatusCode: http.StatusInternalServerError,
		Headers:    map[string]string{"Content-Type": "application/json; charset=utf-8"},
		Body: fmt.Sprintf(`{"id":%q,"name":"InternalError",`+
			`"message":"internal error; search the log for this id"}`, id),
	}
}
