package lambdahttp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"guidon/pkg/lambdahttp"
)

func TestFront(t *testing.T) {
	const secret = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b" // SHA-256 of "secret"
	tests := []struct {
		name, hash, api, domain, header string
		want                            int
	}{
		{"the secret", secret, "abc", "abc.execute-api.eu-central-1.amazonaws.com", "secret", 200},
		{"no secret", secret, "abc", "abc.execute-api.eu-central-1.amazonaws.com", "", 403},
		{"wrong secret", secret, "abc", "flags.example.com", "Secret", 403},
		{"the hash itself", secret, "abc", "flags.example.com", secret, 403},
		{"no CloudFront configured", "", "abc", "flags.example.com", "", 200},
		{"an event without an API ID", secret, "", "", "", 200},
		{"a function URL", secret, "abc", "abc.lambda-url.eu-central-1.on.aws", "", 200},
		{"an API whose domain looks like a function URL", secret, "abc", "x.lambda-url.example.com", "", 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("FRONT_SECRET_SHA256", tt.hash)
			handler := lambdahttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
			request := events.APIGatewayV2HTTPRequest{Version: "2.0", RawPath: "/health", Headers: map[string]string{}}
			request.RequestContext.APIID, request.RequestContext.DomainName = tt.api, tt.domain
			request.RequestContext.HTTP.Method, request.RequestContext.HTTP.Path = "GET", "/health"
			if tt.header != "" {
				request.Headers["x-origin-secret"] = tt.header
			}
			got, err := handler(t.Context(), request)
			if err != nil || got.StatusCode != tt.want {
				t.Errorf("%d %s, %v; want %d", got.StatusCode, got.Body, err, tt.want)
			}
			if tt.want == 403 && !strings.Contains(got.Body, `"name":"NoAccessError"`) {
				t.Errorf("the body is %s, want an error body of the API", got.Body)
			}
		})
	}
}

// TestViewerAddress checks whose address a request has. Callers can send X-Forwarded-For themselves.
func TestViewerAddress(t *testing.T) {
	const secret = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b" // SHA-256 of "secret"
	const cloudFront = "130.176.1.1"
	const api = "flags.example.com"
	tests := []struct{ name, hash, domain, forwarded, want string }{
		{"through CloudFront", secret, api, "203.0.113.7, " + cloudFront, "203.0.113.7"},
		{"through CloudFront, with a header of the caller", secret, api, "10.0.0.1, 203.0.113.7, " + cloudFront, "203.0.113.7"},
		{"through CloudFront, IPv6", secret, api, "2001:db8::7," + cloudFront, "2001:db8::7"},
		{"through CloudFront, which API Gateway did not add", secret, api, "10.0.0.1, 203.0.113.7", "203.0.113.7"},
		{"through CloudFront, without the header", secret, api, "", cloudFront},
		{"through CloudFront, with nonsense", secret, api, "nonsense, " + cloudFront, cloudFront},
		{"no CloudFront configured", "", api, "203.0.113.7, " + cloudFront, cloudFront},
		{"a function URL, with a header of the caller", secret, "abc.lambda-url.eu-central-1.on.aws", "203.0.113.7", cloudFront},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("FRONT_SECRET_SHA256", tt.hash)
			got := ""
			handler := lambdahttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.RemoteAddr
				w.WriteHeader(http.StatusOK)
			}))
			request := events.APIGatewayV2HTTPRequest{RawPath: "/api/frontend", Headers: map[string]string{"x-origin-secret": "secret"}}
			if tt.forwarded != "" {
				request.Headers["x-forwarded-for"] = tt.forwarded
			}
			request.RequestContext.DomainName = tt.domain
			request.RequestContext.APIID, request.RequestContext.HTTP.Method, request.RequestContext.HTTP.SourceIP = "abc", "GET", cloudFront
			if _, err := handler(t.Context(), request); err != nil || got != tt.want {
				t.Errorf("the address is %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
