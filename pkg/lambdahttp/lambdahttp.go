// Package lambdahttp serves API Gateway events with an http.Handler, in the Lambda functions that API Gateway calls.
//
// aws-lambda-go-api-proxy converts an event to a request, and the response back. But it parses rawPath as an escaped path,
// and API Gateway sends it decoded: "100%" would be invalid, "a%2Fb" would be decoded twice, "?" would begin a query and
// "#" a fragment. So this package escapes the path first, and r.URL.EscapedPath() is the path that the caller meant.
// A function URL sends rawPath as the caller has escaped it, so its path stays as it is.
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

// An EventHandler is a handler for lambda.Start, for an HTTP API with payload format 2.0.
type EventHandler func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error)

// Handler serves events with h. The context of a request is that of the invocation, with the function's deadline. Its
// RemoteAddr is the address of the caller, without a port.
//
// It does not recover: a panic in h ends the process. The handlers of pkg/httpapi recover themselves.
func Handler(h http.Handler) EventHandler {
	adapter, secret := httpadapter.NewV2(h), frontSecret()
	return func(ctx context.Context, event events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		if !fromFront(event, secret) {
			return notFromFront(ctx), nil
		}
		event.RequestContext.HTTP.SourceIP = viewerAddress(event, secret) // becomes r.RemoteAddr
		event, err := normalize(event)
		if err != nil {
			return internalError(ctx, err), nil
		}
		response, err := adapter.ProxyWithContext(ctx, event)
		if err != nil { // h wrote no response: the adapter would send a 504
			return internalError(ctx, err), nil
		}
		return response, nil
	}
}

// normalize prepares an event for the adapter. It returns an error for an event that the adapter cannot convert: the adapter
// would print such an event with its path, which may contain a secret. API Gateway sends no such events.
func normalize(event events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPRequest, error) {
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
	if !isEscaped(event) {
		event.RawPath = escapePath(event.RawPath)
	}
	event.RawQueryString = escapeQuery(event.RawQueryString)
	if _, duplicate := event.Headers["cookie"]; duplicate && len(event.Cookies) > 0 {
		// sam local also sends cookies as a header, so each would appear twice.
		event.Headers = maps.Clone(event.Headers)
		delete(event.Headers, "cookie")
	}
	return event, nil
}

// fromURL tells whether an event is that of a function URL: its domain begins with its API ID. AWS sets both, not the caller.
func fromURL(event events.APIGatewayV2HTTPRequest) bool {
	return strings.HasPrefix(event.RequestContext.DomainName, event.RequestContext.APIID+".lambda-url.")
}

// isEscaped tells whether the path of an event is escaped: that of a function URL is, unless the caller has sent an invalid one.
func isEscaped(event events.APIGatewayV2HTTPRequest) bool {
	if !fromURL(event) {
		return false
	}
	u, err := url.ParseRequestURI(event.RawPath)
	return err == nil && u.RawQuery == "" && !u.ForceQuery && u.Host == "" && !strings.Contains(event.RawPath, "#")
}

// isToken tells whether a text is a valid HTTP method.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// escapePath escapes each segment of a decoded path. It keeps dots and empty segments: the handler decides whether such a
// path is valid.
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

// freeTextPaths are the paths before a value with any characters, with * for one segment.
var freeTextPaths = [][]string{
	{"", "api", "admin", "features", "*", "tags", "*"},   // the value of a flag's tag
	{"", "api", "admin", "tags", "*"},                    // the value of a tag
	{"", "api", "admin", "context", "*", "legal-values"}, // a value of a context field
}

// cutText splits a path before the value at its end, if it is one of freeTextPaths. Slashes and dots in the value do not
// separate segments.
func cutText(path string) (head, text string, ok bool) {
	for _, before := range freeTextPaths {
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

// escapeValue escapes a value as one segment, including "." and "..".
func escapeValue(value string) string {
	if strings.Trim(value, ".") == "" {
		return strings.ReplaceAll(value, ".", "%2E")
	}
	return url.PathEscape(value)
}

// needsEscape tells whether to escape a character in a segment. It escapes some that would not need it.
func needsEscape(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("/-._~:@&=+$", r)
}

// escapeQuery escapes characters that are invalid in a query. Everything else is already escaped by the caller.
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

// internalError is the API's 500 response, for an event that reached no handler.
func internalError(ctx context.Context, cause error) events.APIGatewayV2HTTPResponse {
	id := uuid.NewString()
	slog.ErrorContext(ctx, "cannot serve the event", slog.String("errorId", id), slog.Any("cause", cause))
	return events.APIGatewayV2HTTPResponse{
		StatusCode: http.StatusInternalServerError,
		Headers:    map[string]string{"Content-Type": "application/json; charset=utf-8"},
		Body: fmt.Sprintf(`{"id":%q,"name":"InternalError",`+
			`"message":"internal error; search the log for this id"}`, id),
	}
}
