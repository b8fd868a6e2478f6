package engine

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// fetchOnce fills dir, unless it is there, by a fill of a temporary folder that is then renamed: of several processes
// at once one is first, and nobody ever sees half of it.
func fetchOnce(dir string, fill func(temp string) error) error {
	if isDir(dir) {
		return nil
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(parent, ".fetch-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	if err := fill(temp); err != nil {
		return err
	}
	if err := os.Rename(temp, dir); err != nil && !isDir(dir) {
		return err
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// NPM is the folder of an npm package, which is fetched if it is not in LocalDir yet.
func NPM(ctx context.Context, name, version string, log io.Writer) (string, error) {
	local, err := LocalDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(local, "npm", strings.NewReplacer("@", "", "/", "-").Replace(name)+"-"+version)
	return npmPackage(ctx, dir, name, version, log)
}

// npmPackage puts a package under dir/node_modules, once, and says where. npm checks what it gets against the
// registry's own checksum, and no script of the package is run. By --force it brings one for another system, too.
func npmPackage(ctx context.Context, dir, name, version string, log io.Writer) (string, error) {
	spec := name + "@" + version
	err := fetchOnce(dir, func(temp string) error {
		npm, err := exec.LookPath("npm")
		if err != nil {
			return fmt.Errorf("%s comes by npm, which is not in the path: install Node.js", spec)
		}
		return download(exec.CommandContext(ctx, npm, "install", "--prefix", temp, "--no-save", "--no-package-lock",
			"--ignore-scripts", "--force", "--no-audit", "--no-fund", "--no-update-notifier", spec), spec, temp, log)
	})
	return filepath.Join(dir, "node_modules", filepath.FromSlash(name)), err
}

// mavenCopy puts an artifact with all that it needs into dir/lib.
func mavenCopy(ctx context.Context, group, artifact, version, dir string, log io.Writer) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return fmt.Errorf("ENGINE=dynamodb-local comes by Maven, which is not in the path: %w", err)
	}
	pom := fmt.Sprintf(`<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>guidon</groupId><artifactId>engine</artifactId><version>1</version>
<dependencies><dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency></dependencies>
</project>`, group, artifact, version)
	if err := os.WriteFile(filepath.Join(dir, "pom.xml"), []byte(pom), 0o600); err != nil {
		return err
	}
	return download(exec.CommandContext(ctx, mvn, "-q", "-B", "dependency:copy-dependencies",
		"-DincludeScope=runtime", "-DoutputDirectory=lib"), artifact+" "+version, dir, log)
}

// download runs a fetching command in dir; a failure says what the command printed last.
func download(cmd *exec.Cmd, what, dir string, log io.Writer) error {
	_, _ = fmt.Fprintf(log, "fetching %s (once)\n", what)
	var out tail
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s was not fetched (%w); %s printed:\n%s", what, err, filepath.Base(cmd.Path), &out)
	}
	return nil
}
