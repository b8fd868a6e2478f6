// Package overload simulates a stage that gets more polls than the partition of the feed can serve, in virtual time.
//
// What is simulated: the partition with DynamoDB's limits and latencies, Lambda's instances, and SDKs that poll and retry as their
// sources say (sdks_test.go). What is real: which attempts are repeated, and when, is decided by the retryer of pkg/dynamo with the bounds of
// pkg/backoff, and Retry-After comes from there too.
//
// Everything happens in steps of a millisecond, and a seed always gives the same result. To save time, every tenth SDK is simulated, with
// a tenth of the limits; the results are those of the whole.
package overload
