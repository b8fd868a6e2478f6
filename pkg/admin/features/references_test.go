package features_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"guidon/pkg/apitest"
)

const (
	theReferences = apitest.Project + "/code-references"
	archivable    = apitest.Project + "/archivable"
)

// scanOf returns the body of a scan.
func scanOf(sequence int, members string) string {
	return fmt.Sprintf(`{"branch":"main","sequence":%d,%s}`, sequence, members)
}

func TestCodeReferences(t *testing.T) {
	t.Parallel()
	s := apitest.ServeAt(t, apitest.NewClock())
	s.Create(t, "checkout")
	s.Create(t, "checkout-new") // a name that begins with the other one
	s.Create(t, "gone")
	s.Must(t, "DELETE", apitest.Features+"/gone", "")
	s.Create(t, "moved")

	const shop = theReferences + "/example/shop"
	scan := scanOf(7, `"commit":"6ce46aec","url":"https://example.com/{commit}/{path}?b={branch}#L{line}",`+
		`"references":{"checkout":[{"path":"src/a b.go","line":12,"count":2}],"checkout-new":[],"moved":[],"gone":[{"path":"x","line":1}],"nosuch":[{"path":"x","line":1},{"path":"y","line":1}]}`)
	places := `"references":[{"repository":"example/shop","branch":"main","path":"src/a b.go","line":12,"count":2,"url":"https://example.com/6ce46aec/src/a%20b.go?b=main#L12"}],"total":1`
	s.Run(t, []apitest.Call{
		{"nothing yet", "GET", theReferences, "", 200, `{"repositories":[]}`},
		{"unknown flags are counted", "PUT", shop, scan, 200, `{"flags":3,"references":1,"unknown":2}`},
		{"it can be repeated", "PUT", theReferences + "/example%2Fshop", scan, 200, `{"flags":3,"references":1,"unknown":2}`},
		{"the repositories", "GET", theReferences, "", 200, `{"repositories":[{"repository":"example/shop","branch":"main","commit":"6ce46aec","sequence":7,"partial":false,"lines":2,"...":0}]}`},
		{"a flag", "GET", archivable + "/checkout", "", 200, `{"name":"checkout","safeToArchive":false,` + places + `,"...":0}`},
		{"not one whose name begins with it", "GET", archivable + "/checkout-new", "", 200, `{"references":[],"total":0,"...":0}`},
		{"an archived flag", "GET", archivable + "/gone", "", 404, apitest.Anything},
		{"an earlier scan", "PUT", shop, scanOf(6, `"references":{}`), 409, apitest.Failure("ConflictError", `those of a later scan: its sequence is 7`)},
		{"another branch", "PUT", shop, strings.Replace(scan, "main", "feature", 1), 409, apitest.Failure("ConflictError", `those of branch "main", not "feature"`)},
		{"a list", "GET", archivable + "?cursor=&limit=1", "", 200, `{"features":[{"name":"checkout","safeToArchive":false,"...":0}],"next":"checkout"}`},
		{"a page that cannot be linked", "PUT", shop, scanOf(8, `"url":"javascript:alert(1)"`), 400, apitest.Anything},
		{"a path that hides something", "PUT", shop, scanOf(8, `"references":{"checkout":[{"path":"a\u202eb","line":1}]}`), 400, apitest.Anything},
		{"a repository without a name", "PUT", theReferences + "/%20", scan, 400, apitest.Anything},
		{"nothing was changed", "GET", archivable + "/checkout", "", 200, `{"name":"checkout",` + places + `,"...":0}`},
	})

	s.Must(t, "POST", "/api/admin/projects", `{"id":"other"}`)
	s.Must(t, "PUT", "/api/admin/projects/other/code-references/example/shop", scanOf(7, `"references":{"moved":[]}`))
	s.Must(t, "POST", apitest.Features+"/moved/changeProject", `{"newProjectId":"other"}`)
	s.Run(t, []apitest.Call{
		{"a flag that has moved was not looked for there", "GET", "/api/admin/projects/other/archivable/moved", "", 200,
			`{"against":["It is off only since 2026-01-05, less than 30 days ago.","It was created or revived on 2026-01-05, less than 30 days ago.",` +
				`"The last scan did not look for it: example/shop."],"...":0}`},
		{"delete", "DELETE", theReferences + "/example%2fshop", "", 204, ""},
		{"delete again", "DELETE", shop, "", 404, apitest.Failure("NotFoundError", "has no references of repository")},
		{"no references", "GET", archivable + "/checkout", "", 200, `{"references":[],"total":0,"...":0}`},
	})
}

// TestCodeReferencesOfDeletedProject begins without those of an earlier project of the same ID.
func TestCodeReferencesOfDeletedProject(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for range 2 {
		s.Must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
		s.Run(t, []apitest.Call{
			{"none", "GET", "/api/admin/projects/shop/code-references", "", 200, `{"repositories":[]}`},
			{"a scan", "PUT", "/api/admin/projects/shop/code-references/a", scanOf(1, `"references":{}`), 200, apitest.Anything},
		})
		s.Must(t, "DELETE", "/api/admin/projects/shop", "")
	}
}

// TestManyCodeReferences stores 10,000 references, not one more, and at most 50 repositories.
func TestManyCodeReferences(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	var all []string
	for i := range 100 {
		name := fmt.Sprintf("feature-%d-of-the-checkout", i)
		s.Create(t, name)
		var places []string
		for n := range 100 {
			places = append(places, fmt.Sprintf(`{"path":"services/checkout/internal/%c/handler%d.go","line":%d,"count":2}`, 'a'+rune(n%26), (i*n)%97, i+n+1))
		}
		all = append(all, fmt.Sprintf("%q:[%s]", name, strings.Join(places, ",")))
	}
	body := func(more string) string { return scanOf(1, `"references":{`+strings.Join(all, ",")+more+`}`) }
	s.Run(t, []apitest.Call{
		{"the most", "PUT", theReferences + "/r", body(""), 200, `{"flags":100,"references":10000,"unknown":0}`},
		{"all of a flag", "GET", archivable + "/feature-7-of-the-checkout", "", 200, `{"total":100,"...":0}`},
		{"one more", "PUT", theReferences + "/r", body(`,"more":[{"path":"a","line":1}]`), 400, apitest.Anything},
	})
	for i := 1; i < 50; i++ {
		s.Must(t, "PUT", fmt.Sprintf("%s/r%d", theReferences, i), scanOf(1, `"references":{}`))
	}
	s.Run(t, []apitest.Call{{"one more repository", "PUT", theReferences + "/last", scanOf(1, `"references":{}`), 409, apitest.Failure("ConflictError", "no more are allowed")}})
}

// TestCodeReferencesAtOnce uploads those of several repositories at the same time: none is lost.
func TestCodeReferencesAtOnce(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { s.Must(t, "PUT", fmt.Sprintf("%s/r%d", theReferences, i), scanOf(1, `"references":{}`)) })
	}
	all.Wait()
	list := apitest.Decode[struct{ Repositories []struct{ Repository string } }](t, s.Must(t, "GET", theReferences, "").Body)
	if len(list.Repositories) != 8 {
		t.Errorf("got %v", list)
	}
}

// TestCodeReferencesThatCompress uploads scans that take little space compressed, but much when they are read: what was stored can be read and
// deleted.
func TestCodeReferencesThatCompress(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	scan := scanOf(1, `"references":{"f":[`+strings.Repeat(`,{"path":"`+strings.Repeat("a", 490)+`","line":1}`, 1900)[1:]+`]}`)
	for i := range 17 {
		s.Must(t, "PUT", fmt.Sprintf("%s/r%d", theReferences, i), scan)
	}
	s.Run(t, []apitest.Call{
		{"one more", "PUT", theReferences + "/more", scan, 400, apitest.Failure("ValidationError", "more than the limit of 16 MiB")},
		{"read", "GET", archivable + "/f", "", 200, apitest.Anything},
		{"delete", "DELETE", theReferences + "/r0", "", 204, ""},
	})
}
