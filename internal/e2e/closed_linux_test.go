package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestEngineIsClosed calls every port of the server and its child processes as an AWS SDK, as a script in a web page, and
// as the preflight of a browser. Without the secret none of them gets data or CORS headers.
func TestEngineIsClosed(t *testing.T) {
	g := start(t)
	g.do(t, 201, "POST", project+"/features", `{"name":"not-for-pages"}`, nil)
	pids := processTree(t, g.cmd.Process.Pid)
	if !slices.Contains(pids, g.engine.PID) {
		t.Fatalf("the processes are %v, want the engine %d among them", pids, g.engine.PID)
	}
	if ports := listening(t, []int{g.engine.PID}); len(ports) > 0 {
		t.Errorf("the engine itself listens on %v", ports)
	}
	addresses := listening(t, pids)
	if len(addresses) < 2 {
		t.Fatalf("the gateway listens on %v, want its own port and that of the engine", addresses)
	}
	for _, address := range addresses {
		for _, path := range []string{"/", "/wrong/", "/" + strings.Repeat("A", 52) + "/"} {
			for _, operation := range []string{"ListTables", "Scan"} {
				for name, headers := range map[string][]string{
					"SDK":  {"Content-Type: application/x-amz-json-1.0"},
					"page": {"Content-Type: application/json", "Origin: https://page.example"},
				} {
					status, header, body := callEngine(t, "http://"+address+path, http.MethodPost, operation, headers)
					if status < 400 || strings.Contains(body, "TableNames") || strings.Contains(body, "not-for-pages") {
						t.Errorf("%s of a %s at %s%s: %d %s", operation, name, address, path, status, body)
					}
					noCORS(t, address+path, header)
				}
			}
			_, header, _ := callEngine(t, "http://"+address+path, http.MethodOptions, "", []string{
				"Origin: https://page.example", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: x-amz-target,content-type",
			})
			noCORS(t, address+path, header)
		}
	}

	// With the secret the same request is answered, so the requests above were right.
	status, header, body := callEngine(t, g.engine.URL, http.MethodPost, "Scan", []string{"Content-Type: application/x-amz-json-1.0", "Origin: https://page.example"})
	if status != 200 || !strings.Contains(body, "not-for-pages") {
		t.Errorf("with the secret: %d %s, want the table", status, body)
	}
	noCORS(t, "with the secret", header)
}

func noCORS(t *testing.T, at string, header http.Header) {
	t.Helper()
	if allowed := header.Get("Access-Control-Allow-Origin"); allowed != "" {
		t.Errorf("%s allows pages of %s", at, allowed)
	}
}

// callEngine sends a DynamoDB request as an SDK does.
func callEngine(t *testing.T, url, method, operation string, headers []string) (int, http.Header, string) {
	t.Helper()
	body := `{}`
	if operation == "Scan" {
		body = `{"TableName":"guidon"}`
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if operation != "" {
		req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
		req.Header.Set("X-Amz-Date", time.Now().UTC().Format("20060102T150405Z"))
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
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

// processTree returns a process and its descendants.
func processTree(t *testing.T, pid int) []int {
	t.Helper()
	tree := []int{pid}
	children, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range children {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // a thread that has ended
		}
		for _, child := range strings.Fields(string(raw)) {
			id, err := strconv.Atoi(child)
			if err != nil {
				t.Fatal(err)
			}
			tree = append(tree, processTree(t, id)...)
		}
	}
	return tree
}

// listening returns the TCP addresses that processes listen on.
func listening(t *testing.T, pids []int) (addresses []string) {
	t.Helper()
	sockets := map[string]bool{}
	for _, pid := range pids {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if err != nil || len(files) == 0 {
			t.Fatalf("the files of process %d: %v, %v", pid, files, err)
		}
		for _, file := range files {
			if target, err := os.Readlink(file); err == nil {
				sockets[target] = true
			}
		}
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		raw, err := os.ReadFile(table)
		if os.IsNotExist(err) {
			continue // no IPv6
		}
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
			const listens = "0A"
			fields := strings.Fields(lines.Text())
			if len(fields) < 10 || fields[3] != listens || !sockets["socket:["+fields[9]+"]"] {
				continue
			}
			_, hex, _ := strings.Cut(fields[1], ":")
			port, err := strconv.ParseUint(hex, 16, 16)
			if err != nil {
				t.Fatal(err)
			}
			addresses = append(addresses, net.JoinHostPort("127.0.0.1", strconv.FormatUint(port, 10)))
		}
	}
	return addresses
}
