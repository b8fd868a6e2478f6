package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// licensesFile contains the licenses and notices of all modules in the programs, which most of them require.
const licensesFile = "THIRD_PARTY_LICENSES.txt"

// licenseName matches the files of a module with its license and its notices.
var licenseName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([.-].*)?$`)

// addLicenses adds the licenses of Go modules, of Swagger UI and of the console's packages.
func (r *release) addLicenses() error {
	modules, err := r.modules()
	if err != nil {
		return err
	}
	folders, err := moduleFolders(r.source, modules)
	if err != nil {
		return err
	}
	var all bytes.Buffer
	fmt.Fprintf(&all, "The programs of Guidon %s contain these modules.\n", r.version)
	for _, m := range modules {
		if m.system != "go" {
			continue
		}
		text, err := licenseTexts(folders[m.name])
		if err != nil {
			return fmt.Errorf("%s %s: %w", m.name, m.version, err)
		}
		writeLicense(&all, m.name+" "+m.version, text)
	}
	swagger, err := licenseTexts(filepath.Join(r.source, "pkg", "docs", "assets"))
	if err != nil {
		return err
	}
	writeLicense(&all, "Swagger UI "+r.swaggerUI, swagger)
	console, err := r.read("console/dist/licences.txt")
	if err != nil {
		return fmt.Errorf("the console is not built: %w", err)
	}
	writeLicense(&all, "The web console", string(console))
	r.files[licensesFile] = all.Bytes()
	return nil
}

func writeLicense(w io.Writer, name, text string) {
	fmt.Fprintf(w, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), name, strings.TrimSpace(text))
}

// moduleFolders returns the folders of the Go modules in the module cache. Go's own packages have the license of the modules
// golang.org/x, and not every installation of Go has the file.
func moduleFolders(source string, modules []module) (map[string]string, error) {
	args := []string{"mod", "download", "-json"}
	for _, m := range modules {
		if m.system == "go" && m.name != standardLibrary {
			args = append(args, m.name+"@"+m.version)
		}
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = source, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download: %w", err)
	}
	folders := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var downloaded struct{ Path, Dir string }
		if err := decoder.Decode(&downloaded); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go mod download: %w", err)
		}
		folders[downloaded.Path] = downloaded.Dir
	}
	folders[standardLibrary] = folders["golang.org/x/sys"]
	return folders, nil
}

// licenseTexts returns the license and the notices in a folder.
func licenseTexts(folder string) (string, error) {
	entries, err := fs.ReadDir(os.DirFS(folder), ".")
	if err != nil {
		return "", err
	}
	var texts strings.Builder
	for _, entry := range entries { // sorted
		if !entry.Type().IsRegular() || !licenseName.MatchString(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return "", err
		}
		texts.WriteString(strings.TrimSpace(string(text)) + "\n\n")
	}
	if texts.Len() == 0 {
		return "", errors.New("it has no file with a license: find out whether it may be part of a release")
	}
	return texts.String(), nil
}
