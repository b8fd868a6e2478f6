package e2e

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	unleash "github.com/Unleash/unleash-server-api-go/client"
)

// TestTerraformClient creates, reads, changes and deletes each kind of resource with the client of the official Terraform
// provider. That client is independent of this project, and checks required fields, types and exact statuses.
func TestTerraformClient(t *testing.T) {
	p := newProvider(t, start(t))
	for _, resource := range []struct {
		name string
		test func(*testing.T, *provider)
	}{
		{"project", terraformProject},
		{"environment", terraformEnvironment},
		{"project environment", terraformProjectEnvironment},
		{"API token", terraformToken},
		{"role", terraformRole},
		{"user", terraformUser},
		{"service account", terraformServiceAccount},
		{"project access", terraformAccess},
		{"context field", terraformContextField},
		{"what is absent", terraformAbsent},
	} {
		t.Run(resource.name, func(t *testing.T) { resource.test(t, p) })
	}
	// Every operation of the client was called, and those with a 404 are the absent ones.
	equal(t, "the operations of the client that were called", slices.Sorted(maps.Keys(p.calls)), operationsOf(p.APIClient))
	equal(t, "what docs/from-unleash.md says is absent of the provider", documentedAbsent(t), p.absent())
}

// A provider is the client, configured as the provider does, with a record of its calls.
type provider struct {
	*unleash.APIClient
	g     *gateway
	calls map[string][]recorded // by operation
}

// A recorded call is a request and the status of its response.
type recorded struct {
	route  string
	status int
}

func newProvider(t *testing.T, g *gateway) *provider {
	t.Helper()
	p := &provider{g: g, calls: map[string][]recorded{}}
	config := unleash.NewConfiguration()
	config.AddDefaultHeader("Authorization", g.token)
	config.HTTPClient = &http.Client{Transport: p, Timeout: endTimeout}
	p.APIClient = unleash.NewAPIClient(config)
	// Each operation gets a server with its name, by which RoundTrip identifies the operation.
	config.OperationServers = map[string]unleash.ServerConfigurations{}
	for _, operation := range operationsOf(p.APIClient) {
		_, name, _ := strings.Cut(operation, ".")
		config.OperationServers[operation] = unleash.ServerConfigurations{{URL: "http://" + name + "." + operation}}
	}
	return p
}

// RoundTrip sends a request to the server and records it.
func (p *provider) RoundTrip(req *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(req.URL.Host, ".")
	req = req.Clone(req.Context())
	req.URL.Host, req.Host = address(p.g.port), ""
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err == nil {
		p.calls[operation] = append(p.calls[operation], recorded{req.Method + " " + req.URL.Path, resp.StatusCode})
	}
	return resp, err
}

// absent returns the routes of the operations that only got a 404.
func (p *provider) absent() []string {
	routes := []string{}
	for _, calls := range p.calls {
		if !slices.ContainsFunc(calls, func(c recorded) bool { return c.status != http.StatusNotFound }) {
			routes = append(routes, calls[0].route)
		}
	}
	slices.Sort(routes)
	return routes
}

// operationsOf returns the operations of a client, such as "UsersAPIService.CreateUser".
func operationsOf(client *unleash.APIClient) (names []string) {
	services := reflect.TypeOf(*client)
	for i := range services.NumField() {
		service := services.Field(i).Type
		if !services.Field(i).IsExported() {
			continue
		}
		for j := range service.NumMethod() {
			if name, ok := strings.CutSuffix(service.Method(j).Name, "Execute"); ok {
				names = append(names, service.Elem().Name()+"."+name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// absentRow matches a row of the page's table of operations that Guidon does not have.
var absentRow = regexp.MustCompile("(?m)^\\| `([A-Z]+ /api/[^`]+)` \\|")

func documentedAbsent(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "from-unleash.md"))
	if err != nil {
		t.Fatal(err)
	}
	routes := []string{}
	for _, m := range absentRow.FindAllStringSubmatch(string(page), -1) {
		routes = append(routes, m[1])
	}
	slices.Sort(routes)
	return routes
}

// An answer is a response as the client decoded it.
type answer[T any] struct {
	value T
	resp  *http.Response
	err   error
}

// got is the answer of an operation with a result, done that of one without.
func got[T any](value T, resp *http.Response, err error) answer[T] {
	return answer[T]{value, resp, err}
}

func done(resp *http.Response, err error) answer[struct{}] {
	return answer[struct{}]{struct{}{}, resp, err}
}

// is checks the status that the provider expects, and that the client could decode the response.
func (a answer[T]) is(t *testing.T, status int) T {
	t.Helper()
	if a.err != nil {
		t.Fatalf("the client failed: %v%s", a.err, bodyOf(a.err))
	}
	if a.resp.StatusCode != status {
		t.Fatalf("%s %s: %d, want %d", a.resp.Request.Method, a.resp.Request.URL.Path, a.resp.StatusCode, status)
	}
	return a.value
}

// isNot checks that the response is a JSON 404 with a name, a message and an id.
func (a answer[T]) isNot(t *testing.T) {
	t.Helper()
	a.fails(t, http.StatusNotFound, "NotFoundError")
}

func (a answer[T]) fails(t *testing.T, status int, name string) {
	t.Helper()
	if a.resp == nil || a.resp.StatusCode != status {
		t.Fatalf("the answer is %+v (%v), want a %d", a.resp, a.err, status)
	}
	var f failure
	if err := decodeAll([]byte(bodyOf(a.err)), &f); err != nil || f.Name != name || f.ID == "" || f.Message == "" {
		t.Errorf("%s %s: the error is %+v (%v), want a %s with id and message", a.resp.Request.Method, a.resp.Request.URL.Path, f, err, name)
	}
}

// bodyOf returns the response body in an error of the client.
func bodyOf(err error) string {
	if e := (*unleash.GenericOpenAPIError)(nil); errors.As(err, &e) {
		return string(e.Body())
	}
	return ""
}

// given returns an optional string of a response. The provider dereferences a present one: null would crash it and "" differs
// from its plan, so both are failures.
func given(t *testing.T, what string, text unleash.NullableString) string {
	t.Helper()
	switch {
	case !text.IsSet():
		return ""
	case text.Get() == nil, *text.Get() == "":
		t.Errorf("%s is null or empty, want it left out", what)
		return ""
	}
	return *text.Get()
}

func ptr[T any](value T) *T { return &value }

// id returns an id as in the provider.
func id[N int32 | float32](n N) string { return fmt.Sprintf("%v", n) }
