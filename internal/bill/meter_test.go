package bill

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"

	"guidon/internal/capacity"
)

// A meter passes the calls of a store to the engine, and counts what AWS would bill for them. The units follow from the sizes
// of the items, not from what the engine says, so that they are the same with each engine.
//
//   - A consistent read takes a unit for each 4 KB of an item, or of all items of a page of a query; another one half of that.
//     An item that does not exist takes one, too.
//   - A write takes a unit for each KB of the item, before or after it, whichever is larger; in a transaction two.
//   - An item that is in an index takes a unit there for each KB.
type meter struct {
	mu     sync.Mutex
	on     bool
	total  Units
	parts  map[string]Units // by the part of the partition key before #
	index  float64          // written to one index
	query  float64          // read by queries
	bytes  int              // of the items that queries read
	failed error            // a call that the meter cannot count
}

// Operations of DynamoDB.
const (
	batchGet = "BatchGetItem"
	query    = "Query"
	transact = "TransactWriteItems"
)

// during returns what the calls that f makes are billed for.
func (m *meter) during(f func()) (Units, error) {
	m.mu.Lock()
	m.on, m.total, m.index, m.query, m.bytes, m.parts = true, Units{}, 0, 0, 0, map[string]Units{}
	m.mu.Unlock()
	f()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.on = false
	return m.total, m.failed
}

// RoundTrip sends a call. Around it, it reads the items that the call writes.
func (m *meter) RoundTrip(r *http.Request) (*http.Response, error) {
	m.mu.Lock() // one call at a time, so that no other one writes the items
	defer m.mu.Unlock()
	if !m.on {
		return http.DefaultTransport.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	sent := r.Clone(r.Context())
	sent.Body = io.NopCloser(bytes.NewReader(body))
	var c call
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, err
	}
	before, err := m.load(r, c.written())
	if err != nil {
		m.failed = err
	}
	response, err := http.DefaultTransport.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(answer))
	if response.StatusCode != http.StatusOK {
		m.failed = fmt.Errorf("%s: %s", operation, answer)
		return response, nil
	}
	if err := m.count(r, operation, body, c, before, answer); err != nil {
		m.failed = err
	}
	return response, nil
}

type item = capacity.Item

// A call has the fields of the calls of the store that the meter needs.
type call struct {
	RequestItems map[string]struct {
		Keys           []item
		ConsistentRead bool
	}
	TableName      string
	ConsistentRead bool
	Item, Key      item
	TransactItems  []map[string]struct {
		TableName string
		Item, Key item
	}
	FilterExpression string
}

// A written is an item that a call writes.
type written struct {
	table string
	key   item
}

func (c call) written() (list []written) {
	add := func(table string, attributes item) {
		list = append(list, written{table, item{"pk": attributes["pk"], "sk": attributes["sk"]}})
	}
	for _, action := range c.TransactItems {
		for _, a := range action { // one
			if a.Item != nil {
				add(a.TableName, a.Item)
			} else {
				add(a.TableName, a.Key)
			}
		}
	}
	if c.Item != nil {
		add(c.TableName, c.Item)
	} else if c.Key != nil {
		add(c.TableName, c.Key)
	}
	return list
}

// count adds the units of a call that was made.
func (m *meter) count(r *http.Request, operation string, body []byte, c call, before []item, answer []byte) error {
	switch operation {
	case batchGet:
		return m.countBatch(c, answer)
	case query:
		return m.countQuery(r, body, c)
	case transact, "PutItem", "UpdateItem", "DeleteItem":
		after, err := m.load(r, c.written())
		times := 1.0
		if operation == transact {
			times = 2
		}
		for i := range after {
			larger := max(before[i].Size(), after[i].Size())
			units := times * math.Ceil(float64(larger)/1024)
			for _, index := range []string{"log", "project"} {
				if after[i][index] != nil && after[i]["id"] != nil {
					m.index = math.Ceil(float64(larger) / 1024)
					units += m.index
				}
			}
			m.add(c.written()[i].key, Units{Write: units})
		}
		return err
	}
	return fmt.Errorf("the meter cannot count %s", operation)
}

func (m *meter) countBatch(c call, answer []byte) error {
	var out struct{ Responses map[string][]item }
	if err := json.Unmarshal(answer, &out); err != nil {
		return err
	}
	for table, asked := range c.RequestItems {
		size := map[string]int{}
		for _, found := range out.Responses[table] {
			size[keyOf(found)] = found.Size()
		}
		for _, key := range asked.Keys {
			m.add(key, Units{Read: capacity.Read(size[keyOf(key)], asked.ConsistentRead)})
		}
	}
	return nil
}

// countQuery sends the query again without a projection: the whole items are billed.
func (m *meter) countQuery(r *http.Request, body []byte, c call) error {
	if c.FilterExpression != "" {
		return fmt.Errorf("the meter cannot count a query with a filter")
	}
	whole := map[string]any{}
	if err := json.Unmarshal(body, &whole); err != nil {
		return err
	}
	delete(whole, "ProjectionExpression")
	condition, _ := whole["KeyConditionExpression"].(string)
	names, _ := whole["ExpressionAttributeNames"].(map[string]any)
	for name := range names {
		if !strings.Contains(condition, name) {
			delete(names, name)
		}
	}
	if len(names) == 0 {
		delete(whole, "ExpressionAttributeNames")
	}
	var out struct{ Items []item }
	if err := m.send(r, query, whole, &out); err != nil {
		return err
	}
	size := 0
	for _, i := range out.Items {
		size += i.Size()
	}
	m.bytes += size
	units := capacity.Read(size, c.ConsistentRead)
	m.query += units
	m.total.Read += units
	return nil
}

// add adds the units of an item.
func (m *meter) add(key item, units Units) {
	m.total = m.total.Plus(units)
	kind, _, _ := strings.Cut(fmt.Sprint(key["pk"]["S"]), "#")
	m.parts[kind] = m.parts[kind].Plus(units)
}

// load reads items from the engine, past the count.
func (m *meter) load(r *http.Request, list []written) ([]item, error) {
	items := make([]item, len(list))
	for i, w := range list {
		var out struct{ Item item }
		in := map[string]any{"TableName": w.table, "Key": w.key, "ConsistentRead": true}
		if err := m.send(r, "GetItem", in, &out); err != nil {
			return items, err
		}
		items[i] = out.Item
	}
	return items, nil
}

// send makes a call of the meter's own, like the call r.
func (m *meter) send(r *http.Request, operation string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	own, err := http.NewRequestWithContext(r.Context(), http.MethodPost, r.URL.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	for _, name := range []string{"Authorization", "Content-Type", "X-Amz-Date"} {
		own.Header.Set(name, r.Header.Get(name))
	}
	own.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	response, err := http.DefaultTransport.RoundTrip(own)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s of the meter: %d %s %w", operation, response.StatusCode, answer, err)
	}
	return json.Unmarshal(answer, out)
}

// keyOf is the partition key and the sort key.
func keyOf(i item) string { return fmt.Sprint(i["pk"]["S"], " ", i["sk"]["S"]) }
