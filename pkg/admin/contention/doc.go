// Package contention measures many writers who change flags at the same time, under AWS's conditions: each has a store and
// handlers of its own, as each instance of a function does, and calls take as long as those of DynamoDB, which cancels
// transactions that overlap. See docs/performance/contention.md.
package contention
