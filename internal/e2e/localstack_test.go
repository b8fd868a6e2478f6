package e2e

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/goccy/go-yaml"

	"guidon/internal/engine"
	"guidon/pkg/access"
	"guidon/pkg/dynamo"
	"guidon/pkg/flags"
)

// A container is a folder with the mounts of localstack/compose.yaml, and an engine in place of LocalStack. The real ready
// hook runs in it, with a fake awslocal that stores secrets in files.
type container struct {
	root   string // the folder
	bin    string // the stand-ins for programs
	local  string // GUIDON_LOCAL
	engine *engine.Engine
}

const containerPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// standInAWSLocal creates and finds secrets as files beside itself.
const standInAWSLocal = `#!/bin/sh
test "$AWS_ACCESS_KEY_ID $AWS_REGION" = "test us-east-1" || exit 9
case "$1 $2 $3" in
"secretsmanager describe-secret --secret-id") test -s "$(dirname "$0")/secret-$4" ;;
"secretsmanager create-secret --name") test "$5" = --secret-string && cat "${6#file://}" >"$(dirname "$0")/secret-$4" ;;
*) exit 9 ;;
esac
`

func newContainer(t *testing.T) *container {
	t.Helper()
	dir := t.TempDir()
	c := &container{root: filepath.Join(dir, "root"), bin: filepath.Join(dir, "bin"), local: filepath.Join(dir, "local")}
	var err error
	if c.engine, err = engine.Start(t.Context(), engine.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.engine.Stop)
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	c.write(t, filepath.Join(c.local, "bin", "guidon"), string(program))
	c.write(t, filepath.Join(c.local, "localstack", "guidon"), string(program))
	c.write(t, filepath.Join(c.bin, "awslocal"), standInAWSLocal)
	for source, target := range c.mounts(t) {
		target = filepath.Join(c.root, target)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(source, target); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c *container) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// A composition contains the fields of compose.yaml that the tests use.
type composition struct {
	Services map[string]struct {
		Image       string            `yaml:"image"`
		Ports       []string          `yaml:"ports"`
		Environment map[string]string `yaml:"environment"`
		Volumes     []string          `yaml:"volumes"`
	} `yaml:"services"`
}

var composeVariable = regexp.MustCompile(`\$\{(\w+):-([^}]*)\}`)

// readComposition reads compose.yaml with variables.
func readComposition(t *testing.T, variables map[string]string) composition {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "localstack", "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := composeVariable.ReplaceAllStringFunc(string(raw), func(s string) string {
		m := composeVariable.FindStringSubmatch(s)
		if value, set := variables[m[1]]; set {
			return value
		}
		return m[2]
	})
	var got composition
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// mounts returns the mounts of compose.yaml by their path on the host.
func (c *container) mounts(t *testing.T) map[string]string {
	t.Helper()
	mounts := map[string]string{}
	for _, volume := range readComposition(t, map[string]string{"GUIDON_LOCAL": c.local}).Services["localstack"].Volumes {
		parts := strings.Split(volume, ":")
		if len(parts) != 3 || parts[2] != "ro" {
			t.Fatalf("volume %q, want source:target:ro", volume)
		}
		source := parts[0]
		if !filepath.IsAbs(source) {
			source = filepath.Join(root, "localstack", source)
		}
		if _, err := os.Stat(source); err != nil {
			t.Fatal(err)
		}
		mounts[source] = parts[1]
	}
	return mounts
}

// environment returns the environment of the hook, with the engine's address as that of LocalStack.
func (c *container) environment() []string {
	return []string{"PATH=" + c.bin + ":" + containerPath, "GUIDON=" + filepath.Join(c.root, "guidon"), "AWS_ENDPOINT_URL=" + c.engine.URL()}
}

// ready runs every hook as LocalStack does.
func (c *container) ready(t *testing.T) {
	t.Helper()
	hooks, err := filepath.Glob(filepath.Join(c.root, "etc/localstack/init/ready.d/*.sh"))
	if err != nil || len(hooks) != 1 {
		t.Fatalf("hooks %v, %v; want one", hooks, err)
	}
	cmd := exec.CommandContext(t.Context(), hooks[0])
	cmd.Env, cmd.Dir = c.environment(), c.root
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "are ready") {
		t.Fatalf("the ready hook: %v; it printed\n%s", err, out)
	}
}

func TestCompose(t *testing.T) {
	got := readComposition(t, nil).Services["localstack"]
	if got.Image != "localstack/localstack:4.14.0" {
		t.Errorf("image is %s, want the last that runs without an account's token", got.Image)
	}
	if len(got.Ports) != 1 || got.Ports[0] != "127.0.0.1:4566:4566" {
		t.Errorf("ports are %v, want one on 127.0.0.1", got.Ports)
	}
	if got.Environment["SERVICES"] != "dynamodb,secretsmanager" {
		t.Errorf("services are %s", got.Environment["SERVICES"])
	}
	if other := readComposition(t, map[string]string{"LOCALSTACK_IMAGE": "other:1"}).Services["localstack"].Image; other != "other:1" {
		t.Errorf("image is %s, want that of LOCALSTACK_IMAGE", other)
	}
}

// TestLocalStackReadyHook checks that the hook creates and seeds the table, stores the key in Secrets Manager, and can run
// again.
func TestLocalStackReadyHook(t *testing.T) {
	c := newContainer(t)
	const key = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	c.write(t, filepath.Join(c.local, "localstack", "token.key"), key)
	c.ready(t)
	c.ready(t)

	if got, err := os.ReadFile(filepath.Join(c.bin, "secret-guidon-token-key")); err != nil || string(got) != key {
		t.Errorf("the secret is %q, %v; want the key", got, err)
	}
	store, err := dynamo.Open(t.Context(), dynamo.Options{Table: "guidon", Endpoint: c.engine.URL()})
	if err != nil {
		t.Fatal(err)
	}
	project, admin := flags.ProjectKey(flags.DefaultProject), access.TokenKey(access.HashSecret(defaultToken))
	view, err := store.Load(t.Context(), []flags.Key{project, admin})
	if err != nil || len(view) != 2 {
		t.Fatalf("the table holds %v of the project and the admin token, %v", slices.Collect(maps.Keys(view)), err)
	}
	if left, err := filepath.Glob(filepath.Join(c.local, "localstack", "*")); err != nil || len(left) != 2 {
		t.Errorf("the mounted folder holds %v, %v; want it as it was: the container can only read it", left, err)
	}
}

// TestServeLocalStack runs serve.sh, as `make localstack` does, with a fake docker. The server uses the engine that the hook
// prepared, shows the secret of a seeded token, and Ctrl-C stops the server and the container.
func TestServeLocalStack(t *testing.T) {
	const clientToken = "default:development.only-the-hook-knows-it"
	c := newContainer(t)
	c.write(t, filepath.Join(c.bin, "docker"), `#!/bin/sh
echo "$@" >>"$(dirname "$0")/docker.log"
case "$*" in
"compose -f compose.yaml up --detach --wait")
	exec env -i 'INIT_CLIENT_API_TOKENS=`+clientToken+`' '`+strings.Join(c.environment(), "' '")+`' '`+c.root+`/etc/localstack/init/ready.d/guidon.sh' ;;
"compose -f compose.yaml down --volumes") ;;
*) exit 9 ;;
esac
`)
	engineURL, err := url.Parse(c.engine.URL())
	if err != nil {
		t.Fatal(err)
	}
	edge := httptest.NewServer(httputil.NewSingleHostReverseProxy(engineURL)) // LocalStack's port needs no secret
	t.Cleanup(edge.Close)
	port, edgePort := freePort(t), portOf(t, edge.URL)
	cmd := exec.Command(filepath.Join(root, "localstack", "serve.sh"))
	settings := []string{
		"GUIDON_LOCAL=" + c.local, "PATH=" + c.bin + ":" + os.Getenv("PATH"), "PORT=" + port, "LOCALSTACK_PORT=" + edgePort,
	}
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isSetting), settings...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C goes to all of a group
	g := &gateway{process: follow(t, cmd, settings), port: port, token: defaultToken, http: &http.Client{Timeout: endTimeout}}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }) // fails when all have ended, as they should
	g.awaitHealth(t)

	var got struct{ Tokens []map[string]any }
	g.do(t, 200, "GET", "/api/admin/api-tokens", nil, &got)
	if !slices.ContainsFunc(got.Tokens, func(token map[string]any) bool { return token["secret"] == clientToken }) {
		t.Errorf("tokens are %v, want the hook's with its secret: the hook and the gateway must have the same key", got.Tokens)
	}
	if info, err := os.Stat(filepath.Join(c.local, "localstack", "token.key")); err != nil || info.Mode().Perm() != 0o600 || info.Size() != 64 {
		t.Errorf("the key file is %v, %v; want 64 characters that only the owner can read", info, err)
	}

	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	g.wait(t)
	calls, err := os.ReadFile(filepath.Join(c.bin, "docker.log"))
	if want := "compose -f compose.yaml up --detach --wait\ncompose -f compose.yaml down --volumes\n"; err != nil || string(calls) != want {
		t.Errorf("docker was called with\n%s(%v), want\n%s", calls, err, want)
	}
}

func TestSetupRefusals(t *testing.T) {
	for _, tt := range []struct{ argument, says string }{
		{"setup", "AWS_ENDPOINT_URL_DYNAMODB"},
		{"seed", `unknown command "seed"`},
	} {
		cmd := exec.CommandContext(t.Context(), binary, tt.argument)
		cmd.Env = append(slices.DeleteFunc(os.Environ(), isSetting), "DATA_DIR="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), tt.says) {
			t.Errorf("%s: %v: %s, want an error that says %s", tt.argument, err, out, tt.says)
		}
	}
}
