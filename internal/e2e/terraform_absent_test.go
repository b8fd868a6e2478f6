package e2e

import (
	"testing"

	unleash "github.com/Unleash/unleash-server-api-go/client"
)

// terraformAbsent calls the operations of the client that Guidon does not have. Each must get a JSON 404, so that the provider
// reports what is missing. Path parameters are their own names, so that the paths are the routes of docs/from-unleash.md.
func terraformAbsent(t *testing.T, p *provider) {
	ctx := t.Context()
	const group = "{groupId}"

	got(p.UsersAPI.GetGroups(ctx).Execute()).isNot(t)
	got(p.UsersAPI.CreateGroup(ctx).CreateGroupSchema(*unleash.NewCreateGroupSchema("tf")).Execute()).isNot(t)
	got(p.UsersAPI.GetGroup(ctx, group).Execute()).isNot(t)
	got(p.UsersAPI.UpdateGroup(ctx, group).CreateGroupSchema(*unleash.NewCreateGroupSchema("tf")).Execute()).isNot(t)
	done(p.UsersAPI.DeleteGroup(ctx, group).Execute()).isNot(t)

	oidc := unleash.OidcSettingsSchema{OidcSettingsSchemaOneOf1: &unleash.OidcSettingsSchemaOneOf1{}}
	saml := unleash.SamlSettingsSchema{SamlSettingsSchemaOneOf1: &unleash.SamlSettingsSchemaOneOf1{}}
	got(p.AuthAPI.GetOidcSettings(ctx).Execute()).isNot(t)
	got(p.AuthAPI.SetOidcSettings(ctx).OidcSettingsSchema(oidc).Execute()).isNot(t)
	got(p.AuthAPI.GetSamlSettings(ctx).Execute()).isNot(t)
	got(p.AuthAPI.SetSamlSettings(ctx).SamlSettingsSchema(saml).Execute()).isNot(t)
	got(p.AuthAPI.GetSimpleSettings(ctx).Execute()).isNot(t)
	got(p.AuthAPI.SetSimpleSettings(ctx).PasswordAuthSchema(*unleash.NewPasswordAuthSchema()).Execute()).isNot(t)
}
