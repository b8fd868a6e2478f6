package apitest

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"
)

// A LogEvent is an event in an answer.
type LogEvent struct {
	ID                                int64
	Type, CreatedBy                   string
	CreatedByUserID                   *int64
	CreatedAt                         time.Time
	Data, PreData                     map[string]any
	FeatureName, Project, Environment *string
}

// Newest returns the first page of the log.
func (s *Server) Newest(t *testing.T) []LogEvent {
	t.Helper()
	var page struct{ Events []LogEvent }
	if err := json.Unmarshal([]byte(s.Must(t, "GET", EventLog, "").Body), &page); err != nil {
		t.Fatal(err)
	}
	return page.Events
}

// Log reads all pages of a path, newest events first.
func (s *Server) Log(t *testing.T, path string, headers ...string) []LogEvent {
	t.Helper()
	var all []LogEvent
	for at := path; ; {
		var page struct {
			Events []LogEvent
			Next   *string
		}
		got := s.Do(t, "GET", at, "", headers...)
		if err := json.Unmarshal([]byte(got.Body), &page); err != nil || got.Status != 200 {
			t.Fatalf("GET %s: %d %.300s (%v), want a page", at, got.Status, got.Body, err)
		}
		if all = append(all, page.Events...); page.Next == nil {
			return all
		}
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		at = path + mark + "cursor=" + url.QueryEscape(*page.Next)
	}
}
