package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// project is the path of the project for tests that need only one.
const project = "/api/admin/projects/default"

// send sends a request. A body that is not a string is sent as JSON.
func (g *gateway) send(ctx context.Context, method, path string, body any) (status int, answer []byte, err error) {
	var reader io.Reader
	switch body := body.(type) {
	case nil:
	case string:
		reader = bytes.NewReader([]byte(body))
	default:
		raw, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		reader = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, g.url()+path, reader)
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if g.token != "" {
		req.Header.Set("Authorization", g.token)
	}
	resp, err := g.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// get returns the body of a response that must be a 200.
func (g *gateway) get(t *testing.T, path string) string {
	t.Helper()
	status, body, err := g.send(t.Context(), http.MethodGet, path, nil)
	if err != nil || status != http.StatusOK {
		t.Fatalf("GET %s: %d %v: %s", path, status, err, body)
	}
	return string(body)
}

// do sends a request that must get the status, and decodes the response into into, unless that is nil.
func (g *gateway) do(t *testing.T, want int, method, path string, body, into any) {
	t.Helper()
	status, answer, err := g.send(t.Context(), method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	if status != want {
		t.Fatalf("%s %s: %d, want %d: %s", method, path, status, want, answer)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(answer, into); err != nil {
		t.Fatalf("%s %s: %v in %s", method, path, err, answer)
	}
}

func decodeAll(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// A failure is the body of an error.
type failure struct {
	ID, Name, Message string
	Details           []struct{ Message, Description, Path string }
}

// fails sends a request that must get the status and the error name.
func (g *gateway) fails(t *testing.T, status int, name, method, path string, body any) {
	t.Helper()
	var f failure
	g.do(t, status, method, path, body, &f)
	if f.Name != name || f.ID == "" || f.Message == "" {
		t.Errorf("%s %s: the error is %+v, want a %s with id and message", method, path, f, name)
	}
}
