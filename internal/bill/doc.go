// Package bill computes the tables of the pages cost.md and limits.md in docs/operations: what a deployment costs on AWS, and what
// its hot partitions allow. Its test measures the units of DynamoDB that each operation takes with a real engine, and compares
// the tables with the pages. Prices and assumptions are in prices_test.go.
package bill
