package projects_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	flagarea "guidon/pkg/admin/features"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
	"guidon/pkg/lambdahttp"
)

// TestReasonInAnEvent sends the reason of an emergency as the console does, in UTF-8, in an event of API Gateway: as it is, and as a character
// for each byte. The log has what was typed.
func TestReasonInAnEvent(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.OnInProduction(t, "f")
	s.Review(t)
	s.Must(t, "PUT", apitest.Environments+"/update/production", `{"nobodySkips":true}`)
	function := lambdahttp.Handler(httpapi.New(s.Store, flagarea.Group(), httpapi.Config{Sealer: dynamotest.Sealer}))
	for i, tt := range []struct{ sent, logged string }{
		{`Störung`, "Störung"}, {`St\u00c3\u00b6rung`, "Störung"}, {`Störung: 障害`, "Störung: 障害"}, {`it burns`, "it burns"},
	} {
		var event events.APIGatewayV2HTTPRequest
		apitest.DecodeInto(t, fmt.Sprintf(`{"version":"2.0","rawPath":%q,"headers":{"authorization":%q,"break-glass":"%s"},"requestContext":{"http":{"method":"POST"}}}`,
			apitest.In("f", "production")+[]string{"/off", "/on"}[i%2], dynamotest.AdminToken, tt.sent), &event)
		if got, err := function(t.Context(), event); err != nil || got.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s, %v", tt.sent, got.StatusCode, got.Body, err)
		}
		s.Run(t, []apitest.Call{{tt.sent, "GET", "/api/admin/search/events?type=IS:change-request-glass-broken&limit=1", "", 200,
			fmt.Sprintf(`{"...":0,"events":[{"...":0,"data":{"...":0,"reason":%q}}]}`, tt.logged)}})
	}
}
