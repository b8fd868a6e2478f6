package edge

import (
	"crypto/sha256"
	"strings"
	"sync/atomic"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/answers"
)

// A hash is the SHA-256 of a secret, by which Edge knows tokens.
type hash = [sha256.Size]byte

func hashOf(secret string) hash { return sha256.Sum256([]byte(secret)) }

// A grant is what a valid token may read.
type grant struct {
	hash        hash
	ticket      string                 // of its event stream
	secret      atomic.Pointer[string] // nil after a restart, until an application sends it
	kind        access.TokenType
	environment string
	projects    []string
	scope       answers.Scope
	fixed       bool         // of the settings: it is not validated
	used        atomic.Int64 // when it was last used, in Unix seconds

	// checked is when the upstream last said that it is valid. It has the monotonic clock, so a jump of the other one changes nothing.
	checked atomic.Pointer[time.Time]

	source atomic.Pointer[source] // that has its flags
	tags   [4]atomic.Pointer[tagged]
}

// A tagged is the ETag of a token's flags in a state, for one version of the client specification: most polls need nothing else.
type tagged struct {
	state  *state
	spec   string
	header []string // the ETag
}

func newGrant(secret string, kind access.TokenType, projects []string, environment string) *grant {
	g := &grant{kind: kind, environment: environment, projects: projects, scope: scopeOf(projects, environment)}
	g.identify(hashOf(secret))
	g.secret.Store(&secret)
	g.confirm(0)
	g.used.Store(time.Now().Unix())
	return g
}

func (g *grant) identify(token hash) { g.hash, g.ticket = token, ticketOf(token) }

// confirm notes that the upstream said some time ago that the token is valid.
func (g *grant) confirm(ago time.Duration) {
	at := time.Now().Add(-ago)
	g.checked.Store(&at)
}

// parseSecret returns the projects and the environment that the text of a secret names: project:environment.secret, with *: for all
// projects and []: for several ones, which it does not name.
func parseSecret(secret string) (projects []string, environment string, ok bool) {
	project, rest, found := strings.Cut(secret, ":")
	environment, key, found2 := strings.Cut(rest, ".")
	if !found || !found2 || project == "" || environment == "" || key == "" || len(secret) > 512 {
		return nil, "", false
	}
	if project != "[]" {
		projects = []string{project}
	}
	return projects, environment, true
}

// dependsOn reports whether the flags of a token come with one of these upstream tokens.
func (g *grant) dependsOn(upstreamTokens map[string]bool) bool {
	s := g.source.Load()
	return s != nil && upstreamTokens[s.token]
}

// same reports whether two grants allow the same.
func (g *grant) same(other *grant) bool {
	return g.kind == other.kind && g.environment == other.environment && strings.Join(g.projects, ",") == strings.Join(other.projects, ",")
}
