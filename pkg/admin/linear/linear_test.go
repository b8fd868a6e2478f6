package linear

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"

	"guidon/pkg/dynamo/dynamotest"
)

// TestLinearizable checks that all histories of operations on flags are linearizable.
func TestLinearizable(t *testing.T) { histories(t, flagWork) }

// TestSegmentsLinearizable checks the same for segments and the strategies that use them.
func TestSegmentsLinearizable(t *testing.T) { histories(t, segmentWork) }

func histories(t *testing.T, of *workload) {
	seeds, operations := uint64(2), 60
	if dynamotest.Long() {
		seeds, operations = 25, 250
	}
	var unknown atomic.Int64
	t.Cleanup(func() {
		if unknown.Load() == 0 {
			t.Error("every operation had a response, so this run has tested nothing about lost responses")
		}
	})
	for _, loss := range []float64{0, 0.15, 0.6} {
		for seed := range seeds {
			t.Run(fmt.Sprintf("loss %g seed %d", loss, seed), func(t *testing.T) {
				t.Parallel()
				s := setup{seed: seed, loss: loss, each: operations, of: of}
				if seed%2 == 1 {
					s.restarts = 4
				}
				w := run(t, s)
				if verdict := w.verdict(t); verdict != porcupine.Ok {
					t.Errorf("the history is %s, want it to be linearizable", verdict)
				}
				for _, problem := range w.problems {
					t.Error(problem)
				}
				w.checkCoverage(t)
				unknown.Add(int64(w.unknown))
			})
		}
	}
}

// verdict checks the history.
func (w *world) verdict(t *testing.T) porcupine.CheckResult {
	verdict := porcupine.CheckOperationsTimeout(w.of.model, w.history, checkTimeout)
	t.Logf("%s: %d operations, %d of them of unknown effect; faults %v, calls %v", verdict, w.operations, w.unknown, w.faults.Injected(), w.faults.Calls())
	return verdict
}

// checkCoverage checks that the history has enough operations and every kind of fault.
func (w *world) checkCoverage(t *testing.T) {
	t.Helper()
	if least := clients * w.each; w.operations < least {
		t.Errorf("%d operations, want at least %d", w.operations, least)
	}
	raised := w.faults.Injected()
	want := []dynamotest.Fault{dynamotest.Conflict, dynamotest.DeliverTwice}
	if w.loss > 0 {
		want = append(want, dynamotest.DropRequest, dynamotest.LoseResponse, dynamotest.DeliverLate)
	}
	for _, fault := range want {
		if raised[fault] == 0 {
			t.Errorf("there was no %s, so this run has tested nothing about it", fault)
		}
	}
}

// TestHarness breaks the store in seven ways. The checker must find each within eight histories.
func TestHarness(t *testing.T) {
	const seeds = 8
	for _, fault := range slices.Sorted(maps.Keys(sabotages)) {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(seeds) {
				of, each := sabotages[fault].work()
				w := run(t, setup{seed: seed, loss: 0.4, each: each, restarts: 8, of: of, sabotage: sabotages[fault].before})
				if w.verdict(t) == porcupine.Illegal {
					t.Logf("found in history %d", seed+1)
					return
				}
			}
			t.Errorf("%d histories of a store with %s were all linearizable, want one that is not", seeds, fault)
		})
	}
}
