package main

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// prometheusPath is where the local gateway has its metrics, as Unleash does. On AWS they are in CloudWatch.
const prometheusPath = "/internal-backstage/prometheus"

// metrics are what the gateway tells Prometheus: how long requests took, and the process itself.
type metrics struct {
	requests *prometheus.SummaryVec
	page     http.Handler
}

func newMetrics() *metrics {
	m := &metrics{requests: prometheus.NewSummaryVec(prometheus.SummaryOpts{
		Name:       "http_request_duration_milliseconds",
		Help:       "How long requests took, by the route of the template that they matched.",
		Objectives: map[float64]float64{0.5: 0.05, 0.9: 0.01, 0.95: 0.01, 0.99: 0.001},
	}, []string{"method", "path", "status"})}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.page = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}

// observe counts a request. A label is the route, never the path, which may hold a secret and has no bound; a method that
// HTTP does not know is "other".
func (m *metrics) observe(method, route string, status int, took time.Duration) {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
	default:
		method = "other"
	}
	_, path, found := strings.Cut(route, " ")
	if !found {
		path = route
	}
	m.requests.WithLabelValues(method, path, strconv.Itoa(status)).Observe(float64(took.Microseconds()) / 1000)
}

// A statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}
