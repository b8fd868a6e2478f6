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
		{"./functions/...", []string{local, yaml, openapi, testing_, "github.com/google/go-cmp"}},
		{"./...", []string{"github.com/Unleash"}}, // the client is for tests
		{"./functions/fallback", []string{"github.com/aws/aws-sdk-go-v2", dynamo, page}},
		{"./functions/docs", []string{"github.com/aws/aws-sdk-go-v2", dynamo}},
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
