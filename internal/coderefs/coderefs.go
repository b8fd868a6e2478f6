// Package coderefs finds the names of flags in a git checkout. What it returns has no source text.
package coderefs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"guidon/pkg/flags"
)

// The limits of a scan. What is beyond them makes it partial.
const (
	maxFiles = 100_000
	maxFile  = 16 << 20 // bytes
)

// A Scan is what a checkout says about flags.
type Scan struct {
	Files   int
	Partial []string // why something was left out, in sentences
	Found   []Reference
	Asked   []Reference // names in calls of SDKs, of flags or not
}

// A Reference is a file that names a flag.
type Reference struct {
	Flag  string `json:"flag"`
	Path  string `json:"path"`
	Line  int    `json:"line"` // the first one
	Count int    `json:"count"`
}

// Git runs git in a folder and returns what it prints.
func Git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(problem.String()))
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// Of scans the files of a checkout that git tracks or would track: not those that .gitignore excludes, links, submodules or binary files.
// Nor does it read files that match exclude, which are patterns of git.
func Of(ctx context.Context, top string, names map[string]bool, exclude []string) (*Scan, error) {
	args := []string{"ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", "."}
	for _, pattern := range exclude {
		args = append(args, ":(exclude)"+pattern)
	}
	list, err := Git(ctx, top, args...)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	s := &Scan{}
	paths := slices.Compact(slices.Sorted(strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00")))
	if len(paths) > maxFiles {
		paths = paths[:maxFiles]
		s.Partial = append(s.Partial, fmt.Sprintf("the checkout has more than %d files", maxFiles))
	}
	sparse, err := Git(ctx, top, "ls-files", "-t", "--cached", "-z", "--", ".")
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(sparse, "S ") || strings.Contains(sparse, "\x00S ") {
		s.Partial = append(s.Partial, "the checkout is sparse: git has left out files")
	}
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.file(root, path, names); err != nil {
			return nil, err
		}
	}
	if len(s.Found) > flags.MaxCodeReferences {
		s.Found = s.Found[:flags.MaxCodeReferences]
		s.Partial = append(s.Partial, fmt.Sprintf("there are more than %d references", flags.MaxCodeReferences))
	}
	return s, nil
}

func (s *Scan) file(root *os.Root, path string, names map[string]bool) error {
	at := filepath.FromSlash(path)
	info, err := root.Lstat(at)
	if os.IsNotExist(err) || err == nil && !info.Mode().IsRegular() {
		return nil // deleted, a link or a submodule
	}
	if err != nil {
		return err
	}
	f, err := root.Open(at)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, 8000))
	if err != nil || bytes.IndexByte(text, 0) >= 0 { // as git tells what is binary
		return err
	}
	if info.Size() > maxFile || len(path) > flags.MaxCodePath || strings.ContainsFunc(path, unicode.IsControl) {
		s.Partial = append(s.Partial, fmt.Sprintf("%q is larger than %d MiB, or has a path that cannot be stored", path, maxFile>>20))
		return nil
	}
	rest, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return err
	}
	s.Files++
	s.text(path, append(text, rest...), names)
	return nil
}

// calls matches the calls in which SDKs take the name of a flag.
var calls = regexp.MustCompile(`(?i)\b(?:is_?enabled|(?:get|use)_?variant|use_?flag|(?:get|use)_?(?:boolean|string|number|integer|int|float|double|object)_?(?:flag_?)?(?:value|details)` +
	`|(?:boolean|string|int|float|object)value(?:details)?\(\s*[\w.]+,)\s*\(?\s*(?:[\w.]+\s*,\s*)?["'\x60]([A-Za-z0-9._~-]+)["'\x60]`)

func (s *Scan) text(path string, text []byte, names map[string]bool) {
	found, asked := map[string]*Reference{}, map[string]*Reference{}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		seen := map[string]bool{}
		for name := range named(line) {
			if names[name] && !seen[name] {
				seen[name] = true
				note(found, name, path, n)
			}
		}
		if bytes.IndexByte(line, '(') >= 0 {
			for _, match := range calls.FindAllSubmatch(line, -1) {
				note(asked, string(match[1]), path, n)
			}
		}
	}
	byName := func(all map[string]*Reference) (list []Reference) {
		for _, r := range all {
			list = append(list, *r)
		}
		slices.SortFunc(list, func(a, b Reference) int { return strings.Compare(a.Flag, b.Flag) })
		return list
	}
	s.Found, s.Asked = append(s.Found, byName(found)...), append(s.Asked, byName(asked)...)
}

func note(all map[string]*Reference, name, path string, line int) {
	if all[name] == nil {
		all[name] = &Reference{Flag: name, Path: path, Line: line}
	}
	all[name].Count++
}

// named returns the names in a line: each longest text of characters of names. A plain word, such as checkout, only counts in quotes.
func named(line []byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		for i := 0; i < len(line); i++ {
			start := i
			for i < len(line) && isNameCharacter(line[i]) {
				i++
			}
			if i == start {
				continue
			}
			name := string(line[start:i])
			quoted := start > 0 && i < len(line) && line[start-1] == line[i] && strings.IndexByte("\"'`", line[i]) >= 0
			if !quoted {
				name = strings.Trim(name, ".")
			}
			if (quoted || strings.ContainsAny(name, "-_.~0123456789")) && !yield(name) {
				return
			}
		}
	}
}

func isNameCharacter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~", c) >= 0
}

// GrowthBook reads what gb-find-code-refs writes. It leaves out the path of all but the first reference in a file: these say nothing more.
func GrowthBook(text []byte, names map[string]bool) (repository, branch string, found []Reference, err error) {
	var file struct {
		Branch   string `json:"branch"`
		RepoName string `json:"repoName"`
		Refs     []struct {
			FilePath           string `json:"filePath"`
			StartingLineNumber int    `json:"startingLineNumber"`
			FlagKey            string `json:"flagKey"`
		} `json:"refs"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return "", "", nil, errors.New("the file is not what gb-find-code-refs writes: a JSON object with branch, repoName and refs")
	}
	if file.Refs == nil {
		return "", "", nil, errors.New("the file has no refs: it is not what gb-find-code-refs writes")
	}
	at := map[[2]string]int{}
	for _, r := range file.Refs {
		key := [2]string{r.FlagKey, r.FilePath}
		if i, known := at[key]; known {
			found[i].Count++
		} else if r.FilePath != "" && names[r.FlagKey] {
			at[key] = len(found)
			found = append(found, Reference{r.FlagKey, r.FilePath, max(r.StartingLineNumber, 1), 1})
		}
	}
	return file.RepoName, file.Branch, found, nil
}
