package engine_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"guidon/internal/engine"
)

// BenchmarkGuard compares requests to the engine through the guarded address with requests to the engine's own HTTP server,
// with eight concurrent callers.
//
//	go test ./internal/engine -run '^$' -bench Guard
func BenchmarkGuard(b *testing.B) {
	e, err := engine.Start(b.Context(), engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Stop()
	pooled := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	for _, server := range []struct{ name, url string }{{"direct", ownServer(b)}, {"guarded", e.URL()}} {
		post(b, pooled, server.url, "CreateTable", tableRequest("bench-"+server.name))
		post(b, pooled, server.url, "PutItem", `{"TableName":"bench-`+server.name+`","Item":{"pk":{"S":"read"},"doc":{"S":"`+strings.Repeat("x", 1500)+`"}}}`)
		b.Run("read/"+server.name, func(b *testing.B) {
			parallel(b, func(int64) {
				post(b, pooled, server.url, "BatchGetItem", `{"RequestItems":{"bench-`+server.name+`":{"ConsistentRead":true,"Keys":[{"pk":{"S":"read"}}]}}}`)
			})
		})
		b.Run("write/"+server.name, func(b *testing.B) {
			parallel(b, func(n int64) {
				item := func(kind string) string {
					return fmt.Sprintf(`{"Put":{"TableName":"bench-`+server.name+`","Item":{"pk":{"S":"%s-%d-%d"},"doc":{"S":"%s"}},"ConditionExpression":"attribute_not_exists(pk)"}}`,
						kind, time.Now().UnixNano(), n, strings.Repeat("x", 500))
				}
				post(b, pooled, server.url, "TransactWriteItems", `{"TransactItems":[`+item("a")+","+item("b")+","+item("c")+`]}`)
			})
		})
	}
}

func parallel(b *testing.B, do func(n int64)) {
	var n atomic.Int64
	b.SetParallelism(max(1, 8/runtime.GOMAXPROCS(0)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			do(n.Add(1))
		}
	})
}

// ownServer starts an engine with its own HTTP server, which Guidon does not use, and returns its address.
func ownServer(b *testing.B) string {
	b.Helper()
	binary, err := engine.Dynoxide(b.Context(), runtime.GOOS, runtime.GOARCH, io.Discard)
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	cmd := exec.Command(binary, "--port", port)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	url := "http://127.0.0.1:" + port
	for range 1000 {
		if response, err := http.Get(url); err == nil {
			_ = response.Body.Close()
			return url
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.Fatal("the engine does not serve")
	return ""
}

// post sends a request over one of eight open connections.
func post(b *testing.B, client *http.Client, url, operation, body string) {
	request, err := newRequest(b.Context(), url, operation, body)
	if err != nil {
		b.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		b.Error(err)
		return
	}
	defer response.Body.Close()
	if answer, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusOK {
		b.Errorf("%s: %d %s", operation, response.StatusCode, answer)
	}
}
