// Package backoff says how long to wait after a conflict with another writer, and how often to repeat a failed call to the store.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// The longest waits. The wait starts at first and doubles after each conflict, up to a ceiling. The ceiling falls from highest to
// lowest over fall.
//
// So writers who have waited long try more often than those who came later, and all of them take about as long. If the ceiling
// were the same for all, one change in a hundred would take more than ten times as long as most. The figures were measured:
// see docs/performance.md.
const (
	first   = 20 * time.Millisecond
	highest = time.Second
	lowest  = 100 * time.Millisecond
	fall    = 4 * time.Second
)

// Delay is a random wait before another attempt. The attempts count from 1, and age is the time since the first conflict.
func Delay(attempt int, age time.Duration) time.Duration {
	return rand.N(longest(attempt, age)) + time.Millisecond //nolint:gosec // needs no secure random number
}

// longest is the longest wait before an attempt.
func longest(attempt int, age time.Duration) time.Duration {
	old := min(1, max(0, age.Seconds()/fall.Seconds()))
	ceiling := highest - time.Duration(old*float64(highest-lowest))
	return min(ceiling, first<<min(max(attempt, 1)-1, 10))
}

// Sleep waits. It returns false if the context ends first.
func Sleep(ctx context.Context, delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
