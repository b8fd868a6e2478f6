package httpapi

import (
	"net/http"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

// authenticate finds out who calls. What a session needs was loaded with the operation's own reads. A personal token costs one more call: for the user, the roles, and what else the place
// needs to decide what a user may do.
func (tx *Tx) authenticate() error {
	s, req := tx.service, tx.request
	if !s.needsToken(req.op) {
		tx.Caller = access.Caller{Name: "admin", Admin: true}
		return nil
	}
	if req.session != nil {
		caller, err := s.config.Authenticate(req.session, req.http, tx.round.view, tx.Now)
		if err != nil {
			return err
		}
		tx.Caller = caller
		if place, ok := req.place.(placeOfMore); ok {
			tx.Load(place.MoreKeys(tx)...)
		}
		return nil
	}
	var token *access.Token
	if secret := Secret(req.http); secret != "" {
		hash := access.HashSecret(secret)
		token = flags.Find[*access.Token](tx.round.view, access.TokenKey(hash))
		if token != nil && !token.HasHash(hash) {
			token = nil // found under a hash that is not its own: an item that was written past Guidon gives no access
		}
	}
	caller, err := access.Authenticate(token, tx.Now)
	if err != nil {
		return err
	}
	tx.Caller = caller
	s.uses.Touch(tx.ctx, flags.Find[*access.TokenUse](tx.round.view, access.TokenUseKey(token.Hash)), &access.TokenUse{Hash: token.Hash, At: tx.Now})
	if token.Type != access.PersonalToken {
		return nil
	}
	keys := []flags.Key{access.UserKey(token.User), access.RolesKey()}
	if place, ok := req.place.(placeOfMore); ok {
		keys = append(keys, place.MoreKeys(tx)...)
	}
	tx.Load(keys...)
	tx.Caller, err = access.AuthenticateUser(token,
		flags.Find[*access.User](tx.round.view, access.UserKey(token.User)), flags.Find[*access.Roles](tx.round.view, access.RolesKey()))
	return err
}

// Secret returns the token of the request, with or without "Bearer".
func Secret(r *http.Request) string {
	header := strings.TrimSpace(r.Header.Get("Authorization"))
	if scheme, rest, found := strings.Cut(header, " "); found && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(rest)
	}
	return header
}

func (s *service) needsToken(op *Operation) bool { return op.Permission != "" && !s.config.Open }
