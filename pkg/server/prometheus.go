package server

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// prometheusPath is the path of the metrics, the same as Unleash's. On AWS they are in CloudWatch instead.
const prometheusPath = "/internal-backstage/prometheus"

// metrics for Prometheus: the duration of requests, and the process itself.
type metrics struct {
	requests *prometheus.SummaryVec
	page     http.Handler
}

func newMetrics() *metrics {
	m := &metrics{requests: prometheus.NewSummaryVec(prometheus.SummaryOpts{
		Name:       "http_request_duration_milliseconds",
		Help:       "Duration of requests by the path of their operation; none for files, pages and unknown paths.",
		Objectives: map[float64]float64{0.5: 0.05, 0.9: 0.01, 0.95: 0.01, 0.99: 0.001},
	}, []string{"method", "path", "status"})}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.page = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}

// observe counts a request. Its label is the route, not the path, which may contain a secret and is unbounded. A method
// that HTTP does not define is "other".
func (m *metrics) observe(method, route string, status int, took time.Duration) {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
	default:
		method = "other"
	}
	path := "none"
	if route != "" {
		_, path, _ = strings.Cut(route, " ")
	}
	m.requests.WithLabelValues(method, path, strconv.Itoa(status)).Observe(float64(took.Microseconds()) / 1000)
}
