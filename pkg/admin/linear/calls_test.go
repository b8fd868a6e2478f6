package linear

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"guidon/pkg/dynamo/dynamotest"
)

// do calls an operation and records the response.
func (w *world) do(client int, in input, timeout time.Duration) {
	called := time.Since(w.start)
	status, body, err := w.send(w.request(in), timeout)
	returned := time.Since(w.start)
	w.count()
	switch {
	case err != nil:
		w.unexpected("%+v: %v", in, err)
	case status < 500 && in.kind == list:
		for flag, shown := range listed(w, body) {
			in.flag = flag
			w.note(client, in, output{status: status, summary: shown}, called, returned)
		}
	case status < 500:
		w.note(client, in, w.output(in, status, body), called, returned)
	case in.reads() && timeout == shortTimeout: // the timeout was too short
	case !in.reads() && status == http.StatusServiceUnavailable && strings.Contains(body, "may or may not"):
		w.note(client, in, output{}, called, math.MaxInt64)
	case strings.Contains(body, "nothing was changed"):
		// The other clients check this: they may not read a value that was never written.
	default:
		w.unexpected("%+v with %v: %d %s", in, timeout, status, body)
	}
}

func (w *world) count() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.operations++
}

// unexpected records a response that no client may get.
func (w *world) unexpected(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

func (w *world) note(client int, in, out any, called, returned time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if returned == math.MaxInt64 {
		w.unknown++
	}
	w.history = append(w.history, porcupine.Operation{ClientId: client, Input: in, Call: int64(called), Output: out, Return: int64(returned)})
}

// A request is the HTTP request of an operation.
type request struct{ method, path, body string }

func (w *world) request(in input) request {
	one := flagsOf + "/" + in.flag
	environment := one + "/environments/development"
	strategy := environment + "/strategies/" + w.idOf(in)
	switch in.kind {
	case create:
		return request{"POST", flagsOf, fmt.Sprintf(`{"name":%q,"description":%q}`, in.flag, in.value)}
	case patch:
		return request{"PATCH", one, fmt.Sprintf(`[{"op":"replace","path":"/description","value":%q},{"op":"replace","path":"/stale","value":%t}]`, in.value, in.stale)}
	case on, off:
		return request{"POST", environment + "/" + string(in.kind), ""}
	case add:
		return request{"POST", environment + "/strategies", fmt.Sprintf(`{"name":"flexibleRollout","title":%q,"parameters":{"groupId":%q}}`, in.value, in.strategy)}
	case edit:
		return request{"PATCH", strategy, fmt.Sprintf(`[{"op":"replace","path":"/title","value":%q}]`, in.value)}
	case remove:
		return request{"DELETE", strategy, ""}
	case read:
		return request{"GET", one, ""}
	case list:
		return request{"GET", flagsOf, ""}
	case tail:
		return request{"GET", "/api/admin/events/" + in.flag + "?limit=1", ""}
	}
	return request{"GET", "/api/admin/events/" + in.flag + "?limit=1000", ""}
}

// idOf returns the id of a strategy, as some client has read it.
func (w *world) idOf(in input) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.known[in.flag][in.strategy]
}

func (w *world) send(r request, timeout time.Duration) (status int, body string, err error) {
	req, err := http.NewRequest(r.method, w.url+r.path, strings.NewReader(r.body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", dynamotest.AdminToken)
	req.Header.Set(deadline, timeout.String())
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	response, err := w.client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

// output decodes the response to any operation except a list.
func (w *world) output(in input, status int, body string) output {
	out := output{status: status}
	switch in.kind {
	case read:
		if status == http.StatusOK {
			out.saw = w.decodeFlag(in.flag, body)
		}
	case tail, all:
		if events := eventsIn(w, body); len(events) > 0 {
			out.event, out.events = events[0], len(events)
		}
	case add:
		s := decoded[strategyBody](w, body)
		w.learn(in.flag, s.Parameters.GroupID, s.ID)
	}
	return out
}

type (
	strategyBody struct {
		ID, Title  string
		Parameters struct{ GroupID string }
	}
	environmentBody struct {
		Name                   string
		Enabled, HasStrategies bool
		Strategies             []strategyBody
	}
	flagBody struct {
		Name, Description string
		Stale             bool
		Environments      []environmentBody
	}
)

func decoded[T any](w *world, body string) (v T) {
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		w.unexpected("%s: %v", body, err)
	}
	return v
}

// decodeFlag decodes a flag, and remembers the ids of its strategies.
func (w *world) decodeFlag(flag, body string) seen {
	f := decoded[flagBody](w, body)
	saw := seen{summary: f.summary(), description: f.Description}
	var strategies []string
	for _, s := range f.development().Strategies {
		strategies = append(strategies, s.Parameters.GroupID+"="+s.Title)
		w.learn(flag, s.Parameters.GroupID, s.ID)
	}
	saw.strategies = joined(strategies)
	return saw
}

func (f flagBody) development() environmentBody {
	i := slices.IndexFunc(f.Environments, func(e environmentBody) bool { return e.Name == "development" })
	return f.Environments[i]
}

func (f flagBody) summary() summary {
	e := f.development()
	return summary{exists: true, stale: f.Stale, on: e.Enabled, strategies: e.HasStrategies}
}

// learn remembers the ids of recent strategies of a flag. Some of these strategies may be deleted.
func (w *world) learn(flag, group, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known[flag] == nil || len(w.known[flag]) > 12 {
		w.known[flag] = map[string]string{}
	}
	w.known[flag][group] = id
}

// listed returns the summaries of all flags in a list. Flags that are not in the list do not exist.
func listed(w *world, body string) map[string]summary {
	shown := map[string]summary{}
	for i := range allFlags {
		shown[flagOf(i)] = summary{}
	}
	for _, f := range decoded[struct{ Features []flagBody }](w, body).Features {
		shown[f.Name] = f.summary()
	}
	return shown
}

// eventsIn returns the events in a response, newest first.
func eventsIn(w *world, body string) []string {
	type document struct {
		strategyBody
		Description string
	}
	page := decoded[struct {
		Next   *string
		Events []struct {
			Type          string
			Data, PreData document
		}
	}](w, body)
	var events []string
	for _, e := range page.Events {
		switch name := e.Type + " "; name {
		case created(""), updated(""):
			events = append(events, name+e.Data.Description)
		case removed("", "")[:len(removed("", ""))-1]:
			events = append(events, removed(e.PreData.Parameters.GroupID, e.PreData.Title))
		case switchedOn, switchedOff, becameStale, becameFresh:
			events = append(events, name)
		default:
			events = append(events, name+e.Data.Parameters.GroupID+"="+e.Data.Title)
		}
	}
	return events
}
