// Package linear tests that applications read every change at once, on any instance. Writers change flags through the
// administration, while clients read through three instances: processes of their own over one table, with a network that loses
// answers. Meanwhile instances are frozen and killed, snapshots deleted and damaged, and the feed is reset.
//
//	register_test.go       what a read may show: the rules
//	flags_test.go          the writers of flags; others_test.go: of segments, environments, tokens and many flags at once
//	clients_test.go        the clients that poll; delta_test.go: those that apply deltas
//	instance_test.go       a process that serves; chaos_test.go: what happens to it
//	deployment_test.go     versions that replace each other while many applications poll
//	torn_test.go           a network that applies a transaction in two parts, as DynamoDB does
package linear
