// Package contention measures many writers who change flags at the same time, under AWS's conditions: each has a store and
// handlers of its own, as each instance of a function does, and calls take as long as those of DynamoDB, which cancels
// transactions that overlap. docs/performance.md has the figures.
//
// They are behind two choices. A project has 16 guards: with one, 52 instead of 68 flags are created in a second. The feed is one item:
// four would allow 248 changes a second instead of 72, but a poll would read four units, and could see a later change without an
// earlier one, since reading several items is no snapshot.
package contention
