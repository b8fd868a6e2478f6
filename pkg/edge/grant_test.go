package edge

import (
	"testing"

	"guidon/pkg/access"
)

// TestUpstreamTypes checks that Edge knows the types of tokens by each name that an upstream uses.
func TestUpstreamTypes(t *testing.T) {
	for name, want := range map[string]access.TokenType{
		"client": access.ClientToken, "CLIENT": access.ClientToken, "backend": access.ClientToken, "Backend": access.ClientToken,
		"frontend": access.FrontendToken, "admin": access.AdminToken,
	} {
		if g := (validToken{Token: "*:development.secret", Type: name}).grant(); g == nil || g.kind != want {
			t.Errorf("the type %s gives %+v, want a grant of a %s token", name, g, want)
		}
	}
}
