package httpapi

import (
	"net/http"
	"sync"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/session"
)

// CallersFavorites stands for the favorites of the caller in Operation.Ahead.
var CallersFavorites = flags.FavoritesKey("")

// An owners remembers the tokens and sessions that were valid in this process, with the key of their owner's favorites. So favorites
// can be loaded with the token, which has the owner's name.
//
// It also knows when invalid ones come, or tokens of applications, which are public in web pages. A token is loaded together with all that the operation reads, which can be a flag of 400 KB.
// For distrustFor after an invalid one, those that were never valid here are loaded alone first: guessing costs one unit a request, and
// other callers at most one more call each.
type owners struct {
	mu         sync.Mutex
	of         map[string]string // by the hash of the token or session
	distrusted time.Time         // until when
}

const distrustFor = time.Minute

func (o *owners) remember(hash, owner string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil || len(o.of) >= maxTouched {
		o.of = map[string]string{}
	}
	o.of[hash] = owner
}

func (o *owners) distrust(hash string, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.of, hash)
	o.distrusted = now.Add(distrustFor)
}

// find returns the owner, "" if it is not known, and whether the token or session is to be loaded first.
func (o *owners) find(hash string, now time.Time) (owner string, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	owner, known := o.of[hash]
	return owner, !known && now.Before(o.distrusted)
}

// claimOf is the hash of the session or token of a request; "" without one.
func claimOf(r *http.Request, claim *session.Claim) string {
	if claim != nil {
		return claim.Hash()
	}
	if secret := Secret(r); secret != "" {
		return access.HashSecret(secret)
	}
	return ""
}
