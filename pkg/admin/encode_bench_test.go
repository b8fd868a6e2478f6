package admin_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// BenchmarkLongList lists 10,000 flags that the store has in memory. It measures the cost of the response.
func BenchmarkLongList(b *testing.B) {
	store := dynamotest.Open(b, nil)
	dynamotest.Seed(b, store)
	handler := httpapi.New(apitest.LongStore{Store: store, Flags: 10_000}, admin.Group("features"), httpapi.Config{})
	for _, encoding := range []string{"identity", "gzip"} {
		b.Run(encoding, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodGet, apitest.Features, nil)
				r.Header.Set("Authorization", dynamotest.AdminToken)
				r.Header.Set("Accept-Encoding", encoding)
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				b.ReportMetric(float64(w.Body.Len()), "bytes/answer")
			}
		})
	}
}
