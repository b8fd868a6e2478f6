package main

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/template"

	"guidon/pkg/version"
)

//go:embed text
var texts embed.FS

// A release is what pack writes, by the name of the file.
type release struct {
	options
	programs programs
	files    map[string][]byte
}

// pack writes the folder of a release.
func pack(o options) error {
	parsed, err := parseVersion(o.version)
	if err != nil {
		return err
	}
	r := &release{options: o, files: map[string][]byte{}}
	if r.programs, err = readPrograms(o.programs); err != nil {
		return err
	}
	notes, err := changes(o.source, parsed)
	if err != nil {
		return err
	}
	r.files["CHANGELOG.md"] = []byte(notes)
	for platform, program := range r.programs.guidon {
		if r.files["guidon-"+o.version+"-"+platform], err = os.ReadFile(program); err != nil {
			return err
		}
	}
	if err := r.addEdge(); err != nil {
		return err
	}
	for _, add := range []func() error{r.addLicense, r.addReadme, r.addLicenses, r.addComponents, r.addDescription, r.addArchives} {
		if err := add(); err != nil {
			return err
		}
	}
	r.addSums()
	return r.write()
}

func (r *release) addLicense() (err error) {
	r.files["LICENSE"], err = r.read("LICENSE")
	return err
}

func (r *release) addReadme() (err error) {
	r.files["README.md"], err = r.text("readme.md", "")
	return err
}

// addEdge adds the programs of Guidon Edge, the images, and a layer for each architecture of Lambda.
func (r *release) addEdge() (err error) {
	prefix := "guidon-edge-" + r.version + "-"
	for architecture, image := range r.programs.images {
		if r.files[prefix+"image-"+architecture], err = os.ReadFile(image); err != nil {
			return err
		}
	}
	for platform, program := range r.programs.edge {
		content, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		r.files[prefix+platform] = content
		architecture := map[string]string{"linux-arm64": "arm64", "linux-amd64": "x86_64"}[platform]
		if architecture == "" {
			continue
		}
		if r.files[prefix+"layer-"+architecture+".zip"], err = zipOf(map[string]file{"extensions/guidon-edge": {content, true}}); err != nil {
			return err
		}
	}
	return nil
}

// addDescription adds the OpenAPI description, for generators of clients.
func (r *release) addDescription() error {
	description, err := r.read("infra/openapi.json")
	if err == nil {
		r.files["guidon-"+r.version+"-openapi.json"] = version.InDescription(description, r.version)
	}
	return err
}

// addArchives adds an archive for each architecture, with everything that a deployment needs.
func (r *release) addArchives() error {
	for architecture, functions := range r.programs.functions {
		archive, err := r.archive(architecture, functions)
		if err != nil {
			return err
		}
		r.files[r.folder(architecture)+".zip"] = archive
	}
	return nil
}

// folder is the name of the folder in the archive of an architecture.
func (r *release) folder(architecture string) string {
	return "guidon-" + r.version + "-aws-" + architecture
}

// archive returns the archive of an architecture. Files of the repository keep their paths, so the commands of docs/operations
// work in the archive too.
func (r *release) archive(architecture string, functions map[string]string) ([]byte, error) {
	files := map[string]file{}
	for name, program := range functions {
		content, err := os.ReadFile(program)
		if err != nil {
			return nil, err
		}
		if content, err = zipOf(map[string]file{"bootstrap": {content, true}}); err != nil {
			return nil, err
		}
		files["functions/"+name+".zip"] = file{content: content}
	}
	for _, name := range []string{"LICENSE", "infra/admin-token", "docs/operations/front.yaml", "docs/operations/spending.yaml"} {
		content, err := r.read(name)
		if err != nil {
			return nil, err
		}
		files[name] = file{content, name == "infra/admin-token"}
	}
	files[licensesFile] = file{content: r.files[licensesFile]}
	if err := r.addTemplate(files, architecture, slices.Sorted(maps.Keys(functions))); err != nil {
		return nil, err
	}
	readme, err := r.text("aws.md", architecture)
	if err != nil {
		return nil, err
	}
	files["README.md"] = file{content: readme}
	inFolder := map[string]file{}
	for name, f := range files {
		inFolder[r.folder(architecture)+"/"+name] = f
	}
	return zipOf(inFolder)
}

// addTemplate adds the template and the settings of its stages to the files of an archive.
func (r *release) addTemplate(files map[string]file, architecture string, functions []string) error {
	source, err := r.read("template.yaml")
	if err != nil {
		return err
	}
	edited, err := packagedTemplate(string(source), r.version, architecture, functions)
	if err != nil {
		return err
	}
	config, err := r.read("samconfig.toml")
	if err != nil {
		return err
	}
	stages, err := packagedConfig(string(config), r.version, architecture)
	files["template.yaml"], files["samconfig.toml"] = file{content: []byte(edited)}, file{content: []byte(stages)}
	return err
}

// addSums adds the checksums of all other files, in the format of sha256sum.
func (r *release) addSums() {
	var sums bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(r.files[name]), name)
	}
	r.files["SHA256SUMS"] = sums.Bytes()
}

// write writes the files. A folder with other files or links is refused, so that a release contains only what it lists, and nothing
// is written elsewhere.
func (r *release) write() error {
	existing, err := os.ReadDir(r.out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range existing {
		if r.files[entry.Name()] == nil || !entry.Type().IsRegular() {
			return fmt.Errorf("%s contains %s, which is no file of this release: choose an empty folder with OUT", r.out, entry.Name())
		}
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(name, "guidon-") && !slices.Contains([]string{".gz", ".json", ".zip"}, filepath.Ext(name)) {
			mode = 0o755
		}
		path := filepath.Join(r.out, name)
		if err := os.WriteFile(path, r.files[name], mode); err != nil {
			return err
		}
		if err := os.Chmod(path, mode); err != nil { // the file may exist, and the umask is not that of the release
			return err
		}
	}
	fmt.Printf("%d files of Guidon %s are in %s\n", len(r.files), r.version, r.out)
	return nil
}

func (r *release) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(r.source, filepath.FromSlash(name)))
}

// text fills in a page of the folder text.
func (r *release) text(name, architecture string) ([]byte, error) {
	page, err := template.New(name).Funcs(template.FuncMap{"system": system}).ParseFS(texts, "text/"+name)
	if err != nil {
		return nil, err
	}
	platforms, edges := slices.Sorted(maps.Keys(r.programs.guidon)), slices.Sorted(maps.Keys(r.programs.edge))
	example := platforms[max(0, slices.Index(platforms, "linux-amd64"))]
	var filled bytes.Buffer
	err = page.Execute(&filled, map[string]any{
		"Version": r.version, "Architecture": architecture, "Go": runtime.Version(), "Node": r.node,
		"Platforms": platforms, "Example": example, "Edges": edges, "Images": slices.Sorted(maps.Keys(r.programs.images)), "Architectures": slices.Sorted(maps.Keys(r.programs.functions)),
	})
	return filled.Bytes(), err
}

// system is the name that users know for a platform.
func system(platform string) string {
	name, architecture, _ := strings.Cut(strings.TrimSuffix(platform, ".exe"), "-")
	if name == "darwin" {
		return map[string]string{"amd64": "macOS on Intel", "arm64": "macOS on Apple silicon"}[architecture]
	}
	return map[string]string{"linux": "Linux", "windows": "Windows"}[name] + " on " + map[string]string{"amd64": "x86-64", "arm64": "Arm"}[architecture]
}
