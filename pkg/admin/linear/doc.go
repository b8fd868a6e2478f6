// Package linear tests that the API is linearizable. Several clients call it in parallel, over a network that loses and repeats
// requests, with an engine that restarts. A checker then decides whether all responses fit one order of operations, in which
// each takes effect between its request and its response. history_test.go records the histories, model_test.go says which
// responses are legal, and sabotage_test.go breaks the store on purpose to check that the tests find it.
package linear
