package engine_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"guidon/internal/engine"
)

func TestMain(m *testing.M) {
	if data := os.Getenv("ENGINE_TEST_PARENT"); data != "" {
		parent(data)
	}
	os.Exit(m.Run())
}

// parent is the process that TestParentKilled kills. It runs an engine.
func parent(data string) {
	e, err := engine.Start(context.Background(), engine.Options{DataFile: data})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(e.URL())
	select {}
}

func start(t *testing.T, o engine.Options) *engine.Engine {
	t.Helper()
	e, err := engine.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Stop)
	return e
}

func TestRestartKeepsDataAndPort(t *testing.T) {
	e := start(t, engine.Options{DataFile: filepath.Join(t.TempDir(), "data", "test.db")})
	url := e.URL()
	createTable(t, url, "kept")
	for _, end := range []struct {
		name string
		end  func()
	}{{"running", func() {}}, {"killed", e.Kill}} {
		end.end()
		if err := e.Restart(t.Context()); err != nil {
			t.Fatalf("%s: %v", end.name, err)
		}
		if got := e.URL(); got != url {
			t.Errorf("%s: address is %s, want %s as before", end.name, got, url)
		}
		if got := tables(t, url); !strings.Contains(got, "kept") {
			t.Errorf("%s: tables after the restart: %s", end.name, got)
		}
	}
	e.Stop()
	if err := e.Restart(t.Context()); err == nil {
		t.Error("a stopped engine was started again")
	}
}

func TestInMemoryStartsEmpty(t *testing.T) {
	e := start(t, engine.Options{})
	createTable(t, e.URL(), "lost")
	if err := e.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := tables(t, e.URL()); strings.Contains(got, "lost") {
		t.Errorf("tables after the restart: %s", got)
	}
}

func TestDataIsNeverShared(t *testing.T) {
	data := filepath.Join(t.TempDir(), "test.db")
	e := start(t, engine.Options{DataFile: data})
	second, err := engine.Start(t.Context(), engine.Options{DataFile: data})
	if err == nil {
		second.Stop()
		t.Fatal("a second engine started over the same data")
	}
	if want := fmt.Sprintf("in use by process %d", os.Getpid()); !strings.Contains(err.Error(), want) {
		t.Errorf("error is %q, want it to contain %q", err, want)
	}
	e.Stop()
	start(t, engine.Options{DataFile: data})
}

func TestPortTaken(t *testing.T) {
	first := start(t, engine.Options{})
	at, err := url.Parse(first.URL())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(at.Port())
	if err != nil {
		t.Fatal(err)
	}
	second, err := engine.Start(t.Context(), engine.Options{Port: port})
	if err == nil {
		second.Stop()
		t.Fatal("a second engine started on the same port")
	}
	if !strings.Contains(err.Error(), "in use") {
		t.Errorf("error is %q, want it to say that the port is in use", err)
	}
}

// TestParentKilled checks that an engine ends when its parent is killed, and that the next one can use the data.
func TestParentKilled(t *testing.T) {
	data := filepath.Join(t.TempDir(), "test.db")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ENGINE_TEST_PARENT="+data)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	url := strings.TrimSpace(line)
	if !strings.HasPrefix(url, "http") {
		t.Fatalf("the parent printed %q", url)
	}
	createTable(t, url, "kept")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()

	e := start(t, engine.Options{DataFile: data})
	if got := tables(t, e.URL()); !strings.Contains(got, "kept") {
		t.Errorf("tables after the kill: %s", got)
	}
	if e.URL() == url {
		return // the same port by chance: the old engine cannot be there
	}
	if _, err := http.Get(url); err == nil {
		t.Error("the old engine still answers")
	}
}

func TestUnknownEngine(t *testing.T) {
	t.Setenv("ENGINE", "postgres")
	_, err := engine.Start(t.Context(), engine.Options{})
	if err == nil || !strings.Contains(err.Error(), "dynoxide") {
		t.Errorf("error is %v, want it to name the engines", err)
	}
}

func TestNothingToFetchWith(t *testing.T) {
	t.Setenv("ENGINE", "dynoxide")
	t.Setenv("PATH", t.TempDir())
	t.Setenv("GUIDON_LOCAL", t.TempDir())
	_, err := engine.Start(t.Context(), engine.Options{})
	for _, want := range []string{"npm", "AWS_ENDPOINT_URL_DYNAMODB"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want it to say %s", err, want)
		}
	}
}

func createTable(t *testing.T, url, name string) {
	t.Helper()
	call(t, url, "CreateTable", tableRequest(name))
}

func tableRequest(name string) string {
	return `{"TableName":"` + name + `","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}`
}

func tables(t *testing.T, url string) string {
	t.Helper()
	return call(t, url, "ListTables", "{}")
}

// call sends a request to the engine without the AWS SDK, which only pkg/dynamo may import.
func call(t *testing.T, url, operation, body string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := newRequest(ctx, url, operation, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer bytes.Buffer
	_, _ = answer.ReadFrom(resp.Body)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %s", operation, resp.Status, &answer)
	}
	return answer.String()
}

// newRequest returns a request as an AWS SDK sends it, with a fake signature.
func newRequest(ctx context.Context, url, operation, body string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	req.Header.Set("X-Amz-Date", time.Now().UTC().Format("20060102T150405Z"))
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "+
		"SignedHeaders=host;x-amz-date, Signature=0000")
	return req, nil
}
