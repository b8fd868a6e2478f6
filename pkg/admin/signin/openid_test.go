package signin_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/internal/oidctest"
	"guidon/pkg/access"
	"guidon/pkg/admin/signin"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/oidc"
)

// publicURL is the address to which the provider sends browsers back. The tests send what comes there to their own server.
const publicURL = "http://localhost:4242"

var (
	anna  = oidctest.Person{ID: "anna", Email: "anna@example.com", EmailVerified: true, Claims: map[string]any{"groups": []string{"devs"}}}
	berta = oidctest.Person{ID: "berta", Email: "berta@example.com"}
)

// inGroups returns the person with other groups.
func inGroups(p oidctest.Person, groups ...string) oidctest.Person {
	p.Claims = map[string]any{"groups": groups}
	return p
}

// serveOpenID starts a server and a provider with Anna and Berta. Settings are pairs such as "OIDC_DEFAULT_ROLE=Viewer".
func serveOpenID(t *testing.T, settings ...string) (*apitest.Server, *oidctest.Provider) {
	t.Helper()
	idp := oidctest.New(t, publicURL+oidc.CallbackPath, anna, berta)
	more := map[string]string{}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		more[name] = value
	}
	environment := idp.Environment(more)
	parsed, err := oidc.Parse(func(name string) string { return environment[name] })
	if err != nil {
		t.Fatal(err)
	}
	provider := oidc.New(*parsed, time.Now)
	s := apitest.Serve(t, func(config *httpapi.Config, _ *http.RoundTripper) {
		config.PublicURL = publicURL
		config.OpenID = signin.OpenID(func(context.Context) (*oidc.Provider, error) { return provider, nil })
	})
	return s, idp
}

// A browser has the cookies of the server, and a client with those of the provider.
type browser struct {
	s       *apitest.Server
	idp     *oidctest.Provider
	client  *http.Client
	cookies map[string]string
}

func newBrowser(t *testing.T, s *apitest.Server, idp *oidctest.Provider) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &browser{s, idp, client, map[string]string{}}
}

// get calls a path with the cookies, and keeps those of the response.
func (b *browser) get(path string) (apitest.Answer, error) {
	var cookies []string
	for name, value := range b.cookies {
		cookies = append(cookies, name+"="+value)
	}
	got, err := b.s.Try("GET", path, "", "Authorization:", "Cookie:"+strings.Join(cookies, "; "))
	if err != nil {
		return got, err
	}
	for _, c := range (&http.Response{Header: got.Header}).Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return got, nil
}

// begin starts a sign-in, has a person sign in at the provider, and returns the path of the callback.
func (b *browser) begin(person, next string) (string, error) {
	got, err := b.get("/auth/oidc/login?next=" + url.QueryEscape(next))
	if err != nil || got.Status != 302 {
		return "", fmt.Errorf("login: %d %.300s, %w", got.Status, got.Body, err)
	}
	back, err := b.idp.SignIn(b.client, got.Header.Get("Location"), person)
	if err != nil {
		return "", err
	}
	return back.RequestURI(), nil
}

// signIn makes the whole journey, and returns the path at which it ends.
func (b *browser) signIn(t *testing.T, person, next string) string {
	t.Helper()
	callback, err := b.begin(person, next)
	if err != nil {
		t.Fatal(err)
	}
	return b.finish(t, callback)
}

func (b *browser) finish(t *testing.T, callback string) string {
	t.Helper()
	got, err := b.get(callback)
	if err != nil || got.Status != 302 || got.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("callback: %d %.300s, Cache-Control %q, %v; want 302 and no-store", got.Status, got.Body, got.Header.Get("Cache-Control"), err)
	}
	return got.Header.Get("Location")
}

// A whoAmI is what the API says of the user who is signed in.
type whoAmI struct {
	User struct {
		ID       int64
		Name     string
		Username string
		Email    string
	}
	Permissions []struct{ Permission, Project string }
}

// who reads the user who is signed in.
func (b *browser) who(t *testing.T, status int) whoAmI {
	t.Helper()
	got, err := b.get("/api/admin/user")
	if err != nil || got.Status != status {
		t.Fatalf("GET /api/admin/user: %d %.300s, %v; want %d", got.Status, got.Body, err, status)
	}
	if status != 200 {
		return whoAmI{}
	}
	return apitest.Decode[whoAmI](t, got.Body)
}

func wantEnd(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("the sign-in ends at %q, want %q", got, want)
	}
}

// rootRole is the root role of a user.
func rootRole(t *testing.T, s *apitest.Server, id int64) int64 {
	t.Helper()
	return apitest.Decode[struct{ RootRole int64 }](t, s.Must(t, "GET", fmt.Sprintf("%s/%d", apitest.Users, id), "").Body).RootRole
}

// typesOfLog are the types of the events of the first page of the log, oldest first.
func typesOfLog(t *testing.T, s *apitest.Server) []string {
	t.Helper()
	var types []string
	for _, e := range s.Newest(t) {
		types = append(types, e.Type)
	}
	slices.Reverse(types)
	return types
}

// TestOpenIDSignIn makes the whole journey twice: the first time creates a user.
func TestOpenIDSignIn(t *testing.T) {
	t.Parallel()
	s, idp := serveOpenID(t, "OIDC_GROUP_ROLES=devs=Editor")
	methods := s.Do(t, "GET", "/auth/methods", "", "Authorization:")
	if different := apitest.Match(`{"open":false,"link":true,"oidc":{"name":"Test provider","url":"/auth/oidc/login"}}`, methods.Body); len(different) > 0 {
		t.Errorf("methods: %v", different)
	}
	s.SendAll(t)
	before, sent := len(typesOfLog(t, s)), len(s.Outbox(t))
	b := newBrowser(t, s, idp)
	b.who(t, 401)
	wantEnd(t, b.signIn(t, "anna", "/projects/default?tab=flags"), "/projects/default?tab=flags")
	first := b.who(t, 200)
	if first.User.Email != "anna@example.com" || first.User.Name != "Test Anna" || rootRole(t, s, first.User.ID) != access.RoleEditor {
		t.Errorf("user %+v", first.User)
	}
	if len(b.cookies) != 1 || b.cookies["guidon-session"] == "" {
		t.Errorf("cookies %v, want only that of the session", b.cookies)
	}
	wantEnd(t, newBrowser(t, s, idp).signIn(t, "anna", ""), "/")
	if got, want := typesOfLog(t, s)[before:], []string{"user-created", "user-signed-in", "user-signed-in"}; !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	if got := len(s.Outbox(t)) - sent; got != 3 {
		t.Errorf("a webhook sends %d of these events, want 3", got)
	}
	s.Check(t, apitest.Call{"the last sign-in", "GET", fmt.Sprintf("%s/%d", apitest.Users, first.User.ID), "", 200, `{"...":0,"seenAt":"<time>"}`})
	newest := s.Newest(t)[0]
	if newest.CreatedBy != "anna@example.com" || newest.Data["how"] != "oidc" {
		t.Errorf("the event of the sign-in is by %q, with %v", newest.CreatedBy, newest.Data)
	}
}

// TestOpenIDGroups changes the groups of a person between sign-ins.
func TestOpenIDGroups(t *testing.T) {
	t.Parallel()
	s, idp := serveOpenID(t, "OIDC_GROUP_ROLES=platform=Admin,devs=Editor,shop=default:Owner,shop=gone:Owner,devs=Not a role")
	b := newBrowser(t, s, idp)
	b.signIn(t, "anna", "/")
	id := b.who(t, 200).User.ID
	project := func() []int64 {
		return apitest.Load[*flags.Project](t, s, flags.ProjectKey("default")).RolesOf(id)
	}
	steps := []struct {
		groups []string
		role   int64
		member []int64
	}{
		{[]string{"devs", "platform"}, access.RoleAdmin, nil},
		{[]string{"devs", "shop"}, access.RoleEditor, []int64{access.RoleOwner}},
		{[]string{"devs"}, access.RoleEditor, nil},
	}
	for _, step := range steps {
		idp.Put(inGroups(anna, step.groups...))
		wantEnd(t, b.signIn(t, "anna", "/"), "/")
		if role := rootRole(t, s, id); role != step.role || !slices.Equal(project(), step.member) {
			t.Errorf("groups %v: root role %d, roles in the project %v; want %d, %v", step.groups, role, project(), step.role, step.member)
		}
	}

	// Without a group, the person is refused, and has no sessions and permissions left.
	idp.Put(inGroups(anna))
	wantEnd(t, newBrowser(t, s, idp).signIn(t, "anna", "/"), "/sign-in?error=no-access")
	b.who(t, 401)
	if role := rootRole(t, s, id); role != 0 {
		t.Errorf("root role %d, want none", role)
	}
	idp.Put(anna)
	wantEnd(t, b.signIn(t, "anna", "/"), "/")
	if again := b.who(t, 200).User.ID; again != id {
		t.Errorf("user %d after the group came back, want %d", again, id)
	}
}

// TestOpenIDFirstSignIn has people sign in for the first time who may be a user already.
func TestOpenIDFirstSignIn(t *testing.T) {
	t.Parallel()
	const viewers = "OIDC_DEFAULT_ROLE=Viewer"
	tests := []struct {
		name     string
		settings []string
		user     string // the body of a user who exists before
		account  bool   // whether that is a service account
		person   oidctest.Person
		end      string
		username string // of the user who is signed in; "" for an e-mail address
		role     int64
	}{
		{"no rule gives a role", nil, "", false, anna, "/sign-in?error=no-access", "", 0},
		{"default role", []string{viewers}, "", false, anna, "/", "", access.RoleViewer},
		{"users are not created", []string{viewers, "OIDC_CREATE_USERS=off"}, "", false, anna, "/sign-in?error=no-access", "", 0},
		{"an existing user keeps the role", []string{viewers, "OIDC_CREATE_USERS=off"}, `{"email":"Anna@example.com","rootRole":2}`, false, anna, "/", "", access.RoleEditor},
		{"an existing user gets the role of the group", []string{"OIDC_GROUP_ROLES=devs=Admin"}, `{"email":"anna@example.com","rootRole":2}`, false, anna, "/", "", access.RoleAdmin},
		{"an existing user without a group", []string{"OIDC_GROUP_ROLES=ops=Admin"}, `{"email":"anna@example.com","rootRole":2}`, false, anna, "/sign-in?error=no-access", "", 0},
		{"an address that is not verified", []string{viewers}, `{"email":"berta@example.com","rootRole":2}`, false, berta, "/sign-in?error=not-linked", "", 0},
		{"a new user without a verified address", []string{viewers}, "", false, berta, "/", "berta", access.RoleViewer},
		{"a taken user name", []string{viewers}, `{"username":"berta","rootRole":2}`, false, berta, "/sign-in?error=not-linked", "", 0},
		{"a deleted role", []string{"OIDC_DEFAULT_ROLE=Not a role"}, "", false, anna, "/sign-in?error=no-access", "", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, idp := serveOpenID(t, test.settings...)
			existing := int64(0)
			if test.user != "" {
				existing = apitest.Decode[struct{ ID int64 }](t, s.Must(t, "POST", apitest.Users, test.user).Body).ID
			}
			idp.Put(test.person)
			b := newBrowser(t, s, idp)
			wantEnd(t, b.signIn(t, test.person.ID, "/"), test.end)
			if test.end != "/" {
				b.who(t, 401)
				return
			}
			who := b.who(t, 200).User
			if who.Username != test.username || rootRole(t, s, who.ID) != test.role || existing != 0 && who.ID != existing {
				t.Errorf("user %+v with role %d, want user %d with role %d", who, rootRole(t, s, who.ID), existing, test.role)
			}
		})
	}
}

// TestOpenIDAddressOfAnother gives the address of a person to another one, as companies do.
func TestOpenIDAddressOfAnother(t *testing.T) {
	t.Parallel()
	s, idp := serveOpenID(t, "OIDC_DEFAULT_ROLE=Viewer")
	newBrowser(t, s, idp).signIn(t, "anna", "/")
	idp.Put(oidctest.Person{ID: "anna2", Email: anna.Email, EmailVerified: true})
	b := newBrowser(t, s, idp)
	wantEnd(t, b.signIn(t, "anna2", "/"), "/sign-in?error=not-linked")
	b.who(t, 401)
}

// TestOpenIDFirstAdministrator links the first user, who stays an administrator with any groups.
func TestOpenIDFirstAdministrator(t *testing.T) {
	t.Parallel()
	s, idp := serveOpenID(t, "OIDC_GROUP_ROLES=devs=Viewer")
	s.Must(t, "PUT", apitest.Users+"/1", `{"email":"anna@example.com"}`)
	b := newBrowser(t, s, idp)
	for _, person := range []oidctest.Person{anna, inGroups(anna)} {
		idp.Put(person)
		wantEnd(t, b.signIn(t, "anna", "/"), "/")
		if id := b.who(t, 200).User.ID; id != 1 || rootRole(t, s, 1) != access.RoleAdmin {
			t.Errorf("user %d with role %d, want the first administrator", id, rootRole(t, s, 1))
		}
	}
}

// TestOpenIDDeletedUser deletes the user of a person, who does not come back until an administrator creates the user again.
func TestOpenIDDeletedUser(t *testing.T) {
	t.Parallel()
	s, idp := serveOpenID(t, "OIDC_DEFAULT_ROLE=Viewer")
	b := newBrowser(t, s, idp)
	b.signIn(t, "anna", "/")
	id := b.who(t, 200).User.ID
	callback, err := b.begin("anna", "/")
	if err != nil {
		t.Fatal(err)
	}
	s.Must(t, "DELETE", fmt.Sprintf("%s/%d", apitest.Users, id), "")
	b.who(t, 401)
	wantEnd(t, b.finish(t, callback), "/sign-in?error=no-access")
	b.who(t, 401)

	created := apitest.Decode[struct{ ID int64 }](t, s.Must(t, "POST", apitest.Users, `{"email":"anna@example.com","rootRole":2}`).Body).ID
	wantEnd(t, b.signIn(t, "anna", "/"), "/")
	if got := b.who(t, 200).User.ID; got != created {
		t.Errorf("user %d, want %d", got, created)
	}
}

// TestOpenIDProviderAway takes the provider away. Sessions go on.
func TestOpenIDProviderAway(t *testing.T) {
	t.Parallel()
	s, idp := serveOpenID(t, "OIDC_DEFAULT_ROLE=Viewer")
	idp.SetAway("*", true)
	b := newBrowser(t, s, idp)
	got, err := b.get("/auth/oidc/login")
	if err != nil || got.Status != 302 {
		t.Fatalf("login: %d %.300s, %v", got.Status, got.Body, err)
	}
	wantEnd(t, got.Header.Get("Location"), "/sign-in?error=provider-unavailable")

	s, idp = serveOpenID(t, "OIDC_DEFAULT_ROLE=Viewer")
	signedIn, other := newBrowser(t, s, idp), newBrowser(t, s, idp)
	signedIn.signIn(t, "anna", "/")
	callback, err := other.begin("anna", "/")
	if err != nil {
		t.Fatal(err)
	}
	idp.SetAway("*", true)
	wantEnd(t, other.finish(t, callback), "/sign-in?error=provider-unavailable")
	signedIn.who(t, 200)
	idp.SetAway("*", false)
	wantEnd(t, other.signIn(t, "anna", "/"), "/")
}

// TestOpenIDTabs signs in in two tabs at the same time, and uses a callback again.
func TestOpenIDTabs(t *testing.T) {
	t.Parallel()
	s, idp := serveOpenID(t, "OIDC_DEFAULT_ROLE=Viewer")
	b := newBrowser(t, s, idp)
	one, err := b.begin("anna", "/projects/one")
	if err != nil {
		t.Fatal(err)
	}
	two, err := b.begin("anna", "//example.com")
	if err != nil {
		t.Fatal(err)
	}
	wantEnd(t, b.finish(t, two), "/")
	wantEnd(t, b.finish(t, one), "/projects/one")
	wantEnd(t, b.finish(t, one), "/sign-in?error=expired")
	b.who(t, 200) // the session is still there
	wantEnd(t, newBrowser(t, s, idp).finish(t, two), "/sign-in?error=expired")
}

// TestOpenIDFirstSignInsAtOnce has one person sign in for the first time in several browsers at once. They make one user.
func TestOpenIDFirstSignInsAtOnce(t *testing.T) {
	t.Parallel()
	s, idp := serveOpenID(t, "OIDC_DEFAULT_ROLE=Viewer")
	const n = 5
	browsers, callbacks := make([]*browser, n), make([]string, n)
	for i := range n {
		browsers[i] = newBrowser(t, s, idp)
		var err error
		if callbacks[i], err = browsers[i].begin("anna", "/"); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for i, b := range browsers {
		wg.Go(func() {
			if got, err := b.get(callbacks[i]); err != nil || got.Status != 302 || got.Header.Get("Location") != "/" {
				t.Errorf("callback: %d %.300s to %q, %v", got.Status, got.Body, got.Header.Get("Location"), err)
			}
		})
	}
	wg.Wait()
	id := browsers[0].who(t, 200).User.ID
	for _, b := range browsers {
		if got := b.who(t, 200).User.ID; got != id {
			t.Errorf("user %d, want %d", got, id)
		}
	}
	if list := strings.Count(s.Must(t, "GET", apitest.Users, "").Body, "anna@example.com"); list != 1 {
		t.Errorf("%d users have the address, want 1", list)
	}
}

// TestOpenIDNotSet calls the operations of a server without a provider.
func TestOpenIDNotSet(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	for _, path := range []string{"/auth/oidc/login", "/auth/oidc/callback?state=a&code=b"} {
		got := s.Do(t, "GET", path, "", "Authorization:")
		if got.Status != 302 || got.Header.Get("Location") != "/sign-in?error=misconfigured" {
			t.Errorf("%s: %d to %q", path, got.Status, got.Header.Get("Location"))
		}
	}
}
