package contention

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// An outside sends requests for goroutines in a synctest bubble. It does so outside of it, because the clock of a bubble stands
// still while a goroutine in it waits for the network, and the connections of a client wait for it all the time.
type outside struct {
	free chan *errand
	jobs chan *errand
}

// An errand is a request and its response.
type errand struct {
	request  *http.Request
	response *http.Response
	body     []byte
	err      error
	done     chan struct{}
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	const most = 2 * writers
	o := &outside{free: make(chan *errand, most), jobs: make(chan *errand, most)}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: most}}
	t.Cleanup(client.CloseIdleConnections)
	t.Cleanup(func() { close(o.jobs) })
	for range most {
		o.free <- &errand{done: make(chan struct{})}
		go func() {
			for e := range o.jobs {
				e.send(client)
			}
		}()
	}
	return o
}

func (e *errand) send(client *http.Client) {
	if e.response, e.err = client.Do(e.request); e.err == nil {
		e.body, e.err = io.ReadAll(e.response.Body)
		_ = e.response.Body.Close()
	}
	e.done <- struct{}{}
}

// RoundTrip sends a request.
func (o *outside) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil {
		return nil, err
	}
	e := <-o.free
	e.request, err = http.NewRequest(req.Method, req.URL.String(), bytes.NewReader(body)) //nolint:noctx // that of the bubble may not leave it
	if err != nil {
		return nil, err
	}
	e.request.Header = req.Header
	o.jobs <- e
	<-e.done
	response, body, err := e.response, e.body, e.err
	o.free <- e
	if err != nil {
		return nil, err
	}
	response.Body, response.Request = io.NopCloser(bytes.NewReader(body)), req
	return response, nil
}
