// Package guidon_test holds the rule that keeps Guidon easy to change: which package may know of which.
//
//	functions → httpapi, dynamo, lambdahttp → flags
//
// The domain knows nothing of HTTP and AWS, the interface nothing of the store and the store nothing of the interface;
// what a function carries to Lambda is nothing but what it needs there.
package guidon_test

import (
	"os/exec"
	"strings"
	"testing"
)

func TestDependencies(t *testing.T) {
	const (
		aws      = "github.com/aws/"
		awslabs  = "github.com/awslabs/"
		dynamo   = "guidon/pkg/dynamo"
		httpapi  = "guidon/pkg/httpapi"
		page     = "guidon/pkg/docs"
		openapi  = "github.com/getkin/"
		local    = "guidon/localstack"
		internal = "guidon/internal" // for tests alone
		yaml     = "github.com/goccy/go-yaml"
		testing_ = "testing"
	)
	tests := []struct {
		packages string
		never    []string // import paths, or beginnings of them, that they must not reach
	}{
		{"./pkg/flags", []string{aws, awslabs, "net/http", "guidon/pkg/flags/", dynamo, httpapi, local}},
		{"./pkg/httpapi", []string{aws, awslabs, dynamo, local, page, openapi}},
		{"./pkg/docs", []string{aws, awslabs, dynamo, local, openapi}},
		{"./pkg/dynamo", []string{awslabs, httpapi, local}},
		{"./pkg/lambdahttp", []string{"github.com/aws/aws-sdk-go-v2", dynamo, httpapi, local}},
		{"./infra/bootstrap", []string{aws, awslabs, "net/http", dynamo, httpapi, local}},
		{"./functions/...", []string{local, internal, yaml, openapi, testing_, "github.com/google/go-cmp"}},
		{"./...", []string{"github.com/Unleash"}}, // the client is for tests
		{"./functions/fallback", []string{"github.com/aws/aws-sdk-go-v2", dynamo, page}},
		{"./functions/docs", []string{"github.com/aws/aws-sdk-go-v2", dynamo}},
		{"./localstack", []string{internal}},
		{"./pkg/seal", []string{aws, awslabs, "net/http", dynamo, httpapi, local}},
	}
	for _, tt := range tests {
		t.Run(tt.packages, func(t *testing.T) {
			for _, dep := range goList(t, "-deps", "-f", "{{.ImportPath}}", tt.packages) {
				for _, never := range tt.never {
					if dep == never || strings.HasPrefix(dep, strings.TrimSuffix(never, "/")+"/") {
						t.Errorf("depends on %s", dep)
					}
				}
			}
		})
	}
}

// TestWhoReadsTheKey holds that no function but these could read what the secrets of tokens are sealed with: one makes
// and lists tokens, the other makes the first one.
func TestWhoReadsTheKey(t *testing.T) {
	for _, function := range goList(t, "-f", "{{.ImportPath}}", "./functions/...", "./localstack") {
		links := false
		for _, dep := range goList(t, "-deps", "-f", "{{.ImportPath}}", function) {
			links = links || dep == "guidon/pkg/seal/secretsmanager" || strings.HasPrefix(dep, "github.com/aws/aws-sdk-go-v2/service/secretsmanager")
		}
		if want := function == "guidon/functions/tokens" || function == "guidon/functions/bootstrap"; links != want {
			t.Errorf("%s links Secrets Manager: %t, want %t", function, links, want)
		}
	}
}

// TestOnlyTheStoreKnowsDynamoDB looks at what every package imports itself, tests apart.
func TestOnlyTheStoreKnowsDynamoDB(t *testing.T) {
	for _, line := range goList(t, "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...") {
		path, imports, _ := strings.Cut(line, " ")
		if path == "guidon/pkg/dynamo" {
			continue
		}
		for imported := range strings.FieldsSeq(imports) {
			if strings.HasPrefix(imported, "github.com/aws/aws-sdk-go-v2/") && strings.Contains(imported, "dynamodb") {
				t.Errorf("%s imports %s", path, imported)
			}
		}
	}
}

func goList(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// shipped are the modules that code which runs on AWS imports itself, each with why it is worth having: another one
// belongs here first. What they bring with them is the AWS SDK's own.
var shipped = map[string]string{
	"github.com/aws/aws-lambda-go":                                 "Lambda's own: the events, and the loop that asks for them",
	"github.com/awslabs/aws-lambda-go-api-proxy":                   "makes a net/http request of an event, and an event of its answer",
	"github.com/aws/aws-sdk-go-v2":                                 "AWS's own",
	"github.com/aws/aws-sdk-go-v2/config":                          "AWS's own: region and credentials of the function's role",
	"github.com/aws/aws-sdk-go-v2/credentials":                     "AWS's own: those that a local engine takes",
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue": "AWS's own: items",
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression":     "AWS's own: conditions, in which no value is ever text",
	"github.com/aws/aws-sdk-go-v2/service/dynamodb":                "AWS's own: the table",
	"github.com/aws/aws-sdk-go-v2/service/codedeploy":              "AWS's own: the hook before a canary",
	"github.com/aws/aws-sdk-go-v2/service/lambda":                  "AWS's own: the hook invokes new versions",
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager":          "AWS's own: the key of the tokens",
	"github.com/aws/smithy-go":                                     "AWS's own: the errors of the above",
	"github.com/go-json-experiment/json":                           "JSON that refuses duplicate names and bad UTF-8; the standard library's next",
	"github.com/evanphx/json-patch/v5":                             "RFC 6902, with a limit on what copies add",
	"github.com/Masterminds/semver/v3":                             "versions in constraints",
	"github.com/google/uuid":                                       "ids, some of them in the order of time",
}

// TestModules holds that code which runs on AWS imports no module that nobody has thought about, and that go.mod pins
// all of them to a version.
func TestModules(t *testing.T) {
	used := map[string]bool{}
	for _, line := range goList(t, "-deps", "-f", "{{if not .Standard}}{{.Module.Path}} {{.Module.Version}} {{.ImportPath}} {{join .Imports \" \"}}{{end}}", "./functions/...") {
		fields := strings.Fields(line)
		if len(fields) > 0 && fields[0] == "guidon" {
			for _, imported := range fields[2:] { // it has no version
				used[imported] = true
			}
		}
	}
	found := map[string]bool{}
	for _, line := range goList(t, "-deps", "-f", "{{if not .Standard}}{{.ImportPath}} {{.Module.Path}} {{.Module.Version}} {{.Module.Replace}}{{end}}", "./functions/...") {
		fields := strings.Fields(line)
		if len(fields) < 4 || !used[fields[0]] {
			continue
		}
		if found[fields[1]] = true; shipped[fields[1]] == "" {
			t.Errorf("%s is imported, of the module %s: want a reason for it in architecture_test.go", fields[0], fields[1])
		}
		if fields[3] != "<nil>" {
			t.Errorf("%s is replaced by %s, want it as it was published", fields[1], fields[3])
		}
	}
	for module := range shipped {
		if !found[module] {
			t.Errorf("%s has a reason in architecture_test.go, and is not imported", module)
		}
	}
}
