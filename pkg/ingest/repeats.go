package ingest

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"guidon/pkg/usage"
)

// A report that counts nothing says which instances there are, such as a registration. For usage.ReportInterval the same report changes
// nothing. It is not stored again for a minute, so that an application that is deleted and registers again is back soon.
const repeatedFor = time.Minute

// maxRepeats is how many reports are remembered.
const maxRepeats = 10_000

// repeats remembers the reports without counts that were stored.
type repeats struct {
	mu     sync.Mutex
	stored map[[sha256.Size]byte]time.Time
}

// repeated reports whether what a post says was stored a short time before.
func (r *repeats) repeated(post *usage.Post) bool {
	if len(post.Counts) > 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	age := post.At.Sub(r.stored[contentOf(post)])
	return age >= 0 && age < repeatedFor
}

// note notes that a post was stored.
func (r *repeats) note(post *usage.Post) {
	if len(post.Counts) > 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stored == nil || len(r.stored) >= maxRepeats {
		r.stored = map[[sha256.Size]byte]time.Time{}
	}
	r.stored[contentOf(post)] = post.At
}

// contentOf returns a hash of who sent a post, and of what it says about instances. When they started is not stored.
func contentOf(post *usage.Post) [sha256.Size]byte {
	instances := slices.Clone(post.Instances)
	for i := range instances {
		instances[i].Started = time.Time{}
	}
	content, _ := json.Marshal([]any{post.TokenHash, post.Projects, instances}) // texts and booleans: it never fails
	return sha256.Sum256(content)
}
