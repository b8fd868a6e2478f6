// Package guidon_test holds the rules that keep Guidon easy to change: which package may import which.
//
//	functions, server → admin/…, dynamo, lambdahttp
//	admin/… → admin/wire → httpapi → flags
//	admin/… → events → shape → access, usage → flags
//
// The domain (flags) knows nothing of HTTP and AWS, the interface (httpapi) nothing of the store (dynamo), and the store
// nothing of the interface. A Lambda function links only what it needs.
package guidon_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Import paths that the rules name. A path stands for itself and everything below it.
const (
	aws        = "github.com/aws/"
	awsSDK     = "github.com/aws/aws-sdk-go-v2"
	awslabs    = "github.com/awslabs/"
	yaml       = "github.com/goccy/go-yaml"
	kin        = "github.com/getkin/"
	goCmp      = "github.com/google/go-cmp"
	jsonSchema = "github.com/google/jsonschema-go"
	flags      = "guidon/pkg/flags"
	access     = "guidon/pkg/access"
	usage      = "guidon/pkg/usage"
	shape      = "guidon/pkg/shape"
	events     = "guidon/pkg/events"
	httpapi    = "guidon/pkg/httpapi"
	admin      = "guidon/pkg/admin" // and the packages of operations below it
	dynamo     = "guidon/pkg/dynamo"
	localtable = dynamo + "/localtable"
	serving    = "guidon/pkg/serving"
	ingest     = "guidon/pkg/ingest"
	edge       = "guidon/pkg/edge"
	docs       = "guidon/pkg/docs"
	console    = "guidon/console"
	functions  = "guidon/functions"
	infra      = "guidon/infra"
	server     = "guidon/pkg/server" // the local server
	command    = "guidon/cmd"
	zitadel    = "github.com/zitadel/" // the OpenID provider of the tests
	cobra      = "github.com/spf13/"
	internal   = "guidon/internal" // the local engine, and what only tests or measures
)

// testTooling lists the packages that exist for tests and measurements only.
var testTooling = []string{
	"testing", goCmp, "github.com/Unleash", zitadel, internal + "/unleash",
	dynamo + "/dynamotest", "guidon/pkg/apitest",
	internal + "/bench", internal + "/bill", internal + "/capacity", internal + "/clientspec", internal + "/contract", internal + "/e2e", internal + "/gateway", internal + "/matrix", internal + "/migration",
	internal + "/oidctest", internal + "/prove", internal + "/release", internal + "/samlocal", internal + "/samples", internal + "/stage",
}

// rules lists what the packages of a pattern may not import, directly or through others.
var rules = []struct {
	packages string
	tests    bool // whether the rule holds for the tests of these packages too
	mayNot   [][]string
	why      string
}{
	{"./pkg/flags", false, [][]string{{"net/http", aws, awslabs, access, usage, shape, events, dynamo, httpapi, server, internal, infra}, testTooling},
		"the rules of the domain can be read and tested without HTTP, AWS and a database"},
	{"./pkg/access", false, [][]string{{"net/http", aws, awslabs, usage, shape, events, dynamo, httpapi, server, internal, infra}, testTooling},
		"who may do what is decided by the domain, without HTTP, AWS and a database"},
	{"./pkg/usage", false, [][]string{{"net/http", aws, awslabs, shape, events, dynamo, httpapi, server, internal, infra}, testTooling},
		"the rules of usage can be read and tested without HTTP, AWS and a database"},
	{"./pkg/review", false, [][]string{{"net/http", aws, awslabs, access, usage, shape, events, dynamo, httpapi, server, internal, infra}, testTooling},
		"the rules of change requests can be read and tested without HTTP, AWS and a database"},
	{"./pkg/published", false, [][]string{{aws, awslabs, dynamo, httpapi, serving, edge, admin, server, internal, infra}, testTooling},
		"the function that publishes and Guidon Edge share a form, and neither the store nor each other"},
	{"./pkg/evaluate", false, [][]string{{"net/http", aws, awslabs, "guidon/pkg/admin", flags, shape, events, dynamo, httpapi, server, internal, infra}, testTooling},
		"the evaluator is pure, and others can import it without the rest of Guidon"},
	{"./pkg/shape", false, [][]string{{"net/http", aws, awslabs, events, dynamo, httpapi, server, internal, infra}, testTooling},
		"the JSON of small values is shared by the store, the events and the interface"},
	{"./pkg/events", false, [][]string{{"net/http", aws, awslabs, dynamo, httpapi, server, internal, infra}, testTooling},
		"what an event tells depends on the domain only, never on an answer"},
	{"./pkg/jsonbody", false, [][]string{{"net/http", aws, awslabs, events, dynamo, httpapi, server, internal, infra}, testTooling},
		"all bodies are decoded the same way"},
	{"./pkg/backoff", false, [][]string{{"net/http", aws, awslabs, flags, events, dynamo, httpapi, server, internal, infra}, testTooling},
		"the store and the kernel wait in the same way after a conflict"},
	{"./pkg/apipath", false, [][]string{{aws, awslabs, flags, httpapi}}, "it is words, which every function can use"},
	{"./pkg/httpapi", false, [][]string{{aws, awslabs, dynamo, docs, kin, server, internal, infra, "guidon/pkg/admin"}, testTooling},
		"the kernel runs operations over any store, and knows none of them"},
	{"./pkg/admin/...", false, [][]string{{aws, awslabs, dynamo, docs, kin, server, command, internal, infra}, testTooling},
		"operations are plain functions over the kernel and the domain"},
	{"./pkg/agents", false, [][]string{{aws, awslabs, dynamo, docs, kin, serving, ingest, server, command, internal, infra}, testTooling},
		"its tools call operations, over any store or over HTTP"},
	{"./pkg/dynamo", false, [][]string{{awslabs, httpapi, events, server, internal, infra}, testTooling},
		"the store knows nothing of the requests that it serves"},
	{"./pkg/lambdahttp", false, [][]string{{awsSDK, dynamo, httpapi, server, internal, infra}, testTooling},
		"it translates the events of Lambda to net/http, for any handler"},
	{"./pkg/docs", false, [][]string{{aws, awslabs, dynamo, kin, server, internal}, testTooling},
		"the page with the description is static"},
	{"./console", false, [][]string{{aws, awslabs, dynamo, docs, admin, kin, server, command, internal, infra}, testTooling},
		"the files of the console are static"},
	{"./pkg/answers", false, [][]string{{aws, awslabs, dynamo, httpapi, events, serving, admin, docs, kin, server, command, internal, infra}, testTooling},
		"it makes responses from what it is given, without a store, so that another program can make the same ones"},
	{"./pkg/serving", false, [][]string{{aws, awslabs, dynamo, docs, admin, kin, server, command, internal, infra}, testTooling},
		"it answers applications over any store, and knows nothing of the administration"},
	{"./pkg/webhook", false, [][]string{{aws, awslabs, dynamo, httpapi, docs, admin, kin, server, command, internal, infra}, testTooling},
		"it delivers events from any store, and knows nothing of the interface"},
	{"./pkg/ingest", false, [][]string{{aws, awslabs, dynamo, docs, admin, serving, kin, server, command, internal, infra}, testTooling},
		"it records usage over any store, and knows nothing of the administration and of what applications read"},
	{"./pkg/edge", false, [][]string{{awslabs, dynamo, awsSDK + "/service/dynamodb", docs, admin, serving, kin, server, command, internal, infra, cobra}, testTooling},
		"it serves applications with what an upstream tells, without a store, and is small"},
	{"./cmd/guidon-edge", false, [][]string{{awslabs, dynamo, awsSDK + "/service/dynamodb", admin, serving, console, server, internal, cobra, yaml}},
		"it is small, and has nothing of the administration"},
	{"./pkg/aggregate", false, [][]string{{"net/http", aws, awslabs, dynamo, httpapi, shape, events, admin, serving, server, command, internal, infra}, testTooling},
		"it adds usage to the sums of any store, and serves no requests"},
	{"./pkg/bootstrap", false, [][]string{{"net/http", aws, awslabs, dynamo, httpapi, server, internal, infra}, testTooling},
		"it decides what a new instance contains; functions, the server and tests store it"},
	{"./pkg/oidc", false, [][]string{{aws, awslabs, shape, events, dynamo, httpapi, admin, serving, server, internal, infra}, testTooling},
		"it signs people in at a provider, and knows nothing of users, the store and the interface"},
	{"./pkg/session", false, [][]string{{aws, awslabs, shape, events, dynamo, httpapi, admin, serving, server, internal, infra, "guidon/pkg/oidc"}, testTooling},
		"it decides whose session a request has, and links no provider at which people sign in"},
	{"./pkg/seal", false, [][]string{{"net/http", aws, awslabs, dynamo, httpapi, server, internal, infra}, testTooling},
		"it encrypts with a key that its caller has read"},

	{"./functions/...", false, [][]string{{edge, server, command, cobra, internal, yaml, kin, localtable}, testTooling},
		"everything that a function links adds to its cold start, and to what has to be reviewed"},
	{"./functions/site", false, [][]string{{awsSDK, dynamo}},
		"it serves static pages and answers unknown paths, and reads no data"},
	{"./functions/applications", false, [][]string{{admin, console, jsonSchema}}, "it serves applications, and links nothing of the administration"},
	{"./functions/frontend", false, [][]string{{admin, console, jsonSchema}}, "it serves applications, and links nothing of the administration"},
	{"./functions/snapshot", false, [][]string{{admin, console}}, "it serves applications, and links nothing of the administration"},
	{"./functions/access", false, [][]string{{serving, ingest, console}}, "it is for the administration, and links nothing that serves applications"},
	{"./functions/features", false, [][]string{{serving, ingest, console}}, "it is for the administration, and links nothing that serves applications"},
	{"./functions/aggregate", false, [][]string{{admin, serving}}, "it adds usage to the sums, and serves no requests"},
	{"./functions/deliver", false, [][]string{{admin, serving, ingest}}, "it delivers events, and serves no requests"},
	{"./pkg/server/...", false, [][]string{{functions}, testTooling},
		"the server is for users: it ships no test tooling, and serves the handlers of the functions, not the functions"},
	{"./cmd/...", false, [][]string{{functions}, testTooling},
		"the command is for users: it ships no test tooling"},

	{"./pkg/dynamo/dynamotest", false, [][]string{{server, infra, functions, httpapi}},
		"test helpers depend on what they test only, or the tests of other packages cannot import them"},
	{"./internal/...", true, [][]string{{server, infra, functions}},
		"tests from outside run the server, the functions and the scripts as programs, as a user does"},
}

func TestDependencies(t *testing.T) {
	for _, rule := range rules {
		t.Run(rule.packages, func(t *testing.T) {
			args := []string{"-deps", "-f", "{{.ImportPath}}"}
			if rule.tests {
				args = append(args, "-test", "-tags", "sam,image,deploy,release,clients")
			}
			for _, dep := range goList(t, append(args, rule.packages)...) {
				for _, paths := range rule.mayNot {
					for _, path := range paths {
						if dep == path || strings.HasPrefix(dep, strings.TrimSuffix(path, "/")+"/") {
							t.Errorf("%s imports %s, directly or through another package, and may not: %s", rule.packages, dep, rule.why)
						}
					}
				}
			}
		})
	}
}

// TestRulesNamePackages checks that the packages in the rules exist: a rule about one that was renamed would always pass.
func TestRulesNamePackages(t *testing.T) {
	packages := goList(t, "-tags", "sam,image,deploy,release,clients,contract,migration,upgrade", "-f", "{{.ImportPath}}", "./...")
	named := slices.Clone(testTooling)
	for _, rule := range rules {
		named = append(named, strings.TrimSuffix(strings.Replace(rule.packages, ".", "guidon", 1), "/..."))
		named = append(named, slices.Concat(rule.mayNot...)...)
	}
	for _, name := range named {
		exists := func(path string) bool { return path == name || strings.HasPrefix(path, name+"/") }
		if strings.HasPrefix(name, "guidon/") && !slices.ContainsFunc(packages, exists) {
			t.Errorf("a rule names %s, which does not exist", name)
		}
	}
}

// TestTokenKeyReaders checks which functions could read the key that encrypts the secrets of tokens and webhooks: access creates
// tokens, integrations stores the secrets of webhooks, deliver sends events with them, and setup creates the first token. Only
// access reads the settings of OpenID Connect, and only configuration, features and transfer,
// which serve release plans and their templates, read alarms.
func TestTokenKeyReaders(t *testing.T) {
	readers := map[string][]string{
		"guidon/pkg/oidc":                  {"access", "guidon/cmd/guidon"},
		"guidon/pkg/secretsmanager":        {"access", "deliver", "integrations", "setup"},
		awsSDK + "/service/secretsmanager": {"access", "deliver", "integrations", "setup"},
		awsSDK + "/service/cloudwatch":     {"configuration", "features", "transfer"},
	}
	for _, function := range goList(t, "-f", "{{.ImportPath}}", "./functions/...", "./cmd/guidon") {
		deps := goList(t, "-deps", "-f", "{{.ImportPath}}", function)
		name := strings.TrimPrefix(function, functions+"/")
		for reader, of := range readers {
			if links, want := slices.Contains(deps, reader), slices.Contains(of, name); links != want {
				t.Errorf("%s links %s: %t, want %t", function, reader, links, want)
			}
		}
	}
}

// TestAreas checks that the packages of operations do not import each other: what several of them need is in wire. So a
// function links the operations that it serves, and no others. Only the changes of a change request are operations of other packages.
func TestAreas(t *testing.T) {
	for _, line := range goList(t, "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./pkg/admin/...") {
		path, imports, _ := strings.Cut(line, " ")
		for imported := range strings.FieldsSeq(imports) {
			if path != admin && path != admin+"/requests" && imported != admin+"/wire" && (imported == admin || strings.HasPrefix(imported, admin+"/")) {
				t.Errorf("%s imports %s, and may import only wire of the packages of operations", path, imported)
			}
		}
	}
}

// TestDynamoDBImports checks that only the store, and the package that creates a local table, import the DynamoDB client
// directly, tests aside. The start-up of functions is compared with that of a program that only has this client.
func TestDynamoDBImports(t *testing.T) {
	for _, line := range goList(t, "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...") {
		path, imports, _ := strings.Cut(line, " ")
		if path == dynamo || path == localtable || path == internal+"/bench/hello" {
			continue
		}
		for imported := range strings.FieldsSeq(imports) {
			if strings.HasPrefix(imported, awsSDK+"/") && strings.Contains(imported, "dynamodb") {
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

// shipped lists the modules that the Lambda functions import directly, each with the reason for it. Add a new module here
// first. The modules that these import in turn are the AWS SDK's own.
var shipped = map[string]string{
	"github.com/aws/aws-lambda-go":                                 "Lambda's own: the types of events, and the loop that receives them",
	"github.com/awslabs/aws-lambda-go-api-proxy":                   "translates events to net/http requests, and responses back",
	"github.com/aws/aws-sdk-go-v2":                                 "AWS's own",
	"github.com/aws/aws-sdk-go-v2/config":                          "AWS's own: region and credentials of the function's role",
	"github.com/aws/aws-sdk-go-v2/credentials":                     "AWS's own: fixed credentials for a local engine",
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue": "AWS's own: items",
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression":     "AWS's own: conditions, with values passed apart from the expression",
	"github.com/aws/aws-sdk-go-v2/service/dynamodb":                "AWS's own: the table",
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch":              "AWS's own: the alarms that stop release plans",
	"github.com/aws/aws-sdk-go-v2/service/codedeploy":              "AWS's own: the hook before a canary",
	"github.com/aws/aws-sdk-go-v2/service/lambda":                  "AWS's own: the hook invokes new versions",
	"github.com/aws/aws-sdk-go-v2/service/s3":                      "AWS's own: the buckets with published flags",
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager":          "AWS's own: the key that encrypts tokens",
	"github.com/coreos/go-oidc/v3":                                 "OpenID Connect: discovery, and the check of ID tokens",
	"golang.org/x/mod":                                             "compares semantic versions (package semver); Go's own",
	"golang.org/x/sync":                                            "bounds how much is done at the same time (package errgroup); Go's own",
	"github.com/modelcontextprotocol/go-sdk":                       "MCP's own: both revisions of the protocol for AI agents",
	"golang.org/x/time":                                            "bounds the reads for unknown tokens in a second (package rate); Go's own",
	"golang.org/x/oauth2":                                          "OAuth 2.0: the exchange of a code, with PKCE",
	"github.com/aws/smithy-go":                                     "AWS's own: the errors of the SDK",
	"github.com/go-json-experiment/json":                           "JSON that rejects duplicate names and invalid UTF-8; to become encoding/json/v2",
	"github.com/google/jsonschema-go":                              "JSON Schemas of the values of typed flags; it has no dependencies",
	"github.com/evanphx/json-patch/v5":                             "RFC 6902 (JSON Patch), with a limit on what copies add",
	"github.com/twmb/murmur3":                                      "the hash that all SDKs use for rollouts and variants",
	"github.com/google/uuid":                                       "UUIDs, including those ordered by time",
}

// TestModules checks that the Lambda functions import no module directly that is not in shipped, and that none of those
// is replaced in go.mod.
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
			t.Errorf("%s is imported, of the module %s: add it to shipped in architecture_test.go, with a reason", fields[0], fields[1])
		}
		if fields[3] != "<nil>" {
			t.Errorf("%s is replaced by %s, use the published module", fields[1], fields[3])
		}
	}
	for module := range shipped {
		if !found[module] {
			t.Errorf("%s is in shipped (architecture_test.go), but no function imports it: remove it", module)
		}
	}
}
