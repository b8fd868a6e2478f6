package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

// anyone is the caller of a service that needs no token, and of public operations.
var anyone = access.Caller{Name: "admin", Admin: true}

// authenticate finds out who calls. The token or session was loaded with the operation's own reads. A personal token costs one
// more call: for the user, the roles, and what else the place needs to decide what a user may do. A session needs that call only
// for a place that has MoreKeys.
func (tx *Tx) authenticate() error {
	s, req := tx.service, tx.request
	if !s.needsToken(req.op) {
		tx.Caller = anyone
		if req.op.Permission != "" {
			return s.checkOpenChange(req.http)
		}
		return nil
	}
	caller, token, err := tx.credential()
	if err != nil {
		return err
	}
	tx.Caller = caller
	var keys []flags.Key
	personal := token != nil && token.Type == access.PersonalToken
	if personal {
		keys = []flags.Key{access.UserKey(token.User), access.RolesKey()}
		if slices.Contains(req.op.Ahead, CallersFavorites) {
			keys = append(keys, flags.FavoritesKey(access.Caller{User: &access.User{ID: token.User}}.FavoritesKey()))
		}
	}
	if token != nil {
		s.uses.Touch(tx.ctx, flags.Find[*access.TokenUse](tx.round.view, access.TokenUseKey(token.Hash)), &access.TokenUse{Hash: token.Hash, At: tx.Now})
	}
	if place, ok := req.place.(placeOfMore); ok && (personal || req.session != nil) {
		keys = append(keys, place.MoreKeys(tx)...)
	}
	tx.Load(keys...)
	if personal {
		if tx.Caller, err = access.AuthenticateUser(token,
			flags.Find[*access.User](tx.round.view, access.UserKey(token.User)), flags.Find[*access.Roles](tx.round.view, access.RolesKey())); err != nil {
			return err
		}
	}
	s.owners.remember(req.claim, tx.Caller.FavoritesKey())
	return nil
}

// checkOpenChange refuses a change that a page of another site could have caused, with AUTH_TYPE=none: browsers send a POST without a body
// to any address, without asking first. They do ask before they send a token. Pages in CORS_ORIGINS may send changes.
func (s *service) checkOpenChange(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || Secret(r) != "" || slices.Contains(s.cors.Origins, r.Header.Get("Origin")) {
		return nil
	}
	return s.config.CheckSameOrigin(r)
}

// credential checks the token or session of the request, which are loaded, and returns the caller, and the token without a session. For a
// personal token, AuthenticateUser must follow.
func (tx *Tx) credential() (caller access.Caller, token *access.Token, err error) {
	s, req := tx.service, tx.request
	if req.session != nil {
		caller, err = s.config.Authenticate(req.session, req.http, tx.round.view, tx.Now)
	} else {
		if req.claim != "" {
			token = flags.Find[*access.Token](tx.round.view, access.TokenKey(req.claim))
		}
		if token != nil && !token.HasHash(req.claim) {
			token = nil // found under a hash that is not its own: an item that was not written by Guidon gives no access
		}
		caller, err = access.Authenticate(token, tx.Now)
		if err == nil && (token.Type == access.ClientToken || token.Type == access.FrontendToken) {
			err = caller.Authorize(req.op.Permission, nil, "") // the tokens of applications, which can be public, have none anywhere
		}
	}
	if err != nil && req.claim != "" {
		s.owners.distrust(req.claim, tx.Now)
	}
	return caller, token, err
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
