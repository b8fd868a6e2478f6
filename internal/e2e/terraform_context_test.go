package e2e

import (
	"testing"

	unleash "github.com/Unleash/unleash-server-api-go/client"
)

func terraformContextField(t *testing.T, p *provider) {
	ctx := t.Context()
	create := unleash.NewCreateContextFieldSchema("tf-country")
	create.SetDescription("where they live")
	create.SetStickiness(true)
	create.SetLegalValues([]unleash.LegalValueSchema{*unleash.NewLegalValueSchema("NO")})
	made := got(p.ContextAPI.CreateContextField(ctx).CreateContextFieldSchema(*create).Execute()).is(t, 201)
	equal(t, "the new context field", made.Name, "tf-country")
	read := got(p.ContextAPI.GetContextField(ctx, "tf-country").Execute()).is(t, 200)
	if !read.GetStickiness() || len(read.LegalValues) != 1 || read.LegalValues[0].Value != "NO" {
		t.Errorf("the context field is %+v, want what was sent", read)
	}
	update := unleash.NewUpdateContextFieldSchema()
	update.SetDescription("changed")
	done(p.ContextAPI.UpdateContextField(ctx, "tf-country").UpdateContextFieldSchema(*update).Execute()).is(t, 200)

	names := []string{}
	for _, field := range got(p.ContextAPI.GetContextFields(ctx).Execute()).is(t, 200) {
		names = append(names, field.Name)
	}
	equal(t, "the context fields", names, []string{"appName", "currentTime", "environment", "sessionId", "tf-country", "userId"})
	done(p.ContextAPI.DeleteContextField(ctx, "tf-country").Execute()).is(t, 200)
	got(p.ContextAPI.GetContextField(ctx, "tf-country").Execute()).isNot(t)
}
