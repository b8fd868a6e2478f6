package flags

import (
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CodeReferences are where the code of a project's repositories names its flags. Programs that scan a checkout upload them; Guidon never has
// the source.
type CodeReferences struct {
	Version      int64      `json:"version,omitzero"`
	Project      string     `json:"project"`    // ID
	ProjectUID   string     `json:"projectUid"` // a later project of the same ID has none of them
	Repositories []CodeScan `json:"repositories,omitempty"`
}

// A CodeScan is the last scan of a repository.
type CodeScan struct {
	Repository string    `json:"repository"` // its name, such as owner/name
	Branch     string    `json:"branch"`     // the one that is scanned
	Commit     string    `json:"commit,omitzero"`
	URL        string    `json:"url,omitzero"` // of a line, with {commit}, {branch}, {path} and {line}
	Sequence   int64     `json:"sequence,omitzero"`
	Partial    bool      `json:"partial,omitzero"` // some files were left out
	ScannedAt  time.Time `json:"scannedAt"`

	// Flags are the places of each flag that the scan looked for, by name: none for a flag that the code does not name.
	Flags map[string][]CodePlace `json:"flags"`
}

// A CodePlace is a file that names a flag.
type CodePlace struct {
	Path  string `json:"p"`
	Line  int    `json:"l"` // the first one, from 1
	Count int    `json:"n"` // of lines
}

// The limits of code references.
const (
	MaxCodeRepositories = 50     // of a project
	MaxCodeReferences   = 10_000 // in an upload
	MaxCodeFlags        = 20_000 // names of flags that a scan looked for
	MaxCodePath         = 500
	MaxCodeLine         = 100_000_000
)

// CodeReferencesKey returns the key of the references to the flags of a project, by its ID.
func CodeReferencesKey(project string) Key { return Key{EntityCodeReferences, project} }

// Key returns the key of the references.
func (r *CodeReferences) Key() Key { return CodeReferencesKey(r.Project) }

// StoredVersion returns the version at which the references were loaded; 0 if there were never any.
func (r *CodeReferences) StoredVersion() int64 { return r.Version }

// Clone returns a copy that can be changed.
func (r *CodeReferences) Clone() *CodeReferences {
	c := *r
	c.Repositories = slices.Clone(r.Repositories)
	return &c
}

// index returns the position of the scan of a repository.
func (r *CodeReferences) index(repository string) (int, bool) {
	return slices.BinarySearchFunc(r.Repositories, repository, func(s CodeScan, name string) int { return strings.Compare(s.Repository, name) })
}

// Put replaces the scan of a repository, and reports whether that changes anything: the same again within a minute is a retry. Conflict if the stored one is newer or of another branch, or if there are too many repositories.
func (r *CodeReferences) Put(scan CodeScan) (changed bool, err error) {
	i, found := r.index(scan.Repository)
	switch {
	case !found && len(r.Repositories) >= MaxCodeRepositories:
		return false, Errorf(Conflict, "project %q has references of %d repositories, and no more are allowed; delete those of one first", r.Project, MaxCodeRepositories)
	case !found:
		r.Repositories = slices.Insert(r.Repositories, i, scan)
		return true, nil
	case r.Repositories[i].Branch != scan.Branch:
		return false, Errorf(Conflict, "the references of repository %q are those of branch %q, not %q; scan that branch, or delete the references of the repository first",
			scan.Repository, r.Repositories[i].Branch, scan.Branch)
	case r.Repositories[i].Sequence > scan.Sequence:
		return false, Errorf(Conflict, "the references of repository %q are those of a later scan: its sequence is %d, and this one has %d; scan the newest commit",
			scan.Repository, r.Repositories[i].Sequence, scan.Sequence)
	}
	before := r.Repositories[i]
	r.Repositories[i] = scan
	if again := scan.ScannedAt.Sub(before.ScannedAt); again < 0 || again >= time.Minute {
		return true, nil
	}
	before.ScannedAt = scan.ScannedAt
	return !reflect.DeepEqual(before, scan), nil
}

// Remove removes the scan of a repository. NotFound if there is none.
func (r *CodeReferences) Remove(repository string) error {
	i, found := r.index(repository)
	if !found {
		return Errorf(NotFound, "project %q has no references of repository %q", r.Project, firstRunes(repository, MaxIdentifier))
	}
	r.Repositories = slices.Delete(r.Repositories, i, i+1)
	return nil
}

var codeCommit = regexp.MustCompile(`^[0-9A-Za-z]{1,64}$`)

// CheckRepository adds the problems of the name of a repository.
func CheckRepository(name string, p *Problems) { checkCodeName("/repository", name, p) }

// Check adds the problems of a scan, except those of its repository and its references.
func (s CodeScan) Check(p *Problems) {
	checkCodeName("/branch", s.Branch, p)
	if s.Commit != "" && !codeCommit.MatchString(s.Commit) {
		p.Add("/commit", "must have 1 to 64 letters and digits")
	}
	CheckLength("/url", s.URL, MaxURL, p)
	if s.URL != "" && !pagePattern().MatchString(s.URL) {
		p.Add("/url", "must be a URL that begins with https:// or http://, such as https://example.com/shop/blob/{commit}/{path}#L{line}")
	}
	if s.Sequence < 0 || s.Sequence >= 1<<53 {
		p.Add("/sequence", "must be a whole number from 0 to 2^53 - 1")
	}
}

func checkCodeName(path, name string, p *Problems) {
	if name == "" {
		p.Add(path, "is required")
	}
	CheckLength(path, name, MaxIdentifier, p)
	CheckPrintable(path, name, p)
}

// Link returns the URL of a place; "" without a template.
func (s CodeScan) Link(place CodePlace) string {
	path := strings.Split(place.Path, "/")
	for i := range path {
		path[i] = url.PathEscape(path[i])
	}
	return strings.NewReplacer("{commit}", s.Commit, "{branch}", url.PathEscape(s.Branch), "{path}", strings.Join(path, "/"), "{line}", strconv.Itoa(place.Line)).Replace(s.URL)
}

// Lines returns how many lines of the repository name flags.
func (s CodeScan) Lines() (n int) {
	for _, places := range s.Flags {
		for _, place := range places {
			n += place.Count
		}
	}
	return n
}
