// Package dynoxide serves the HTTP API of DynamoDB by calling the engine dynoxide over its standard input and output.
//
// The engine's own HTTP server checks no signatures and allows requests from any web page (CORS), so `guidon serve` does not use
// it, although it is faster. As an MCP server (`dynoxide mcp`) the engine opens no port: only its parent can call it. MCP messages are JSON-RPC,
// one per line.
package dynoxide

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// protocolVersion is the version of MCP that the client speaks.
const protocolVersion = "2025-06-18"

// ErrEnded means that the engine ended before it answered a call. The call may have been applied.
var ErrEnded = errors.New("the DynamoDB engine has ended")

// A Client calls a running engine. It is an http.Handler and may be used by several goroutines.
type Client struct {
	lines chan []byte
	ended chan struct{} // closed when the output of the engine ends

	mu      sync.Mutex
	last    int64 // id of the last call
	waiting map[int64]chan answer
}

// A call is a JSON-RPC request; one without an id is a notification.
type call struct {
	Version string `json:"jsonrpc"`
	ID      int64  `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

// An answer is a JSON-RPC response. Result is the result of the called tool.
type answer struct {
	ID     int64 `json:"id"`
	Result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	} `json:"result"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// NewClient returns a client when the engine behind stdin and stdout answers. The engine ends when its input is closed;
// the client closes both when the engine has ended.
func NewClient(ctx context.Context, stdin io.WriteCloser, stdout io.ReadCloser) (*Client, error) {
	c := &Client{lines: make(chan []byte), ended: make(chan struct{}), waiting: map[int64]chan answer{}}
	go c.write(stdin)
	go c.read(stdout)
	_, err := c.call(ctx, "initialize", map[string]any{
		"protocolVersion": protocolVersion, "capabilities": struct{}{}, "clientInfo": map[string]string{"name": "guidon", "version": "1"},
	})
	if err != nil {
		return nil, err
	}
	return c, c.send(ctx, call{Version: "2.0", Method: "notifications/initialized"})
}

// write sends lines to the engine. A stopped engine blocks the writer when the pipe is full, so callers do not write.
func (c *Client) write(stdin io.WriteCloser) {
	defer stdin.Close()
	for {
		select {
		case line := <-c.lines:
			if _, err := stdin.Write(line); err != nil {
				return // the engine has ended, and read returns too
			}
		case <-c.ended:
			return
		}
	}
}

// read passes each answer to its call. It drops the answers to calls that were given up.
func (c *Client) read(stdout io.ReadCloser) {
	defer close(c.ended)
	defer stdout.Close()
	lines := bufio.NewReaderSize(stdout, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var a answer
		if json.Unmarshal(line, &a) != nil {
			continue // not a message
		}
		c.mu.Lock()
		waiting := c.waiting[a.ID]
		delete(c.waiting, a.ID)
		c.mu.Unlock()
		if waiting != nil {
			waiting <- a
		}
	}
}

func (c *Client) send(ctx context.Context, request call) error {
	line, err := json.Marshal(request)
	if err != nil {
		return err
	}
	select {
	case c.lines <- append(line, '\n'):
		return nil
	case <-c.ended:
		return ErrEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// call sends a request and waits for its answer. It fails if the answer does not come, or if the engine does not
// understand the request.
func (c *Client) call(ctx context.Context, method string, params any) (answer, error) {
	waiting := make(chan answer, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.waiting[id] = waiting
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()

	if err := c.send(ctx, call{Version: "2.0", ID: id, Method: method, Params: params}); err != nil {
		return answer{}, err
	}
	select {
	case a := <-waiting:
		if a.Error != nil {
			return answer{}, fmt.Errorf("%w: %s", errNotUnderstood, a.Error.Message)
		}
		return a, nil
	case <-c.ended:
		return answer{}, ErrEnded
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
}

var errNotUnderstood = errors.New("the DynamoDB engine did not understand the request")
