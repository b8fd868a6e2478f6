package lambdahttp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"
)

// frontSecret is the SHA-256 of the secret that CloudFront sends in X-Origin-Secret, in hexadecimal digits. If it is set,
// requests without the secret are rejected: they have bypassed the firewall (docs/operations/front.md).
func frontSecret() string { return os.Getenv("FRONT_SECRET_SHA256") }

// behindFront tells whether CloudFront is in front of the address of a request. It is in front of the HTTP API. It is not in front of a
// function URL: a stage has one only if it says that applications may bypass the firewall (ClientUrl). An event without an API ID comes
// from neither: only callers with the permission to invoke the function can send one, such as the smoke test before a canary.
func behindFront(event events.APIGatewayV2HTTPRequest, secret string) bool {
	return secret != "" && event.RequestContext.APIID != "" && !fromURL(event)
}

// fromFront tells whether a request came as it should: through CloudFront, if that is in front of its address.
func fromFront(event events.APIGatewayV2HTTPRequest, secret string) bool {
	if !behindFront(event, secret) {
		return true
	}
	sum := sha256.Sum256([]byte(event.Headers["x-origin-secret"])) // HTTP APIs send the names of headers in lower case
	return subtle.ConstantTimeCompare([]byte(hex.EncodeToString(sum[:])), []byte(secret)) == 1
}

// viewerAddress returns the address of the caller. If requests come through CloudFront, the source address of the event is
// CloudFront's. CloudFront adds the caller's address to X-Forwarded-For, and API Gateway then adds CloudFront's; what is before
// them was sent by the caller, and means nothing. Without the secret anyone could have sent the header, so it is not read.
func viewerAddress(event events.APIGatewayV2HTTPRequest, secret string) string {
	source := event.RequestContext.HTTP.SourceIP
	if !behindFront(event, secret) {
		return source
	}
	forwarded := strings.Split(event.Headers["x-forwarded-for"], ",")
	for i := range forwarded {
		forwarded[i] = strings.TrimSpace(forwarded[i])
	}
	if last := len(forwarded) - 1; last > 0 && forwarded[last] == source {
		forwarded = forwarded[:last]
	}
	if viewer := forwarded[len(forwarded)-1]; isAddress(viewer) {
		return viewer
	}
	return source
}

func isAddress(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

// notFromFront is the response to other requests.
func notFromFront(ctx context.Context) events.APIGatewayV2HTTPResponse {
	id := uuid.NewString()
	slog.WarnContext(ctx, "rejected a request that bypassed CloudFront", slog.String("errorId", id))
	return events.APIGatewayV2HTTPResponse{
		StatusCode: http.StatusForbidden,
		Headers:    map[string]string{"Content-Type": "application/json; charset=utf-8"},
		Body:       fmt.Sprintf(`{"id":%q,"name":"NoAccessError","message":"this address accepts only requests from CloudFront; use the public address"}`, id),
	}
}
