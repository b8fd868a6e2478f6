// Command release packs what internal/release/build.sh has built: `make release VERSION=1.2.3`, `make image` and `make edge-image`.
// docs/development/releasing.md describes a release.
//
// The same source, Go and Node.js give the same bytes: no file contains a time, a random number or a path of the machine.
package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"guidon/pkg/version"
)

// A release is a folder with the programs guidon-<version>-<platform> and guidon-edge-<version>-<platform>, to which the other files are
// added. Functions has <architecture>/<function>/bootstrap.
type release struct{ version, folder, functions string }

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 4 && args[0] == "pack": // version, folder, functions
		return release{args[1], args[2], args[3]}.pack()
	case len(args) == 6 && args[0] == "image": // name, program, architecture, version, file
		return writeImage(args[1], args[2], args[3], args[4], args[5])
	}
	return errors.New("use make release VERSION=1.2.3, or make image")
}

func (r release) pack() error {
	if err := r.writeLicenses(); err != nil {
		return err
	}
	for goarch, architecture := range map[string]string{"arm64": "arm64", "amd64": "x86_64"} {
		edge := filepath.Join(r.folder, "guidon-edge-"+r.version+"-linux-"+goarch)
		program, err := os.ReadFile(edge)
		if errors.Is(err, fs.ErrNotExist) { // a test builds for this machine alone
			continue
		}
		if err != nil {
			return err
		}
		if err := writeImage("guidon-edge", edge, goarch, r.version, r.path("guidon-edge", "image-"+goarch+".tar.gz")); err != nil {
			return err
		}
		layer, err := zipOf(map[string]file{"extensions/guidon-edge": {program, true}})
		if err == nil {
			err = os.WriteFile(r.path("guidon-edge", "layer-"+architecture+".zip"), layer, 0o644)
		}
		if err == nil {
			err = r.writeArchive(architecture)
		}
		if err != nil {
			return err
		}
	}
	description, err := os.ReadFile("infra/openapi.json")
	if err == nil {
		err = os.WriteFile(r.path("guidon", "openapi.json"), version.InDescription(description, r.version), 0o644)
	}
	if err == nil {
		err = r.writeComponents()
	}
	return err
}

// path returns the path of a file of the release.
func (r release) path(program, name string) string {
	return filepath.Join(r.folder, program+"-"+r.version+"-"+name)
}

// writeArchive writes the archive of an architecture, with everything that a deployment needs. Files of the repository keep their paths,
// so the commands of docs/operations work in the archive too.
func (r release) writeArchive(architecture string) error {
	programs, err := filepath.Glob(filepath.Join(r.functions, architecture, "*", "bootstrap"))
	if err != nil {
		return err
	}
	files := map[string]file{}
	for _, path := range programs {
		program, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if program, err = zipOf(map[string]file{"bootstrap": {program, true}}); err != nil {
			return err
		}
		files["functions/"+filepath.Base(filepath.Dir(path))+".zip"] = file{content: program}
	}
	functions := len(files)
	for name, path := range map[string]string{
		"template.yaml": "template.yaml", "samconfig.toml": "samconfig.toml", "LICENSE": "LICENSE", "README.md": "internal/release/text/aws.md",
		"docs/operations/front.yaml": "docs/operations/front.yaml", "docs/operations/spending.yaml": "docs/operations/spending.yaml",
		"infra/admin-token": "infra/admin-token", "infra/rollback": "infra/rollback", "infra/stage.sh": "infra/stage.sh",
		licensesFile: filepath.Join(r.folder, licensesFile),
	} {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files[name] = file{content, name == "infra/admin-token" || name == "infra/rollback"}
	}
	for name, edit := range map[string]func(string) (string, error){
		"README.md":      func(text string) (string, error) { return filled(text, r.version, architecture), nil },
		"samconfig.toml": func(text string) (string, error) { return packagedConfig(text, r.version, architecture) },
		"template.yaml":  func(text string) (string, error) { return packagedTemplate(text, r.version, architecture, functions) },
	} {
		edited, err := edit(string(files[name].content))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		files[name] = file{content: []byte(edited)}
	}
	inFolder := map[string]file{}
	for name, f := range files {
		inFolder["guidon-"+r.version+"-aws-"+architecture+"/"+name] = f
	}
	archive, err := zipOf(inFolder)
	if err != nil {
		return err
	}
	return os.WriteFile(r.path("guidon", "aws-"+architecture+".zip"), archive, 0o644)
}

func filled(text, version, architecture string) string {
	return strings.NewReplacer("@VERSION@", version, "@ARCHITECTURE@", architecture).Replace(text)
}

// A file is a file of an archive.
type file struct {
	content    []byte
	executable bool
}

// epoch is the time of every file in an archive: the earliest that the format has.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// zipOf returns an archive of files by path. The same files give the same bytes: they are sorted, and have a fixed time.
func zipOf(files map[string]file) ([]byte, error) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: epoch}
		if path.Ext(name) == ".zip" {
			header.Method = zip.Store // it is compressed already
		}
		header.SetMode(0o644)
		if files[name].executable {
			header.SetMode(0o755)
		}
		entry, err := w.CreateHeader(header)
		if err == nil {
			_, err = entry.Write(files[name].content)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	err := w.Close()
	return archive.Bytes(), err
}
