package ingest

import (
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

// read decodes and checks a body, and adds what it reports to a post.
func read[B body](text []byte, post *usage.Post, from *sender) error {
	var b B
	if err := jsonbody.DecodeStrict(text, &b); err != nil {
		return err
	}
	var problems flags.Problems
	if b.check(&problems); problems.Err() != nil {
		return problems.Err()
	}
	b.addTo(post, from)
	return nil
}
