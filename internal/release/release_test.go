package main

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const repository = "../.."

func TestVersions(t *testing.T) {
	for _, text := range []string{"1.2.3", "1.2.3-rc.1", "0.1.0"} {
		if got, err := parseVersion(text); err != nil || got.String() != text {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "v1.2.3", "1.2", "1.2.3+build", "1.2.3-" + strings.Repeat("a", maxVersion), "01.2.3", "1.2.3;id"} {
		if _, err := parseVersion(text); err == nil || !strings.Contains(err.Error(), "make release VERSION=1.2.3") {
			t.Errorf("%q: %v; want an error that says how to release", text, err)
		}
	}
}

func TestChanges(t *testing.T) {
	const changelog = "# Changelog\n\n## [Unreleased]\n\n- next\n\n## [1.2.3] - 2026-01-02\n\n### Added\n\n- a\n\n## [1.2.2-rc.1]\n\n## [1.2.2]\n\n## [1.2.1]\n\n- old\n"
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "CHANGELOG.md"), []byte(changelog), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ version, want, fails string }{
		{"1.2.3", "# Guidon 1.2.3\n\n### Added\n\n- a\n", ""},
		{"1.2.1", "# Guidon 1.2.1\n\n- old\n", ""},
		{"1.3.0-rc.1", "# Guidon 1.3.0-rc.1\n\n- next\n", ""},
		{"1.2.2-rc.1", "# Guidon 1.2.2-rc.1\n\nNo changes are listed.\n", ""},
		{"1.2.2", "", "is empty"},
		{"1.2", "", "VERSION"},
		{"1.3.0", "", `rename "## [Unreleased]" to "## [1.3.0]`},
	} {
		t.Run(tt.version, func(t *testing.T) {
			version, err := parseVersion(tt.version)
			got := ""
			if err == nil {
				got, err = changes(folder, version)
			}
			if got != tt.want || (err != nil) != (tt.fails != "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("got %q, %v; want %q, %q", got, err, tt.want, tt.fails)
			}
		})
	}
}

func TestUncommittedChanges(t *testing.T) {
	if err := uncommitted(""); err != nil {
		t.Errorf("nothing has changed: %v", err)
	}
	err := uncommitted(strings.Repeat(" M a.go\n", 1000) + "?? b.go\n")
	if err == nil || !strings.Contains(err.Error(), " M a.go\n") || len(err.Error()) > 500 {
		t.Errorf("got %v, want an error that names the first files", err)
	}
	folder := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(folder))
	if err := checkCommitted(folder); err != nil {
		t.Errorf("a folder without Git: %v", err)
	}
}

// TestTemplate packs the template of the repository: nothing of it may refer to a build.
func TestTemplate(t *testing.T) {
	source, config := readFile(t, "template.yaml"), readFile(t, "samconfig.toml")
	functions := functionNames(t)
	for _, architecture := range []string{"arm64", "x86_64"} {
		packed, err := packagedTemplate(source, "1.2.3", architecture, functions)
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
	if _, err := packagedTemplate(source, "1.2.3", "arm64", functions[1:]); err == nil {
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
		if _, err := packagedTemplate(strings.Replace(source, fault[0], fault[1], 1), "1.2.3", "arm64", functions); err == nil {
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

func TestComponents(t *testing.T) {
	for _, tt := range []struct {
		module module
		url    string
		hash   hash
	}{
		{module{system: "go", name: "github.com/A/b/v2", version: "v2.0.0+incompatible", sum: "h1:AAEC"}, "pkg:golang/github.com/A/b/v2@v2.0.0%2Bincompatible", hash{"SHA-256", "000102"}},
		{module{system: "npm", name: "@a/b", version: "1.0.0", sum: "sha512-AwQF"}, "pkg:npm/%40a/b@1.0.0", hash{"SHA-512", "030405"}},
	} {
		got, err := componentOf(tt.module)
		if err != nil || got.PURL != tt.url || len(got.Hashes) != 1 || got.Hashes[0] != tt.hash {
			t.Errorf("got %+v, %v; want %s, %v", got, err, tt.url, tt.hash)
		}
	}
	if _, err := componentOf(module{system: "go", name: "a", version: "v1.0.0", sum: "md5:AA"}); err == nil {
		t.Error("a checksum of an unknown kind is accepted")
	}
}

// TestModules reads the modules of this test program.
func TestModules(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &release{
		options:  options{source: repository, swaggerUI: "5.0.0"},
		programs: programs{functions: map[string]map[string]string{"arm64": {"features": program}}},
	}
	modules, err := r.modules()
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]string{
		"std": "functions", "github.com/Masterminds/semver/v3": "functions", "react": "command, functions", "swagger-ui-dist": "command, functions",
	} {
		at := slices.IndexFunc(modules, func(m module) bool { return m.name == name })
		if at < 0 || strings.Join(modules[at].in, ", ") != in || modules[at].version == "" {
			t.Errorf("%s is not among the modules of %s: %+v", name, in, modules)
		}
	}
	if slices.ContainsFunc(modules, func(m module) bool { return m.name == "vitest" }) {
		t.Error("a package that is for development only is among the modules")
	}
}

// TestOtherFiles checks that a folder with other files is refused and left as it is.
func TestOtherFiles(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	r := &release{options: options{version: "1.2.3", out: out}, files: map[string][]byte{"guidon-1.2.3-linux-amd64": []byte("program"), "LICENSE": []byte("text")}}
	r.addSums()
	for range 2 { // a release may be written again
		if err := r.write(); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]fs.FileMode{"guidon-1.2.3-linux-amd64": 0o755, "LICENSE": 0o644, "SHA256SUMS": 0o644} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want the mode %s", name, info, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(out, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.write(); err == nil || !strings.Contains(err.Error(), "notes.txt") {
		t.Errorf("got %v, want an error that names the other file", err)
	}
	elsewhere, link := filepath.Join(t.TempDir(), "mine"), filepath.Join(out, "LICENSE")
	for _, err := range []error{os.Remove(filepath.Join(out, "notes.txt")), os.Remove(link), os.WriteFile(elsewhere, nil, 0o600), os.Symlink(elsewhere, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := r.write(); err == nil || !strings.Contains(err.Error(), "LICENSE") {
		t.Errorf("got %v, want an error that names the link", err)
	}
	if content, err := os.ReadFile(elsewhere); err != nil || len(content) > 0 {
		t.Errorf("the file that the link names has %q, %v; want it unchanged", content, err)
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
