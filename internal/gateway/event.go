package gateway

import (
	"encoding/base64"
	"errors"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"
)

// The limits of API Gateway's HTTP APIs, and of Lambda's events.
const (
	maxHeader = 10240    // bytes of request line and headers
	maxBody   = 10 << 20 // bytes
	maxEvent  = 6 << 20  // bytes of JSON
)

// errTooLarge is a refusal of API Gateway itself. The functions have lower limits of their own.
var errTooLarge = errors.New("the event is larger than Lambda accepts (6 MB)")

// NewEvent creates the event that API Gateway sends for a request that matched a route, in payload format 2.0. Its path is decoded.
func NewEvent(r *http.Request, body []byte, route *Route) (events.APIGatewayV2HTTPRequest, error) {
	path := strings.ToValidUTF8(r.URL.Path, "\uFFFD") // an event is JSON
	event, err := newEvent(r, body, path, hostOf(r))
	event.RouteKey, event.RequestContext.RouteKey, event.PathParameters = route.Key, route.Key, route.parameters(r)
	event.RequestContext.AccountID, event.RequestContext.APIID, event.RequestContext.DomainPrefix = "000000000000", "local", "local"
	return event, err
}

// NewURLEvent creates the event that a Lambda function URL sends for a request, also in payload format 2.0. Its path is as the caller has
// escaped it.
func NewURLEvent(r *http.Request, body []byte) (events.APIGatewayV2HTTPRequest, error) {
	const id = "local"
	event, err := newEvent(r, body, r.URL.EscapedPath(), id+".lambda-url.eu-central-1.on.aws")
	event.RouteKey, event.RequestContext.RouteKey = fallback, fallback
	event.RequestContext.AccountID, event.RequestContext.APIID, event.RequestContext.DomainPrefix = "anonymous", id, id
	event.Headers["x-forwarded-proto"], event.Headers["x-forwarded-port"] = "https", "443" // a function URL has no other
	return event, err
}

// newEvent creates what both have in common.
func newEvent(r *http.Request, body []byte, path, domain string) (events.APIGatewayV2HTTPRequest, error) {
	now := time.Now().UTC()
	event := events.APIGatewayV2HTTPRequest{
		Version:               "2.0",
		RawPath:               path,
		RawQueryString:        r.URL.RawQuery,
		QueryStringParameters: queryOf(r),
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			Stage: "$default", RequestID: uuid.NewString(), DomainName: domain,
			Time: now.Format("02/Jan/2006:15:04:05 -0700"), TimeEpoch: now.UnixMilli(),
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
				Method: r.Method, Path: path, Protocol: r.Proto, SourceIP: sourceIP(r), UserAgent: r.UserAgent(),
			},
		},
	}
	event.Headers, event.Cookies = headersOf(r, domain)
	event.Body, event.IsBase64Encoded = encodeBody(body, r.Header)
	if eventSize(event) > maxEvent {
		return event, errTooLarge
	}
	return event, nil
}

// hostOf is the host that the caller used, if it is valid.
func hostOf(r *http.Request) string {
	if u, err := url.Parse("http://" + r.Host); err != nil || u.Host != r.Host || u.Host == "" {
		return "localhost"
	}
	return r.Host
}

func sourceIP(r *http.Request) string {
	ip, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return ip
}

func queryOf(r *http.Request) map[string]string {
	if r.URL.RawQuery == "" {
		return nil
	}
	joined := map[string]string{}
	for name, values := range r.URL.Query() {
		joined[name] = strings.Join(values, ",")
	}
	return joined
}

// headersOf returns the headers with lower-case names and joined values, and the cookies, which API Gateway passes
// separately.
func headersOf(r *http.Request, host string) (headers map[string]string, cookies []string) {
	headers = make(map[string]string, len(r.Header)+6)
	for name, values := range r.Header {
		switch name {
		case "Cookie":
			for _, line := range values {
				for cookie := range strings.SplitSeq(line, ";") {
					cookies = append(cookies, strings.TrimSpace(cookie))
				}
			}
		case "Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Upgrade": // hop-by-hop headers
		default:
			headers[strings.ToLower(name)] = strings.Join(values, ",")
		}
	}
	headers["host"] = host
	if r.ContentLength >= 0 {
		headers["content-length"] = strconv.FormatInt(r.ContentLength, 10)
	}
	source := sourceIP(r)
	if before := headers["x-forwarded-for"]; before != "" {
		source = before + ", " + source
	}
	headers["x-forwarded-for"] = source
	headers["x-forwarded-proto"] = "http"
	headers["x-forwarded-port"] = portOf(host)
	return headers, cookies
}

func portOf(host string) string {
	if _, port, err := net.SplitHostPort(host); err == nil {
		return port
	}
	return "80"
}

// encodeBody returns text and JSON unchanged, and everything else in base64, as API Gateway does. A JSON event cannot
// contain invalid UTF-8, so malformed text is sent in base64 too: the function must see the exact bytes to refuse them.
func encodeBody(body []byte, header http.Header) (encoded string, isBase64 bool) {
	if len(body) == 0 {
		return "", false
	}
	if isText(header) && utf8.Valid(body) {
		return string(body), false
	}
	return base64.StdEncoding.EncodeToString(body), true
}

func isText(header http.Header) bool {
	if header.Get("Content-Encoding") != "" {
		return false
	}
	media, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return false
	}
	switch media {
	case "application/json", "application/javascript", "application/xml":
		return true
	}
	return strings.HasPrefix(media, "text/")
}

// eventSize estimates the size of the event as JSON. Everything but the body is bounded by maxHeader.
func eventSize(event events.APIGatewayV2HTTPRequest) int {
	size := 4*maxHeader + len(event.Body)
	if event.IsBase64Encoded {
		return size
	}
	for i := range len(event.Body) {
		switch c := event.Body[i]; {
		case c == '"', c == '\\', c == '\n', c == '\r', c == '\t':
			size++
		case c < ' ':
			size += 5 // \u00XX
		}
	}
	return size
}
