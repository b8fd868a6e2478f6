package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"guidon/internal/adminapi"
)

const usersPath = "/api/admin/user-admin"

// A signInLink is a sign-in link in responses of the server and in the output.
type signInLink struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// A person is a user in responses of the server.
type person struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
	Email    string `json:"email"`
}

func (a *app) link() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "link [USER]",
		Short: "Print a one-time link to sign in to the console",
		Long: `Print a link that signs a person in to the console of the server, once and within 15 minutes; within
7 days if that person has never signed in. It replaces earlier links for that person. The command
says on stderr which server it asked. USER is a user name, an email address or an id; without it, the
link is for the first administrator. It takes an admin token, or a personal token of an administrator.`,
		Example: `  guidon link
  guidon link ada@example.com
  guidon link ada --output json | jq -r .url`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	return a.calls(cmd, func(ctx context.Context, server *adminapi.Client, args []string) error {
		id := int64(1) // the first administrator, who cannot be deleted
		if len(args) > 0 {
			var err error
			if id, err = findUser(ctx, server, args[0]); err != nil {
				return err
			}
		}
		var link signInLink
		if err := server.CallOnce(ctx, http.MethodPost, fmt.Sprintf("%s/%d/sign-in-link", usersPath, id), nil, &link); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(a.messages, "the server at %s made this link; it works once, until %s, and earlier ones for the same user do not work any more\n",
			server.Base, link.ExpiresAt.Local().Format("2 Jan 15:04"))
		return a.print(link, [][]string{{link.URL}})
	})
}

// findUser returns the id of the user with a user name, an email address or an id. It returns an error if that fits several users:
// a link for the wrong one would let a person sign in as another.
func findUser(ctx context.Context, server *adminapi.Client, name string) (int64, error) {
	var list struct{ Users []person }
	if err := server.Get(ctx, usersPath, &list); err != nil {
		return 0, err
	}
	var ids []int64
	for _, p := range list.Users {
		if p.Username == name || p.Email == name || strconv.FormatInt(p.ID, 10) == name {
			ids = append(ids, p.ID)
		}
	}
	switch len(ids) {
	case 0:
		return 0, fmt.Errorf("no user has the user name, email address or id %s", name)
	case 1:
		return ids[0], nil
	}
	return 0, fmt.Errorf("%s is a user name, email address or id of the users with the ids %v; use a name that only one of them has", name, ids)
}
