package infra_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// A workflow has what these tests read of a workflow of GitHub.
type workflow struct {
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]struct {
		Permissions map[string]string `yaml:"permissions"`
		Strategy    struct {
			Matrix map[string][]string `yaml:"matrix"`
		} `yaml:"strategy"`
		Steps []struct {
			Run string `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// TestWorkflowsRunCI checks that the jobs of ci.yml run every daily step of .ci/run and the steps whose area has changed, and that
// nightly.yml runs every nightly step and trust, each once and nothing else. .ci/nightly must run the same steps.
func TestWorkflowsRunCI(t *testing.T) {
	steps := map[string][]string{}
	for _, match := range regexp.MustCompile(`(?m)^(daily|nightly)="([a-z -]+)"`).FindAllStringSubmatch(read(t, "../.ci/run"), -1) {
		steps[match[1]] = strings.Fields(match[2])
	}
	if len(steps["daily"]) < 8 || len(steps["nightly"]) < 5 {
		t.Fatalf("only these steps were found in .ci/run: %v", steps)
	}
	for file, want := range map[string][]string{
		"ci.yml":      append(steps["daily"], "changed"),
		"nightly.yml": append(steps["nightly"], "trust"),
	} {
		var got []string
		for name, job := range readWorkflow(t, "../.github/workflows/"+file).Jobs {
			for _, steps := range job.Strategy.Matrix["steps"] {
				got = append(got, strings.Fields(steps)...)
			}
			for _, s := range job.Steps {
				if s.Run != "" && s.Run != ".ci/run ${{ matrix.steps }}" {
					t.Errorf("the job %s of %s runs %q, which is not in .ci/run", name, file, s.Run)
				}
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("the jobs of %s run the steps\n%v, want\n%v", file, got, want)
		}
	}
	var got []string
	for _, call := range regexp.MustCompile(`(?m)^\.ci/run (.+)$`).FindAllStringSubmatch(read(t, "../.ci/nightly"), -1) {
		got = append(got, strings.Fields(call[1])...)
	}
	if want := slices.Concat(steps["nightly"], []string{"trust"}); !slices.Equal(got, want) {
		t.Errorf(".ci/nightly runs the steps\n%v, want\n%v", got, want)
	}
}

// TestWorkflowPermissions checks that each workflow may only read, except the jobs listed here, and has no stored credentials.
func TestWorkflowPermissions(t *testing.T) {
	allowed := map[string]map[string]string{
		"release.yml publish":     {"contents": "write"},
		"deploy.yml dev":          {"contents": "read", "id-token": "write"},
		"deploy.yml staging":      {"contents": "read", "id-token": "write"},
		"deploy.yml prod":         {"contents": "read", "id-token": "write"},
		"rollback.yml rollback":   {"contents": "read", "id-token": "write"},
		"deploy-stage.yml deploy": {"contents": "read", "id-token": "write"},
		"prove.yml prove":         {"contents": "read", "id-token": "write"},
	}
	for _, path := range workflows(t) {
		file := filepath.Base(path)
		w := readWorkflow(t, path)
		if w.Permissions == nil || len(w.Permissions) > 1 || (len(w.Permissions) == 1 && w.Permissions["contents"] != "read") {
			t.Errorf("%s has the permissions %v; the most for a whole workflow is contents: read", file, w.Permissions)
		}
		for name, job := range w.Jobs {
			if want := allowed[file+" "+name]; !maps.Equal(job.Permissions, want) {
				t.Errorf("the job %s of %s has the permissions %v, want %v", name, file, job.Permissions, want)
			}
			delete(allowed, file+" "+name)
		}
		if source := read(t, path); strings.Contains(source, "secrets.") || strings.Contains(source, "secrets:") {
			t.Errorf("%s uses a stored secret", file)
		}
	}
	if len(allowed) > 0 {
		t.Errorf("these jobs were not found: %v", slices.Sorted(maps.Keys(allowed)))
	}
}

// TestPipelineSecrets checks that a pipeline may create each secret of the template, and that the boundary lets functions read it.
// CloudFormation gives a secret the name <logical id>-<random>, and roles.yaml has these names.
func TestPipelineSecrets(t *testing.T) {
	roles := read(t, "pipeline/roles.yaml")
	secrets := regexp.MustCompile(`(?m)^  (\w+):.*\n    Type: AWS::SecretsManager::Secret$`).FindAllStringSubmatch(read(t, "../template.yaml"), -1)
	if len(secrets) < 3 {
		t.Fatalf("only these secrets were found in the template: %v", secrets)
	}
	for _, secret := range secrets {
		if got := strings.Count(roles, ":secret:"+secret[1]+"-*"); got != 3 {
			t.Errorf("roles.yaml names the secret %s %d times, want 3: twice in DataPolicy, and in Boundary", secret[1], got)
		}
	}
}

// TestWorkflowGoVersion checks that the workflows build with the latest patch of the minor version in go.mod. Its own line names the
// oldest version that works, which lacks fixes of the standard library.
func TestWorkflowGoVersion(t *testing.T) {
	minor := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "../go.mod"))
	if minor == nil {
		t.Fatal("go.mod has no version of Go")
	}
	found := 0
	for _, path := range workflows(t) {
		source := read(t, path)
		setups := strings.Count(source, "uses: actions/setup-go@")
		found += setups
		if want := `{go-version: "` + minor[1] + `", check-latest: true`; strings.Count(source, want) != setups {
			t.Errorf("%s sets up Go %d times, and %s…} is not in each", path, setups, want)
		}
	}
	if found < 4 {
		t.Errorf("%d workflows set up Go, want 4", found)
	}
}

// An action is named by its commit, since a tag can be moved to other code. The comment has the version of the commit.
var (
	uses   = regexp.MustCompile(`(?m)uses: *(\S+.*)$`)
	pinned = regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40} # v[0-9.]+$`)
)

func TestActionsArePinned(t *testing.T) {
	versions := map[string]string{}
	for _, path := range workflows(t) {
		for _, use := range uses.FindAllStringSubmatch(read(t, path), -1) {
			if strings.HasPrefix(use[1], "./.github/workflows/") {
				continue
			}
			if !pinned.MatchString(use[1]) {
				t.Errorf("%s: %q is not owner/name@commit # version", path, use[1])
				continue
			}
			name, version, _ := strings.Cut(use[1], "@")
			if versions[name] == "" {
				versions[name] = version
			}
			if versions[name] != version {
				t.Errorf("%s uses %s at %s, another workflow at %s", path, name, version, versions[name])
			}
		}
	}
	if len(versions) < 5 {
		t.Errorf("only these actions were found: %v", versions)
	}
}

// workflows returns the paths of this repository's workflows and of those that it offers.
func workflows(t *testing.T) []string {
	t.Helper()
	ours, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	offered, err := filepath.Glob("pipeline/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	if len(ours) != 3 || len(offered) != 4 {
		t.Errorf("found the workflows %v and %v, want three and four", ours, offered)
	}
	return append(ours, offered...)
}

func readWorkflow(t *testing.T, path string) workflow {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(read(t, path)), &w); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return w
}

func read(t *testing.T, path string) string {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}
