package apitest

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"guidon/pkg/flags"
)

// Parallel makes n calls at the same time, and counts the responses by status.
func (s *Server) Parallel(t *testing.T, n int, of func(i int) Call) map[int]int {
	t.Helper()
	var (
		mu       sync.Mutex
		wg       sync.WaitGroup
		statuses = map[int]int{}
		start    = make(chan struct{})
	)
	for i := range n {
		wg.Go(func() {
			c := of(i)
			<-start // all at the same time
			got, err := s.Try(c.Method, c.Path, c.Body)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			statuses[got.Status]++
			if got.Status >= 500 && got.Status != http.StatusServiceUnavailable {
				t.Errorf("%s %s: %d %s, want no error of the service", c.Method, c.Path, got.Status, got.Body)
			}
		})
	}
	close(start)
	wg.Wait()
	return statuses
}

// WantParallel makes n calls at the same time, and checks how many responses have each status.
func (s *Server) WantParallel(t *testing.T, want map[int]int, n int, of func(i int) Call) {
	t.Helper()
	WantStatuses(t, s.Parallel(t, n, of), want)
}

// WantStatuses checks how many responses have each status.
func WantStatuses(t *testing.T, got, want map[int]int) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("responses by status %v, want %v", got, want)
	}
}

// WantEvents checks how many events of a type a flag has.
func (s *Server) WantEvents(t *testing.T, flag string, kind flags.EventType, want int) {
	t.Helper()
	got := 0
	for _, e := range s.Events(t, flag) {
		if e == kind {
			got++
		}
	}
	if got != want {
		t.Errorf("%d events %s, want %d", got, kind, want)
	}
}
