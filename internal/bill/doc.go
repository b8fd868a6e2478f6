// Package bill computes tables of the README and of pages in docs: what a deployment costs on AWS, what a caller who means harm can cost in
// a day, and what the hot partitions allow. Its test measures the units of DynamoDB that each operation takes with a real engine, and compares
// the tables with the pages. Prices and assumptions are in prices_test.go.
package bill
