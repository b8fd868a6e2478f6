package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const project = "/api/admin/projects/default"

// An answer is a response of the stage.
type answer struct {
	status int
	body   []byte
	header http.Header
}

// call sends a request. A header is "Name: value".
func (p *proof) call(ctx context.Context, method, path, token, body string, headers ...string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 40*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.address+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", token)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := p.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, raw, resp.Header}, err
}

// want sends a request, which must get the status, and all the words in the response.
func (p *proof) want(ctx context.Context, status int, method, path, token, body string, words ...string) (answer, error) {
	a, err := p.call(ctx, method, path, token, body)
	if err != nil {
		return a, err
	}
	for _, word := range words {
		if !bytes.Contains(a.body, []byte(word)) {
			return a, fmt.Errorf("%s %s: %s; want %s in it", method, path, a.body, word)
		}
	}
	if a.status != status {
		return a, fmt.Errorf("%s %s: %d %s; want %d", method, path, a.status, a.body, status)
	}
	return a, nil
}

// newToken creates a client token.
func (p *proof) newToken(ctx context.Context, name string) (string, error) {
	a, err := p.want(ctx, 201, "POST", "/api/admin/api-tokens", p.token,
		`{"tokenName":"`+name+`","type":"client","projects":["default"],"environment":"development"}`)
	var created struct{ Secret string }
	return created.Secret, errors.Join(err, json.Unmarshal(a.body, &created))
}

// newFlag creates a flag that is on, with one strategy, and returns the strategy's id.
func (p *proof) newFlag(ctx context.Context, name string) (string, error) {
	if _, err := p.want(ctx, 201, "POST", project+"/features", p.token, `{"name":"`+name+`"}`); err != nil {
		return "", err
	}
	in := project + "/features/" + name + "/environments/development"
	a, err := p.want(ctx, 200, "POST", in+"/strategies", p.token, strategy(0))
	if err != nil {
		return "", err
	}
	var created struct{ ID string }
	_, err = p.want(ctx, 200, "POST", in+"/on", p.token, "")
	return created.ID, errors.Join(err, json.Unmarshal(a.body, &created))
}

// strategy is the nth state of the flag that a load changes.
func strategy(n int64) string {
	return fmt.Sprintf(`{"name":"flexibleRollout","parameters":{"rollout":"100","stickiness":"default","groupId":"%d"}}`, n)
}

// A tally is what a load counts: statuses (0 for no answer) and times of polls and changes, and polls that lacked a change.
type tally struct {
	mu               sync.Mutex
	polls, changes   map[int]int
	pollMS, changeMS []float64
	stale            int
}

func (t *tally) figures() []string {
	return []string{
		fmt.Sprintf("polls: %s, half and 99 %% within %.0f and %.0f ms", statuses(t.polls), percentile(t.pollMS, 0.5), percentile(t.pollMS, 0.99)),
		fmt.Sprintf("changes: %s, half and 99 %% within %.0f and %.0f ms", statuses(t.changes), percentile(t.changeMS, 0.5), percentile(t.changeMS, 0.99)),
		fmt.Sprintf("polls that lacked an acknowledged change: %d", t.stale),
	}
}

// check returns an error unless all changes succeeded, no poll lacked one, and polls got only the statuses.
func (t *tally) check(allowed ...int) error {
	var wrong []string
	for _, status := range slices.Sorted(maps.Keys(t.polls)) {
		if !slices.Contains(allowed, status) {
			wrong = append(wrong, fmt.Sprintf("%d polls got %d", t.polls[status], status))
		}
	}
	if t.polls[200] == 0 || t.changes[200] == 0 {
		wrong = append(wrong, "no poll or no change succeeded")
	}
	if len(t.changes) > 1 {
		wrong = append(wrong, "changes got "+statuses(t.changes))
	}
	if t.stale > 0 {
		wrong = append(wrong, fmt.Sprintf("%d polls lacked an acknowledged change", t.stale))
	}
	if wrong == nil {
		return nil
	}
	return errors.New(strings.Join(wrong, "; "))
}

// load polls at a rate with some callers, and changes a flag all the time, at most once a second.
func (p *proof) load(ctx context.Context, name string, rate float64, callers int, d time.Duration) (*tally, error) {
	t := &tally{polls: map[int]int{}, changes: map[int]int{}}
	client, err := p.newToken(ctx, name)
	if err != nil {
		return t, err
	}
	id, err := p.newFlag(ctx, name)
	if err != nil {
		return t, err
	}
	count := func(statuses map[int]int, times *[]float64, status int, begun time.Time) {
		t.mu.Lock()
		defer t.mu.Unlock()
		statuses[status]++
		*times = append(*times, float64(time.Since(begun).Microseconds())/1000)
	}
	ends, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var acknowledged atomic.Int64
	var all sync.WaitGroup
	all.Go(func() {
		for n := int64(1); sleep(ends, time.Second); n++ {
			begun := time.Now()
			a, err := p.call(ctx, "PUT", project+"/features/"+name+"/environments/development/strategies/"+id, p.token, strategy(n))
			if count(t.changes, &t.changeMS, a.status, begun); err == nil && a.status == 200 {
				acknowledged.Store(n)
			}
		}
	})
	for i := range callers {
		all.Go(func() {
			every := time.Duration(float64(callers) / rate * float64(time.Second))
			sleep(ends, every*time.Duration(i)/time.Duration(callers))
			tick := time.NewTicker(every) // it leaves out ticks while a poll takes longer
			defer tick.Stop()
			var seen int64
			etag := ""
			for ends.Err() == nil {
				least, begun := acknowledged.Load(), time.Now()
				a, err := p.call(ctx, "GET", "/api/client/features?namePrefix="+name, client, "", "If-None-Match: "+etag)
				if a.status == 200 && err == nil {
					etag = a.header.Get("ETag")
					_, after, _ := bytes.Cut(a.body, []byte(`"groupId":"`))
					_, _ = fmt.Sscan(string(after[:bytes.IndexByte(append(after, '"'), '"')]), &seen)
				}
				count(t.polls, &t.pollMS, a.status, begun)
				if (a.status == 200 || a.status == 304) && seen < least {
					t.mu.Lock()
					t.stale++
					t.mu.Unlock()
				}
				select {
				case <-tick.C:
				case <-ends.Done():
				}
			}
		})
	}
	all.Wait()
	return t, ctx.Err()
}

// sleep waits, and returns whether the context goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// statuses lists how many answers had which status.
func statuses(counted map[int]int) string {
	var list []string
	for _, status := range slices.Sorted(maps.Keys(counted)) {
		list = append(list, fmt.Sprintf("%d × %d", counted[status], status))
	}
	return strings.Join(list, ", ")
}

func percentile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(share*float64(len(sorted)-1))]
}
