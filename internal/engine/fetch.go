package engine

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"guidon/internal/child"
)

// fetchOnce creates dir, if it does not exist, by filling a temporary folder and renaming it: several processes may do so
// at the same time, and none sees an incomplete folder.
func fetchOnce(dir string, fill func(temp string) error) error {
	if isDir(dir) {
		return nil
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return folderError(err)
	}
	temp, err := os.MkdirTemp(parent, ".fetch-*")
	if err != nil {
		return folderError(err)
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

func folderError(err error) error {
	return fmt.Errorf("the folder for downloads cannot be written, GUIDON_LOCAL sets another one: %w", err)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// NPM returns the folder of an npm package in LocalDir, and downloads the package if necessary.
func NPM(ctx context.Context, name, version string, log io.Writer) (string, error) {
	local, err := LocalDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(local, "npm", strings.NewReplacer("@", "", "/", "-").Replace(name)+"-"+version)
	return npmPackage(ctx, dir, name, version, log)
}

// npmPackage installs a package under dir/node_modules, once, and returns its folder. npm verifies the registry's checksum
// and runs no script of the package. --force installs packages for other systems too.
func npmPackage(ctx context.Context, dir, name, version string, log io.Writer) (string, error) {
	spec := name + "@" + version
	err := fetchOnce(dir, func(temp string) error {
		npm, err := exec.LookPath("npm")
		if err != nil {
			return fmt.Errorf("%s is installed by npm, which is not on the PATH: install Node.js", spec)
		}
		return download(exec.CommandContext(ctx, npm, "install", "--prefix", temp, "--no-save", "--no-package-lock",
			"--ignore-scripts", "--force", "--no-audit", "--no-fund", "--no-update-notifier", spec), spec, temp, log)
	})
	return filepath.Join(dir, "node_modules", filepath.FromSlash(name)), err
}

// mavenCopy downloads an artifact and its dependencies into dir/lib.
func mavenCopy(ctx context.Context, group, artifact, version, dir string, log io.Writer) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return fmt.Errorf("ENGINE=dynamodb-local is downloaded by Maven (mvn), which is not on the PATH: %w", err)
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

// download runs a command in dir. Its error contains the end of the output.
func download(cmd *exec.Cmd, what, dir string, log io.Writer) error {
	_, _ = fmt.Fprintf(log, "downloading %s (once)\n", what)
	var out child.Output
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("downloading %s: %w; %s printed:\n%s", what, err, filepath.Base(cmd.Path), out.End())
	}
	return nil
}
