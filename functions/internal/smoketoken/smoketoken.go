// Package smoketoken has the tokens with which the hook of deployments (functions/smoke) calls new versions. The function bootstrap
// creates them. They may only read.
package smoketoken

import "guidon/pkg/access"

// Min is how many random characters the secret has at least.
const Min = 32

// Of returns the token of a kind: a client token, a frontend token, or the personal token of a viewer. secret is random, and in
// Secrets Manager.
func Of(kind access.TokenType, secret string) string {
	digits := access.HashSecret("guidon smoke " + string(kind) + " " + secret)
	if kind == access.PersonalToken {
		return "user:" + digits
	}
	return "*:development." + digits
}
