package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// A counter passes requests to a DynamoDB, and counts them and the units that AWS would bill.
type counter struct {
	next http.Handler

	mu          sync.Mutex
	calls       map[string]int
	read, write float64
}

func (c *counter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls, c.read, c.write = map[string]int{}, 0, 0
}

// String lists the calls.
func (c *counter) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	for _, operation := range slices.Sorted(maps.Keys(c.calls)) {
		parts = append(parts, fmt.Sprintf("%d %s", c.calls[operation], operation))
	}
	return strings.Join(parts, ", ")
}

func (c *counter) units() (read, write float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read, c.write
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	c.next.ServeHTTP(answer, r)
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	read, write := unitsOf(operation, body, answer.Body.Bytes())
	c.mu.Lock()
	if c.calls == nil {
		c.calls = map[string]int{}
	}
	c.calls[operation]++
	c.read, c.write = c.read+read, c.write+write
	c.mu.Unlock()
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// An attributes is an item as DynamoDB sends it.
type attributes map[string]any

// unitsOf returns the read and write units of a call, as far as they follow from its items. Transactions and updates, whose
// items it does not have, count as one unit.
func unitsOf(operation string, request, response []byte) (read, write float64) {
	switch operation {
	case "BatchGetItem":
		var in struct {
			RequestItems map[string]struct {
				Keys           []attributes
				ConsistentRead bool
			}
		}
		var out struct{ Responses map[string][]attributes }
		_, _ = json.Unmarshal(request, &in), json.Unmarshal(response, &out)
		for table, asked := range in.RequestItems {
			found := out.Responses[table]
			units := float64(len(asked.Keys) - len(found)) // a missing item costs one, too
			for _, item := range found {
				units += math.Ceil(float64(item.size()) / 4096)
			}
			read += consistent(units, asked.ConsistentRead)
		}
	case "Query", "GetItem":
		var in struct{ ConsistentRead bool }
		var out struct {
			Items []attributes
			Item  attributes
		}
		_, _ = json.Unmarshal(request, &in), json.Unmarshal(response, &out)
		size := out.Item.size()
		for _, item := range out.Items {
			size += item.size()
		}
		read = consistent(max(1, math.Ceil(float64(size)/4096)), in.ConsistentRead)
	case "PutItem":
		var in struct{ Item attributes }
		_ = json.Unmarshal(request, &in)
		write = math.Ceil(float64(in.Item.size()) / 1024)
	default:
		write = 1
	}
	return read, write
}

func consistent(units float64, is bool) float64 {
	if is {
		return units
	}
	return units / 2
}

// size is about the size of the item in DynamoDB.
func (a attributes) size() (size int) {
	for name, value := range a {
		size += len(name) + sizeOfValue(value)
	}
	return size
}

func sizeOfValue(value any) (size int) {
	typed, _ := value.(map[string]any)
	for kind, content := range typed {
		switch content := content.(type) {
		case string:
			switch kind {
			case "N":
				size += len(content)/2 + 1
			case "B":
				size += base64.StdEncoding.DecodedLen(len(content))
			default:
				size += len(content)
			}
		case []any:
			size += 3
			for _, element := range content {
				size += 1 + sizeOfValue(element)
			}
		case map[string]any:
			size += 3
			for name, element := range content {
				size += 1 + len(name) + sizeOfValue(element)
			}
		default:
			size++
		}
	}
	return size
}
