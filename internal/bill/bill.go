// Package bill computes what a deployment costs on AWS, and what its hot partitions allow, for the pages cost.md and limits.md
// in docs/operations. Its test measures the units of DynamoDB that each operation takes with a real engine, and compares the
// results with the pages. This writes them to the pages:
//
//	go test ./internal/bill -run TestPages -update
//
//	prices.go          prices and assumptions
//	administration.go  the table of administration by developers
//	applications.go    the tables of applications
//	usage.go           the table of reports of usage
//	limits.go          hot partitions
//	page.go            the computed parts of the pages
//	meter_test.go      counts the units of calls, as AWS bills them
//	measure_test.go    sends the requests that are measured
package bill

// Units are read and write units of DynamoDB.
type Units struct{ Read, Write float64 }

// Plus adds units.
func (u Units) Plus(v Units) Units { return Units{u.Read + v.Read, u.Write + v.Write} }

// Times multiplies units.
func (u Units) Times(n float64) Units { return Units{u.Read * n, u.Write * n} }

// Measured has what was measured.
type Measured struct {
	// Requests of the administration. Flags have two environments, a strategy with a constraint in one of them, and a description.
	Read, List200, List1000, Create, Strategy, Describe Units

	// Change switches a flag off. It is the mean of many changes, of which each eighth reads the feed.
	Change Units

	// Requests of applications. Report has 50 flags, LargeReport 500.
	Poll, PollUnchanged, Evaluation, Report, LargeReport Units

	// Runs of scheduled functions without anything to do.
	Snapshot, Aggregate, Deliver Units

	// Runs of the aggregation with the reports of 10 and 100 instances, 50 flags each, with the second look at them ten minutes later;
	// and what the first run of an hour writes in addition.
	Added10, Added100, FirstOfHour Units

	// The part of an operation that is in one partition.
	Environments float64 // read with a flag
	Token        float64 // read with each request
	Feed         float64 // read with a poll
	List         float64 // read for a list of 1,000 flags
	Guarded      float64 // written in a project for a new flag
	SmallEvent   float64 // written to an index for a new strategy
	Event        float64 // written to an index for a switch

	ListBytes float64 // of a list, for each flag
}
