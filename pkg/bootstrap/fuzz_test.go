package bootstrap_test

import (
	"strings"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/bootstrap"
)

// FuzzToken parses arbitrary tokens: none gets more access than its scope says, and no error contains a secret.
func FuzzToken(f *testing.F) {
	f.Fuzz(func(t *testing.T, secret string) {
		for _, kind := range []access.TokenType{access.AdminToken, access.ClientToken, access.FrontendToken} {
			token, err := bootstrap.ParseToken(kind, secret)
			if err != nil {
				_, random, _ := strings.Cut(secret, ".")
				if len(random) > 40 && !strings.Contains(random, ":") && strings.Contains(err.Error(), random) {
					t.Errorf("%q: %v shows the secret", secret, err)
				}
				continue
			}
			scope := strings.Join(token.Projects, "") + ":" + token.Environment + "."
			if token.Secret != secret || len(token.Projects) > 1 || !strings.HasPrefix(secret, scope) && !strings.HasPrefix(secret, "[]"+scope) {
				t.Errorf("%q is read as %+v", secret, token)
			}
			if kind == access.AdminToken && !strings.HasPrefix(secret, "*:*.") {
				t.Errorf("%q is an admin token", secret)
			}
		}
	})
}
