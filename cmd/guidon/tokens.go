package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"guidon/internal/adminapi"
)

const tokensPath = "/api/admin/api-tokens"

// An apiToken is a token in responses of the server.
type apiToken struct {
	Secret      string     `json:"secret"`
	TokenName   string     `json:"tokenName"`
	Type        string     `json:"type"`
	Environment string     `json:"environment"`
	Projects    []string   `json:"projects"`
	CreatedAt   *time.Time `json:"createdAt"`
	ExpiresAt   *time.Time `json:"expiresAt"`
	SeenAt      *time.Time `json:"seenAt"`
}

// A tokenRow is a token in the output: without its secret, unless it has just been created.
type tokenRow struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Type        string     `json:"type"`
	Environment string     `json:"environment"`
	Projects    []string   `json:"projects"`
	CreatedAt   *time.Time `json:"createdAt"`
	ExpiresAt   *time.Time `json:"expiresAt"`
	SeenAt      *time.Time `json:"seenAt"`
	Secret      string     `json:"secret,omitempty"`
}

// id identifies a token without revealing its secret. In Unleash, names are not unique.
func (t apiToken) id() string {
	sum := sha256.Sum256([]byte(t.Secret))
	return hex.EncodeToString(sum[:5])
}

func (t apiToken) row() tokenRow {
	return tokenRow{
		ID: t.id(), Name: t.TokenName, Type: strings.ToLower(t.Type), Environment: t.Environment, Projects: append([]string{}, t.Projects...),
		CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, SeenAt: t.SeenAt,
	}
}

func (a *app) tokenCommand() *cobra.Command {
	return a.group(&cobra.Command{
		Use:   "token",
		Short: "List, create and delete API tokens",
		Long: `List, create and delete the API tokens of a server. A secret is printed only once, by token create.
An id names a token without its secret.`,
		Example: "  guidon token list\n  guidon token create web-shop --environment production",
	}, a.tokenList(), a.tokenCreate(), a.tokenDelete())
}

func (a *app) tokenList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List API tokens",
		Long:  "List the API tokens that your token may see, without their secrets.",
		Example: `  guidon token list
  guidon token list --output json | jq -r '.[] | select(.seenAt == null) | .name'`,
		Args: cobra.NoArgs,
	}
	return a.calls(cmd, func(ctx context.Context, server *adminapi.Client, _ []string) error {
		tokens, err := listTokens(ctx, server)
		if err != nil {
			return err
		}
		list := []tokenRow{}
		for _, t := range tokens {
			list = append(list, t.row())
		}
		return a.print(list, tokenTable(list))
	})
}

func listTokens(ctx context.Context, server *adminapi.Client) ([]apiToken, error) {
	var list struct{ Tokens []apiToken }
	err := server.Get(ctx, tokensPath, &list)
	return list.Tokens, err
}

func tokenTable(list []tokenRow) [][]string {
	rows := [][]string{{"ID", "NAME", "TYPE", "ENVIRONMENT", "PROJECTS", "EXPIRES", "LAST SEEN"}}
	for _, t := range list {
		rows = append(rows, []string{t.ID, orDash(t.Name), t.Type, orDash(t.Environment), orDash(strings.Join(t.Projects, ",")), date(t.ExpiresAt), date(t.SeenAt)})
	}
	return rows
}

func date(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.UTC().Format(time.DateOnly)
}

func (a *app) tokenCreate() *cobra.Command {
	var kind, environment, expires string
	var projects []string
	var ifMissing bool
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create an API token and print its secret",
		Long: `Create an API token and print its secret: once, on standard output. With --if-missing, a token is
created only if none has the name, so that the command can be repeated.`,
		Example: `  guidon token create web-shop --environment production
  guidon token create shop-app --type frontend --environment production --project shop --expires 2160h
  guidon token create terraform --type admin --expires 2027-12-31
  SECRET=$(guidon token create web-shop --environment production --output json | jq -r .secret)`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.Flags().StringVar(&kind, "type", "client", "the `type`: client or backend (SDKs on servers), frontend (SDKs in browsers and apps) or admin")
	_ = cmd.RegisterFlagCompletionFunc("type", cobra.FixedCompletions([]string{"client", "backend", "frontend", "admin"}, cobra.ShellCompDirectiveNoFileComp))
	a.addEnvironment(cmd, &environment, "the `name` of the environment; without it, the server chooses")
	cmd.Flags().StringSliceVarP(&projects, "project", "p", nil, "the `id` of a project (repeatable); all projects without it")
	cmd.Flags().StringVar(&expires, "expires", "", "the `time` when it expires: a date (2027-12-31), a time in RFC 3339, or a duration (720h)")
	cmd.Flags().BoolVar(&ifMissing, "if-missing", false, "do nothing if a token with this name exists")
	return a.calls(cmd, func(ctx context.Context, server *adminapi.Client, args []string) error {
		body := map[string]any{"tokenName": args[0], "type": kind}
		if environment != "" {
			body["environment"] = environment
		}
		if len(projects) > 0 {
			body["projects"] = projects
		}
		if expires != "" {
			at, err := expiry(expires, time.Now())
			if err != nil {
				return &usageError{err}
			}
			body["expiresAt"] = at
		}
		if ifMissing {
			existing, err := findTokens(ctx, server, args[0])
			if err != nil {
				return err
			}
			if len(existing) > 0 {
				a.note("the token %s exists; its secret is not shown again", args[0])
				return a.print(existing[0].row(), tokenTable([]tokenRow{existing[0].row()}))
			}
		}
		var created apiToken
		if err := server.CallOnce(ctx, http.MethodPost, tokensPath, body, &created); err != nil {
			return err
		}
		row := created.row()
		row.Secret = created.Secret
		if err := a.print(row, tokenTable([]tokenRow{row})); err != nil || a.output == formatJSON {
			return err
		}
		_, err := fmt.Fprintf(a.out, "\nsecret: %s\n", created.Secret)
		return err
	})
}

// expiry reads a date, a time or a duration from now.
func expiry(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d).UTC().Truncate(time.Second), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("--expires must be a date (2027-12-31), a time in RFC 3339 or a duration (720h), not %q", text)
}

// findTokens lists the tokens with a name or an id.
func findTokens(ctx context.Context, server *adminapi.Client, nameOrID string) ([]apiToken, error) {
	tokens, err := listTokens(ctx, server)
	return slices.DeleteFunc(tokens, func(t apiToken) bool { return t.TokenName != nameOrID && t.id() != nameOrID }), err
}

func (a *app) tokenDelete() *cobra.Command {
	var ignoreMissing bool
	cmd := &cobra.Command{
		Use:   "delete NAME|ID",
		Short: "Delete an API token",
		Long: `Delete an API token by its name or its id (see token list). The server rejects it from the next
request on. In Unleash several tokens can have the same name: then none is deleted, use the id.`,
		Example: `  guidon token delete web-shop
  guidon token delete 9f86d08188 --ignore-missing`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: a.completes(func(ctx context.Context, server *adminapi.Client) ([]string, error) {
			tokens, err := listTokens(ctx, server)
			var names []string
			for _, t := range tokens {
				names = append(names, t.TokenName)
			}
			return names, err
		}),
	}
	cmd.Flags().BoolVar(&ignoreMissing, "ignore-missing", false, "succeed if there is no such token")
	return a.calls(cmd, func(ctx context.Context, server *adminapi.Client, args []string) error {
		found, err := findTokens(ctx, server, args[0])
		if err != nil {
			return err
		}
		switch {
		case len(found) == 0 && ignoreMissing:
			a.note("no token has the name or id %s; nothing to delete", args[0])
			return a.print([]tokenRow{}, tokenTable(nil))
		case len(found) == 0:
			return fmt.Errorf("no token has the name or id %s; see guidon token list", args[0])
		case len(found) > 1:
			var ids []string
			for _, t := range found {
				ids = append(ids, t.id())
			}
			return fmt.Errorf("%d tokens have the name %s; delete one by its id: %s", len(found), args[0], strings.Join(ids, ", "))
		case found[0].Secret == "":
			return errors.New("the server does not show the secret of this token, which is needed to delete it; use a token with more permissions")
		}
		token := found[0]
		path := tokensPath + "/" + url.PathEscape(token.Secret)
		if err := server.Call(ctx, http.MethodDelete, path, nil, nil); err != nil {
			return redact(err, token.Secret)
		}
		deleted := []tokenRow{token.row()}
		return a.print(deleted, tokenTable(deleted))
	})
}

// redact removes a secret from the error of a request that has it in its path.
func redact(err error, secret string) error {
	hide := strings.NewReplacer(secret, "{token}", url.PathEscape(secret), "{token}")
	if refusal, ok := errors.AsType[*adminapi.Refusal](err); ok {
		refusal.Call, refusal.Message = hide.Replace(refusal.Call), hide.Replace(refusal.Message)
		return refusal
	}
	if unreachable, ok := errors.AsType[*adminapi.UnreachableError](err); ok {
		unreachable.Err = errors.New(hide.Replace(unreachable.Err.Error()))
		return unreachable
	}
	return errors.New(hide.Replace(err.Error()))
}
