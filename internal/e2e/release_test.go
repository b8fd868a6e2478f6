//go:build release && linux

package e2e

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"guidon/internal/engine"
)

// releaseVersion is a pre-release, so that the changelog and the work tree may be as they are.
const releaseVersion = "0.0.0-test.1"

// TestRelease is `make test-release`: it builds a release twice, in different folders, and starts the programs from its files
// alone, in empty folders. SAM is the path of the SAM CLI. The short form has the functions and the command for this machine;
// TRUST=long has everything, and compiles again for the second release.
func TestRelease(t *testing.T) {
	release := buildTwice(t)
	t.Run("command", func(t *testing.T) {
		dir := t.TempDir()
		program := copyProgram(t, release, dir)
		printed, err := exec.Command(program, "version").CombinedOutput()
		if err != nil || !strings.HasPrefix(string(printed), "guidon "+releaseVersion+" (") {
			t.Errorf("guidon version prints %s, %v; want %s", printed, err, releaseVersion)
		}
		g := startRelease(t, program, dir)
		checkRelease(t, g)
		g.stop(t)
	})
	t.Run("edge", func(t *testing.T) { checkEdge(t, release) })
	for _, architecture := range architectures() {
		t.Run(architecture, func(t *testing.T) {
			folder := unpackArchive(t, release, architecture)
			functions := unpackFunctions(t, folder, architecture)
			validate(t, folder)
			if architecture != hostArchitecture() {
				return // this machine cannot run them
			}
			g := startFunctions(t, copyProgram(t, release, t.TempDir()), functions, filepath.Join(folder, "template.yaml"))
			checkRelease(t, g)
			t.Run("samples", func(t *testing.T) { checkSamples(t, g.invoke) }) // which run in parallel, after the first
			g.stop(t)
			checkReports(t, g)
		})
	}
}

// checkEdge starts Guidon Edge from its file alone, and compares the layer and the image with that file.
func checkEdge(t *testing.T, release string) {
	t.Helper()
	prefix, dir := filepath.Join(release, "guidon-edge-"+releaseVersion+"-"), t.TempDir()
	files, err := filepath.Glob(prefix + "*-*")
	if err != nil || len(files) < 3*len(architectures()) {
		t.Fatalf("the release has the files %v of Edge, %v", files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() > 15<<20 {
			t.Errorf("%s: %v, %v; want at most 15 MB", file, info.Size(), err)
		}
	}
	program, err := os.ReadFile(prefix + "linux-" + runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	if unpacked := unzip(t, prefix+"layer-"+hostArchitecture()+".zip", dir); !slices.Equal(unpacked, []string{"extensions/guidon-edge"}) {
		t.Errorf("the layer has the files %v", unpacked)
	}
	inLayer := filepath.Join(dir, "extensions", "guidon-edge")
	checkProgram(t, inLayer, hostArchitecture())
	if content, err := os.ReadFile(inLayer); err != nil || !bytes.Equal(content, program) {
		t.Errorf("the program in the layer differs: %v", err)
	}
	if out, err := exec.Command("tar", "xzf", prefix+"image-"+runtime.GOARCH+".tar.gz", "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("the image: %v\n%s", err, out)
	}
	if content, err := exec.Command("tar", "xOf", filepath.Join(dir, "layer.tar"), "guidon-edge").Output(); err != nil || !bytes.Equal(content, program) {
		t.Errorf("the program in the image differs: %v", err)
	}
	printed, err := exec.Command(inLayer, "version").CombinedOutput()
	if err != nil || strings.TrimSpace(string(printed)) != "guidon-edge "+releaseVersion {
		t.Errorf("guidon-edge version prints %s, %v; want %s", printed, err, releaseVersion)
	}
	sbom, err := os.ReadFile(filepath.Join(release, "guidon-"+releaseVersion+"-sbom.cdx.json"))
	if err != nil || !strings.Contains(string(sbom), `"command, edge, functions"`) {
		t.Errorf("the list of components has no module of Edge: %v", err)
	}
}

// copyProgram copies the command for this machine into an empty folder.
func copyProgram(t *testing.T, release, dir string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(release, "guidon-"+releaseVersion+"-linux-"+runtime.GOARCH))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "guidon")
	if err := os.WriteFile(program, content, 0o700); err != nil {
		t.Fatal(err)
	}
	return program
}

// startRelease runs the server in a folder that has only the command. It may use the engine that was downloaded before.
func startRelease(t *testing.T, program, dir string) *gateway {
	t.Helper()
	local, err := engine.LocalDir()
	if err != nil {
		t.Fatal(err)
	}
	port, data := freePort(t), filepath.Join(dir, "data")
	settings := []string{"PORT=" + port, "DATA_DIR=" + data, "GUIDON_LOCAL=" + local}
	cmd := exec.Command(program, "serve")
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isSetting), settings...)
	return serving(t, follow(t, cmd, settings), port, data, nil)
}

// checkRelease checks that a server has the version of the release everywhere, and serves the API and the console.
func checkRelease(t *testing.T, g *gateway) {
	t.Helper()
	health, _ := g.fetch(t, "/health", "*/*")
	if got := health.Header.Get("Guidon-Version"); got != releaseVersion {
		t.Errorf("the version of /health is %q, want %s", got, releaseVersion)
	}
	var description struct {
		Info struct{ Version string }
	}
	_, text := g.fetch(t, "/docs/openapi.json", "*/*")
	if err := json.Unmarshal([]byte(text), &description); err != nil || description.Info.Version != releaseVersion {
		t.Errorf("the version of the description is %q, %v; want %s", description.Info.Version, err, releaseVersion)
	}
	g.do(t, 201, "POST", project+"/features", map[string]any{"name": "released"}, nil)
	g.do(t, 200, "GET", project+"/features/released", nil, nil)
	if page, text := g.fetch(t, "/projects/default", "text/html"); page.StatusCode != 200 {
		t.Errorf("the console is %d %.300s, want it to be built", page.StatusCode, text)
	}
	checkConsole(t, g)
}

// unpackFunctions checks the template of an archive and the archives of the functions that it names, and unpacks their programs.
func unpackFunctions(t *testing.T, folder, architecture string) string {
	t.Helper()
	template, err := os.ReadFile(filepath.Join(folder, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(template), "BuildMethod") {
		t.Error("the template has functions that sam build would build")
	}
	named := []string{}
	programs := t.TempDir()
	for _, match := range regexp.MustCompile(`(?m)^ *CodeUri: functions/([a-z]+)\.zip$`).FindAllStringSubmatch(string(template), -1) {
		named = append(named, match[1]+".zip")
		dir := filepath.Join(programs, match[1])
		files := unzip(t, filepath.Join(folder, "functions", match[1]+".zip"), dir)
		if !slices.Equal(files, []string{"bootstrap"}) {
			t.Errorf("%s.zip has the files %v, want bootstrap only", match[1], files)
		}
		checkProgram(t, filepath.Join(dir, "bootstrap"), architecture)
	}
	if want := strings.Count(string(template), "Type: AWS::Serverless::Function\n"); len(named) != want || want == 0 {
		t.Errorf("%d functions of the template have an archive, want %d", len(named), want)
	}
	packed := []string{}
	entries, err := os.ReadDir(filepath.Join(folder, "functions"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		packed = append(packed, entry.Name())
	}
	if slices.Sort(named); !slices.Equal(named, packed) {
		t.Errorf("the template names %v, and the archive has %v", named, packed)
	}
	return programs
}

// checkProgram checks that Lambda can run a program.
func checkProgram(t *testing.T, path, architecture string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	program, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	want := map[string]elf.Machine{"arm64": elf.EM_AARCH64, "x86_64": elf.EM_X86_64}[architecture]
	if info.Mode().Perm() != 0o755 || program.Machine != want || program.Section(".interp") != nil || program.Section(".symtab") != nil {
		t.Errorf("%s: mode %s, machine %s, dynamic linker: %t, symbols: %t; want -rwxr-xr-x, %s and neither", path, info.Mode(), program.Machine,
			program.Section(".interp") != nil, program.Section(".symtab") != nil, want)
	}
}

// validate checks the template with the SAM CLI, from the folder of the archive alone. cfn-lint is part of the long form, because
// make template runs it on the template of the repository.
func validate(t *testing.T, folder string) {
	t.Helper()
	cmd := exec.Command(os.Getenv("SAM"), "validate", "--config-env", "dev", "--template-file", "template.yaml")
	if os.Getenv("TRUST") == "long" {
		cmd.Args = append(cmd.Args, "--lint")
	}
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "SAM_CLI_TELEMETRY=0", "AWS_DEFAULT_REGION=eu-central-1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", cmd.Args, err, out)
	}
}
