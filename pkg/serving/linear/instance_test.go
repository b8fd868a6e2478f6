package linear

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"guidon/internal/child"
)

// An instance serves applications in a process of its own, which can be frozen, or killed and started again.
type instance struct {
	number  int
	options options
	client  *http.Client

	mu      sync.Mutex
	running *child.Process
	starts  int
	total   counts // of processes that were killed
}

// startInstance starts an instance, and stops it with the test.
func startInstance(t *testing.T, number int, o options) *instance {
	t.Helper()
	i := &instance{number: number, options: o, client: &http.Client{
		Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32, DisableCompression: true},
	}}
	t.Cleanup(func() {
		if i.running != nil {
			if err := i.end(); err != nil {
				t.Error(err)
			}
		}
	})
	if err := i.launch(t.Context()); err != nil {
		t.Fatal(err)
	}
	return i
}

// launch starts a process and waits until it answers.
func (i *instance) launch(ctx context.Context) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	program = cmp.Or(i.options.Program, program)
	port, err := child.FreePort()
	if err != nil {
		return err
	}
	o := i.options
	o.Port, o.Seed = port, o.Seed+uint64(100*i.starts)
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), settings+"="+string(text))
	p, err := child.Start(cmd)
	if err != nil {
		return err
	}
	i.mu.Lock()
	i.running, i.options.Port = p, port
	i.starts++
	i.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return p.Await(ctx, child.Serves("http://127.0.0.1:"+port+"/test/counts", http.StatusOK))
}

// end kills the process. It prints nothing, except for a panic or a data race.
func (i *instance) end() error {
	i.running.Kill()
	if output := i.running.Output.End(); output != "" {
		return fmt.Errorf("instance %d printed:\n%s", i.number, output)
	}
	return nil
}

// kill kills the process and starts another one.
func (i *instance) kill(ctx context.Context) error {
	i.total.add(i.counts())
	if err := i.end(); err != nil {
		return err
	}
	return i.launch(ctx)
}

// signal sends a signal to the process: SIGSTOP freezes it, as Lambda does between requests, and SIGCONT lets it go on.
func (i *instance) signal(s syscall.Signal) error { return syscall.Kill(i.running.PID(), s) }

// counts returns the counts of the running process.
func (i *instance) counts() (c counts) {
	response, err := i.client.Get(i.url("/test/counts"))
	if err == nil {
		defer response.Body.Close()
		_ = json.NewDecoder(response.Body).Decode(&c)
	}
	return c
}

func (i *instance) url(path string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return "http://127.0.0.1:" + i.options.Port + path
}

func (i *instance) process() process {
	i.mu.Lock()
	defer i.mu.Unlock()
	return process{i.number, i.starts}
}

// An answer is what an instance answered; status 0 if it was killed meanwhile.
type answer struct {
	status int
	etag   string
	body   []byte
}

// get sends a request of an SDK with a token. An etag is what the client has already; "" for none.
func (i *instance) get(ctx context.Context, path, token, spec, etag string) answer {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, i.url(path), nil)
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", token)
	if spec != "" {
		r.Header.Set("Unleash-Client-Spec", spec)
	}
	if etag != "" {
		r.Header.Set("If-None-Match", etag)
	}
	response, err := i.client.Do(r)
	if err != nil {
		return answer{}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}
	}
	if n, err := strconv.Atoi(response.Header.Get("Content-Length")); err == nil && response.StatusCode == http.StatusOK && n != len(body) {
		panic(fmt.Sprintf("%d bytes of %d", len(body), n))
	}
	return answer{response.StatusCode, response.Header.Get("ETag"), body}
}
