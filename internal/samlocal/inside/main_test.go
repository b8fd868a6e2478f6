package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"guidon/internal/engine"
)

func TestMain(m *testing.M) {
	if os.Getenv("INSIDE_TEST") != "" {
		if err := run(os.Args[1:]); err != nil {
			_, _ = os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestSecret calls both services of the container as functions do, and without the secret, as a page in a browser on the
// host could.
func TestSecret(t *testing.T) {
	binary, err := engine.Dynoxide(t.Context(), runtime.GOOS, runtime.GOARCH, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	const secret = "only-functions-know-it"
	dynamo, secrets := freeAddress(t), freeAddress(t)
	cmd := exec.Command(os.Args[0], binary, "mcp")
	cmd.Env = append(os.Environ(), "INSIDE_TEST=1", "GUARD="+secret, `SECRETS={"key":"hush"}`,
		"DYNAMODB_ADDRESS="+dynamo, "SECRETS_ADDRESS="+secrets)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for _, service := range []struct{ name, address, target, body, want string }{
		{"DynamoDB", dynamo, "DynamoDB_20120810.ListTables", "{}", "TableNames"},
		{"Secrets Manager", secrets, "secretsmanager.GetSecretValue", `{"SecretId":"key"}`, "hush"},
	} {
		for path, want := range map[string]int{"/" + secret: 200, "/" + secret + "/": 200, "/": 403, "/other/": 403, "/" + secret + "x/": 403} {
			status, header, body := call(t, "http://"+service.address+path, service.target, service.body)
			if status != want || strings.Contains(body, service.want) != (want == 200) || want == 403 && body != "" {
				t.Errorf("%s at %s: %d %s, want %d", service.name, path, status, body, want)
			}
			if allowed := header.Get("Access-Control-Allow-Origin"); allowed != "" {
				t.Errorf("%s at %s allows pages of %s", service.name, path, allowed)
			}
		}
	}
}

// call sends what an AWS SDK would, with the header of a browser. The program may still be starting.
func call(t *testing.T, url, target, body string) (int, http.Header, string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Amz-Target", target)
		req.Header.Set("Origin", "https://page.example")
		resp, err := http.DefaultClient.Do(req)
		if err != nil && time.Now().Before(deadline) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header, string(raw)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
