package serving

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"guidon/pkg/dynamo/dynamotest"
)

// TestNewerThanTheFeed makes changes between the read of the feed and the load of the flag that it names: a segment gets other
// constraints, and only then the flag that uses it is switched on. No state may have the flag on with the segment as it was.
func TestNewerThanTheFeed(t *testing.T) {
	a := administer(t)
	a.flag("f")
	segment := a.segment("")
	a.do("POST", in("f", "development")+"/strategies", fmt.Sprintf(`{"name": "default", "segments": [%d]}`, segment))
	var batches, between atomic.Int64
	var warm atomic.Bool
	faults := &dynamotest.Faults{}
	faults.OnRequest = func(operation string, _ []byte) {
		if operation == "BatchGetItem" && batches.Add(1) == 2 && warm.Load() {
			between.Add(1)
			a.do("PUT", fmt.Sprintf("/api/admin/segments/%d", segment),
				`{"name": "segment", "constraints": [{"contextName": "userId", "operator": "IN", "values": ["only-this-one"]}]}`)
			a.do("POST", in("f", "development")+"/on", "")
		}
	}
	r := NewReader(a.another(faults), ReaderOptions{})
	mustRead(t, r)
	a.do("PATCH", features+"/f", `[{"op": "replace", "path": "/description", "value": "changed"}]`)
	batches.Store(0)
	warm.Store(true)
	state := mustRead(t, r)
	if between.Load() == 0 {
		t.Fatal("nothing was changed between the two reads")
	}
	f := state.Flags["f"]
	if values := state.Segments[segment].Constraints[0].Values; f.Environments["development"].EnabledIn != "" && values[0] != "only-this-one" {
		t.Errorf("the flag is on with the segment as it was: %v", values)
	}
	if batches.Load() > 4 {
		t.Errorf("%d calls", batches.Load())
	}
}

// TestBusyFeed reads with slow calls while others change flags all the time. A read must not wait until they pause.
func TestBusyFeed(t *testing.T) {
	a := administer(t)
	r := NewReader(a.another(&dynamotest.Faults{Delay: 30 * time.Millisecond}), ReaderOptions{})
	for i := range 8 {
		a.flag(fmt.Sprintf("f%d", i))
	}
	mustRead(t, r)
	var changing sync.WaitGroup
	defer changing.Wait()
	halt := make(chan struct{})
	defer close(halt)
	for i := range 8 {
		changing.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-halt:
					return
				default:
					a.do("PATCH", fmt.Sprintf("%s/f%d", features, i), fmt.Sprintf(`[{"op": "replace", "path": "/description", "value": "%d"}]`, n))
				}
			}
		})
	}
	for range 3 {
		began := time.Now()
		mustRead(t, r)
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("a read took %v", took)
		}
	}
}
