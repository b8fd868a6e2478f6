package requests_test

import (
	"fmt"
	"testing"

	"guidon/pkg/apitest"
)

// TestTypedFlagsInReview checks that a draft takes no payload which is not of the type of its flag, that the type of a flag which production uses
// is guarded, and what an approved change meets when the type has changed.
func TestTypedFlagsInReview(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	payload := func(kind, value string) string {
		return change("f", "patchVariant", fmt.Sprintf(`{"variants":[{"name":"a","weight":1000,"payload":{"type":%q,"value":%q}}]}`, kind, value))
	}
	const f = apitest.Features + "/f"
	r.as(t, r.editor, "PUT", f, `{"description":"free"}`, 200)
	r.as(t, r.editor, "PUT", f, `{"valueType":"integer","defaultValue":1}`, 403, "production")
	r.Must(t, "PUT", f, `{"valueType":"integer","defaultValue":1}`)
	r.as(t, r.editor, "PUT", f, `{"defaultValue":2}`, 403, "production")
	r.as(t, r.editor, "PUT", f, `{"valueType":null}`, 403, "production")
	r.as(t, r.editor, "POST", apitest.Features, `{"name":"new","valueType":"integer","defaultValue":1}`, 201)
	r.as(t, r.editor, "PUT", apitest.Features+"/new", `{"defaultValue":2}`, 200)

	r.as(t, r.author, "POST", submitted, "["+payload("string", "big")+"]", 400, `must have a payload of the type number, not string`)
	q := r.approved(t, payload("number", "7"))
	r.Must(t, "PUT", f, `{"valueType":"boolean","defaultValue":false}`)
	r.to(t, r.releaser, q, "Applied", 409, `its value type or default value was changed`)
	r.Must(t, "PUT", f, `{"valueType":"integer","defaultValue":1}`)
	r.to(t, r.releaser, r.read(t, q), "Applied", 200)
	r.Check(t, apitest.Call{Name: "the payload", Method: "GET", Path: apitest.In("f", "production") + "/variants", Status: 200,
		Want: `{"...":0,"variants":[{"...":0,"name":"a","payload":{"type":"number","value":"7"}}]}`})
}

// TestDefaultValueAfterApproval changes the default value of a flag that production does not use yet, when its first use is approved.
func TestDefaultValueAfterApproval(t *testing.T) {
	t.Parallel()
	r := serveReviews(t, 1)
	const n = apitest.Features + "/n"
	r.as(t, r.editor, "POST", apitest.Features, `{"name":"n","valueType":"integer","defaultValue":1}`, 201)
	q := r.approved(t, change("n", "addStrategy", `{"name":"default"}`), change("n", "updateEnabled", `{"enabled":true}`))
	r.as(t, r.editor, "PUT", n, `{"defaultValue":1000}`, 200)
	r.to(t, r.releaser, r.read(t, q), "Applied", 409, "its value type or default value was changed")
}
