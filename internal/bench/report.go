package main

import (
	"slices"
	"time"
)

// result is what one run of a phase measured on one server.
type result struct {
	took  time.Duration // without the time of undo
	times []time.Duration
	bytes int64 // of all responses
	usage usage
}

// A figure is what one run of a phase measured on one server, for one response where that makes sense.
type figure struct {
	Responses int     `json:"responses"`
	Own       float64 `json:"own_ms"`    // processor time of the program that is compared
	Engine    float64 `json:"engine_ms"` // processor time of its database
	Rate      float64 `json:"per_second"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	Bytes     int64   `json:"bytes"`
}

func (r *result) figure() figure {
	n := max(1, len(r.times))
	each := func(d time.Duration) float64 { return milliseconds(d) / float64(n) }
	return figure{
		Responses: len(r.times), Own: each(r.usage.own), Engine: each(r.usage.engine), Rate: r.rate(),
		P50: r.percentile(50), P99: r.percentile(99), Bytes: r.bytes / int64(n),
	}
}

// rate is in responses per second.
func (r *result) rate() float64 { return float64(len(r.times)) / r.took.Seconds() }

// percentile returns the time in milliseconds that p percent of the responses did not exceed (nearest rank).
func (r *result) percentile(p int) float64 {
	if len(r.times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(r.times))
	rank := (len(sorted)*p + 99) / 100
	return milliseconds(sorted[max(rank, 1)-1])
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
