// Package linear holds tests alone: many callers use the HTTP interface at once, over a network that loses and repeats
// what is sent and an engine that restarts, and a checker finds out whether everything that they were told fits one order
// of whole operations, each between its call and its answer. history_test.go makes the histories, model_test.go says what
// is legal, and sabotage_test.go breaks the store on purpose, to see that the checker tells.
package linear
