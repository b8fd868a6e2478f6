package main

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const repository = "../.."

// TestRefusals runs the script with versions that it must refuse before it builds anything, in a folder with a changelog.
func TestRefusals(t *testing.T) {
	folder := t.TempDir()
	script := filepath.Join(folder, "internal", "release", "build.sh")
	if err := os.MkdirAll(filepath.Dir(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{
		script:                                 readFile(t, "internal/release/build.sh"),
		filepath.Join(folder, "CHANGELOG.md"):  "# Changelog\n\n## [Unreleased]\n\n- next\n\n## [1.2.3] - 2026-01-02\n\n- a\n\n## [1.2.2]\n\n## [1.2.1]\n\n- old\n",
		filepath.Join(folder, "out", "a file"): "",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	run := func(version string) string {
		t.Helper()
		cmd := exec.Command(script, "release")
		cmd.Env = append(os.Environ(), "VERSION="+version, "OUT="+filepath.Join(folder, "out"), "GUIDON_LOCAL="+filepath.Join(folder, "local"))
		printed, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%q is not refused: %s", version, printed)
		}
		return string(printed)
	}
	const another = "is not empty: choose an empty folder with OUT" // all is well but this
	for version, want := range map[string]string{
		"": "VERSION is missing", "v1.2.3": "is not a semantic version", "1.2": "is not a semantic version", "1.2.3+build": "is not a semantic version",
		"1.2.3-" + strings.Repeat("a", 64): "is not a semantic version", "01.2.3": "is not a semantic version", "1.2.3;id": "is not a semantic version",
		"1.2.3\n": "is not a semantic version", "1.2.2": "or an empty one", "1.3.0": "rename \"## [Unreleased]\" to \"## [1.3.0]",
		"1.2.3": another, "1.2.1": another, "1.3.0-rc.1": another,
	} {
		if printed := run(version); !strings.Contains(printed, want) {
			t.Errorf("%q: it prints %s; want %s", version, printed, want)
		}
	}
	if out, err := exec.Command("git", "init", "--quiet", folder).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	if printed := run("1.2.3"); !strings.Contains(printed, "?? CHANGELOG.md") {
		t.Errorf("with changes that are not committed it prints %s", printed)
	}
	if printed := run("1.2.3-rc.1"); !strings.Contains(printed, another) {
		t.Errorf("a pre-release with changes that are not committed prints %s", printed)
	}
}

// TestTemplate packs the template of the repository: nothing of it may refer to a build.
func TestTemplate(t *testing.T) {
	source, config := readFile(t, "template.yaml"), readFile(t, "samconfig.toml")
	functions := functionNames(t)
	for _, architecture := range []string{"arm64", "x86_64"} {
		packed, err := packagedTemplate(source, "1.2.3", architecture, len(functions))
		if err != nil {
			t.Fatal(err)
		}
		paths := regexp.MustCompile(`(?m)^ *CodeUri: (.*)$`).FindAllStringSubmatch(packed, -1)
		if len(paths) != len(functions) {
			t.Errorf("%d functions have an archive, want %d", len(paths), len(functions))
		}
		for _, path := range paths {
			name := strings.TrimSuffix(strings.TrimPrefix(path[1], "functions/"), ".zip")
			if !slices.Contains(functions, name) {
				t.Errorf("CodeUri is %s, which is no function", path[1])
			}
		}
		for _, text := range []string{"makefile", "make deploy` builds", "AllowedValues: [arm64, x86_64]"} {
			if strings.Contains(packed, text) {
				t.Errorf("the template contains %q", text)
			}
		}
		if want := ", Default: " + architecture + ", AllowedValues: [" + architecture + "]}\n"; !strings.Contains(packed, want) {
			t.Errorf("the template does not contain %q", want)
		}
		stages, err := packagedConfig(config, "1.2.3", architecture)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(stages, "Architecture="+architecture+" "); got != 3 || strings.Count(stages, "Architecture=") != 3 {
			t.Errorf("%d stages have the architecture %s, want 3:\n%s", got, architecture, stages)
		}
		if strings.Contains(stages, "build") || strings.Count(stages, ".deploy.parameters]") != 3 {
			t.Errorf("the stages have settings of the build, or no settings of the deployment:\n%s", stages)
		}
	}
}

// TestTemplateFaults checks that an edit that does not fit is an error.
func TestTemplateFaults(t *testing.T) {
	source, functions := readFile(t, "template.yaml"), functionNames(t)
	if _, err := packagedTemplate(source, "1.2.3", "arm64", len(functions)-1); err == nil {
		t.Error("a function without a program is packed")
	}
	for _, fault := range [][2]string{
		{"    CodeUri: .\n", ""},
		{"AllowedValues: [arm64, x86_64]}\n", "AllowedValues: [x86_64, arm64]}\n"},
		{"  FrontendFunction: #", "  FrontendLambda: #"},
		{"    Properties:\n      FunctionName: !Sub ${AWS::StackName}-Frontend\n", "    Properties: # of browsers\n      FunctionName: !Sub ${AWS::StackName}-Frontend\n"},
		{"Description: Guidon, ", "Description: "},
	} {
		if !strings.Contains(source, fault[0]) {
			t.Errorf("the template does not contain %q, so the fault cannot be tested", fault[0])
		}
		if _, err := packagedTemplate(strings.Replace(source, fault[0], fault[1], 1), "1.2.3", "arm64", len(functions)); err == nil {
			t.Errorf("%q instead of %q is packed", fault[1], fault[0])
		}
	}
}

func TestArchive(t *testing.T) {
	files := map[string]file{"b/run": {[]byte("program"), true}, "a.txt": {content: bytes.Repeat([]byte("a"), 1000)}, "b/c.zip": {content: []byte("packed")}}
	first, err := zipOf(files)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := zipOf(files); err != nil || !bytes.Equal(first, again) {
		t.Errorf("the second archive differs, %v", err)
	}
	r, err := zip.NewReader(bytes.NewReader(first), int64(len(first)))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, f := range r.File {
		names = append(names, f.Name)
		want := fs.FileMode(0o644)
		if files[f.Name].executable {
			want = 0o755
		}
		if f.Mode() != want || !f.Modified.Equal(epoch) {
			t.Errorf("%s: mode %s, time %s; want %s, %s", f.Name, f.Mode(), f.Modified, want, epoch)
		}
	}
	if want := []string{"a.txt", "b/c.zip", "b/run"}; !slices.Equal(names, want) {
		t.Errorf("the files are %v, want %v", names, want)
	}
}

func TestChecksums(t *testing.T) {
	for sum, want := range map[string]string{"h1:AAEC": "SHA-256 000102", "sha512-AwQF": "SHA-512 030405"} {
		if algorithm, content, err := hashOf(sum); err != nil || algorithm+" "+content != want {
			t.Errorf("%s is %s %s, %v; want %s", sum, algorithm, content, err, want)
		}
	}
	if _, _, err := hashOf("md5:AA"); err == nil {
		t.Error("a checksum of an unknown kind is accepted")
	}
	for url, m := range map[string]module{
		"pkg:golang/github.com/A/b/v2@v2.0.0%2Bincompatible": {kind: "golang", name: "github.com/A/b/v2", version: "v2.0.0+incompatible"},
		"pkg:npm/%40a/b@1.0.0":                               {kind: "npm", name: "@a/b", version: "1.0.0"},
	} {
		if m.url() != url {
			t.Errorf("the URL of %+v is %s, want %s", m, m.url(), url)
		}
	}
}

// TestModules reads the modules of this test program as if it were a function.
func TestModules(t *testing.T) {
	t.Chdir(repository)
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	functions := t.TempDir()
	at := filepath.Join(functions, "arm64", "features")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "bootstrap"), program, 0o600); err != nil {
		t.Fatal(err)
	}
	modules, err := release{"1.2.3", t.TempDir(), functions}.modules()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, m := range modules {
		found[m.name] = strings.Join(m.in, ", ")
		if m.version == "" {
			t.Errorf("%s has no version", m.name)
		}
	}
	for name, in := range map[string]string{"std": "functions", "golang.org/x/mod": "functions", "react": "command, functions", "rapidoc": "command, functions", "vitest": ""} {
		if found[name] != in {
			t.Errorf("%s is in %q, want %q", name, found[name], in)
		}
	}
}

// functionNames returns the names of the functions in the repository, sorted.
func functionNames(t *testing.T) (names []string) {
	t.Helper()
	mains, err := filepath.Glob(filepath.Join(repository, "functions", "*", "main.go"))
	if err != nil || len(mains) == 0 {
		t.Fatalf("no functions: %v", err)
	}
	for _, path := range mains {
		names = append(names, filepath.Base(filepath.Dir(path)))
	}
	slices.Sort(names)
	return names
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
