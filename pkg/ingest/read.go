package ingest

import (
	"slices"

	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
	"guidon/pkg/usage"
)

// A Kind is a form in which usage is reported.
type Kind int

// The kinds.
const (
	Registration Kind = iota
	Metrics
	Bulk
)

// A Sender is who reports usage.
type Sender struct {
	Environment string // that of everything it reports, except of instances in bulk; "" for what the body says
	Address     string // IP address
	SDK         string // header Unleash-Sdk
}

// Read reads a body by the rules of the operation that takes it, for a program that passes on what applications report (pkg/edge). The
// post has only instances and counts.
func Read(kind Kind, text []byte, from Sender) (*usage.Post, error) {
	s := &sender{environment: from.Environment, address: from.Address, sdk: from.SDK}
	post := &usage.Post{}
	switch kind {
	case Registration:
		return post, read[registerBody](text, post, s)
	case Metrics:
		return post, read[metricsBody](text, post, s)
	}
	return post, read[bulkBody](text, post, s)
}

// read adds what a body reports to a post. It leaves out what it cannot read, and returns an error if there is something that it cannot
// read and nothing that counts.
func read[B body](text []byte, post *usage.Post, from *sender) error {
	var b B
	left, err := jsonbody.DecodeLenient(text, &b)
	if err != nil {
		return err
	}
	var problems flags.Problems
	if b.check(&problems); problems.Err() != nil {
		return append(left, problems...).Err()
	}
	b.addTo(post, from, &left)
	if len(post.Counts) > 0 || slices.ContainsFunc(post.Instances, func(i usage.PostInstance) bool { return i.Registered }) {
		return nil
	}
	return slices.DeleteFunc(left, ofInstance).Err()
}

// ofInstance reports whether a problem is one of the instance that reports: its counts, or that there are none, still count.
func ofInstance(problem flags.Detail) bool {
	return problem.Path == "/instanceId" || problem.Path == "/environment" || problem.Path == "/sdkVersion"
}
