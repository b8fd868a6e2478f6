package features

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
	"guidon/pkg/usage"
)

const (
	referencesPath = inProject + "/code-references"
	repositoryPath = referencesPath + "/{repository...}"
)

// referenceOperations are those on where the code names flags, and on whether flags are safe to archive. They are not part of Unleash's API.
func referenceOperations() []httpapi.Operation {
	return []httpapi.Operation{
		{Route: "GET " + referencesPath, Permission: access.Read, Handle: httpapi.Handle(listScans)},
		{Route: "PUT " + repositoryPath, Permission: access.UpdateFeature, Handle: httpapi.HandleBody(putScan)},
		{Route: "DELETE " + repositoryPath, Permission: access.UpdateFeature, Status: http.StatusNoContent, Handle: httpapi.Do(deleteScan)},
		{Route: "GET " + inProject + "/archivable", Permission: access.Read, Handle: httpapi.Handle(listArchivable)},
		{Route: "GET " + inProject + "/archivable/{featureName}", Permission: access.Read, Handle: httpapi.Handle(readArchivable)},
	}
}

// referenceKeys are the keys of the references of a project, and of when pages asked for all of its flags.
func referenceKeys(project string) (keys []flags.Key) {
	if flags.CheckName(project) == "" {
		keys = []flags.Key{flags.EnvironmentsKey(), flags.CodeReferencesKey(project), usage.AskedForAllKey(project), usage.AskedForAllKey(flags.All)}
	}
	return keys
}

// inReferences is the place of an operation on the code references of a project.
type inReferences struct{ httpapi.InProject }

// Keys names the project and its references.
func (at *inReferences) Keys() []flags.Key {
	return append(at.InProject.Keys(), referenceKeys(at.ProjectID)...)
}

// inRepository is the place of an operation on those of a repository.
type inRepository struct {
	inReferences
	Repository string `path:"repository"`
}

// references returns a copy of the code references of a project, which can be changed. Those of an earlier project of the same ID are gone.
func references(tx *httpapi.Tx, p *flags.Project) *flags.CodeReferences {
	stored := httpapi.Find[*flags.CodeReferences](tx, flags.CodeReferencesKey(p.ID))
	switch {
	case stored == nil:
		return &flags.CodeReferences{Project: p.ID, ProjectUID: p.UID}
	case stored.ProjectUID != p.UID:
		stored.ProjectUID, stored.Repositories = p.UID, nil
	}
	return stored
}

// A scanView is the last scan of a repository.
type scanView struct {
	Repository string     `json:"repository"`
	Branch     string     `json:"branch"`
	Commit     *string    `json:"commit"`
	URL        *string    `json:"url"`
	Sequence   int64      `json:"sequence"`
	Partial    bool       `json:"partial"`
	ScannedAt  shape.Time `json:"scannedAt"`
	Lines      int        `json:"lines"`
}

type scanList struct {
	Repositories []scanView `json:"repositories"`
}

func listScans(tx *httpapi.Tx, at inReferences) (scanList, error) {
	return scanList{httpapi.Each(references(tx, at.Project(tx)).Repositories, func(s flags.CodeScan) scanView {
		return scanView{s.Repository, s.Branch, shape.NullIfEmpty(s.Commit), shape.NullIfEmpty(s.URL), s.Sequence, s.Partial, shape.Time(s.ScannedAt), s.Lines()}
	})}, nil
}

// A scanBody is the scan of a repository.
type scanBody struct {
	Branch     string                     `json:"branch"`
	Commit     string                     `json:"commit"`
	URL        string                     `json:"url"`
	Sequence   int64                      `json:"sequence"`
	Partial    bool                       `json:"partial"`
	References map[string][]codePlaceBody `json:"references"` // by flag, also those that the code does not name
}

// A codePlaceBody is a file that names a flag.
type codePlaceBody struct {
	Path  string              `json:"path"`
	Line  int                 `json:"line"`
	Count jsonbody.Maybe[int] `json:"count"`
}

func (b scanBody) scan() flags.CodeScan {
	return flags.CodeScan{Branch: b.Branch, Commit: b.Commit, URL: b.URL, Sequence: b.Sequence, Partial: b.Partial}
}

// Check adds the problems that can be found without the store.
func (b scanBody) Check(_ flags.Limits, problems *flags.Problems) {
	b.scan().Check(problems)
	total := 0
	for _, places := range b.References {
		total += len(places)
	}
	if !flags.CheckCount("/references", "flags", len(b.References), flags.MaxCodeFlags, problems) ||
		!flags.CheckCount("/references", "references", total, flags.MaxCodeReferences, problems) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(b.References)) {
		for i, place := range b.References[name] {
			at := fmt.Sprintf("%s/%d", jsontext.Pointer("/references").AppendToken(name), i)
			if place.Path == "" {
				problems.Add(at+"/path", "is required")
			}
			flags.CheckLength(at+"/path", place.Path, flags.MaxCodePath, problems)
			flags.CheckPrintable(at+"/path", place.Path, problems)
			if place.Line < 1 || place.Line > flags.MaxCodeLine {
				problems.Add(at+"/line", "must be from 1 to %d", flags.MaxCodeLine)
			}
			if n := place.Count.Or(1); n < 1 || n > flags.MaxCodeLine {
				problems.Add(at+"/count", "must be from 1 to %d", flags.MaxCodeLine)
			}
		}
	}
}

// A storedScan says what of an upload was stored.
type storedScan struct {
	Flags      int `json:"flags"`
	References int `json:"references"`
	Unknown    int `json:"unknown"`
}

// putScan replaces the references of a repository.
func putScan(tx *httpapi.Tx, at inRepository, in scanBody) (stored storedScan, err error) {
	p := at.Project(tx)
	var problems flags.Problems
	flags.CheckRepository(at.Repository, &problems)
	if err := problems.Err(); err != nil {
		return storedScan{}, err
	}
	scan := in.scan()
	scan.Repository, scan.ScannedAt, scan.Flags = at.Repository, tx.Now, map[string][]flags.CodePlace{}
	for _, s := range tx.Summaries(p) {
		places, looked := in.References[s.Name]
		if !looked {
			continue
		}
		scan.Flags[s.Name] = httpapi.Each(places, func(place codePlaceBody) flags.CodePlace {
			return flags.CodePlace{Path: place.Path, Line: place.Line, Count: place.Count.Or(1)}
		})
		stored.References += len(places)
	}
	stored.Flags, stored.Unknown = len(scan.Flags), len(in.References)-len(scan.Flags)
	all := references(tx, p)
	changed, err := all.Put(scan)
	if changed {
		tx.SaveUnlogged(all)
	}
	return stored, err
}

func deleteScan(tx *httpapi.Tx, at inRepository) error {
	all := references(tx, at.Project(tx))
	if err := all.Remove(at.Repository); err != nil {
		return err
	}
	tx.SaveUnlogged(all)
	return nil
}

// archiveCheck returns what decides whether flags of a project are safe to archive.
func archiveCheck(tx *httpapi.Tx, p *flags.Project) flags.ArchiveCheck {
	c := flags.ArchiveCheck{Environments: tx.ProjectEnvironments(p), References: references(tx, p), Now: tx.Now}
	for _, key := range []flags.Key{usage.AskedForAllKey(p.ID), usage.AskedForAllKey(flags.All)} {
		if asked := httpapi.Find[*usage.AskedForAll](tx, key); asked != nil && asked.At.After(c.AskedForAll) {
			c.AskedForAll = asked.At
		}
	}
	return c
}

// An archivableView says whether a flag is safe to archive, and what stands against it.
type archivableView struct {
	Name    string   `json:"name"`
	Safe    bool     `json:"safeToArchive"`
	Against []string `json:"against"`
}

func archivableViewOf(c flags.ArchiveCheck, s flags.FeatureSummary) archivableView {
	against := c.Against(s)
	return archivableView{s.Name, len(against) == 0, append([]string{}, against...)}
}

type archivableList struct {
	Features []archivableView `json:"features"`
	Next     string           `json:"next,omitzero"`
}

// inArchivable is the place of the list of what can be archived.
type inArchivable struct {
	inReferences
	wire.FlagPage
}

// Parse reads the page.
func (at *inArchivable) Parse(r httpapi.Request) error { return at.FlagPage.Parse(r) }

func listArchivable(tx *httpapi.Tx, at inArchivable) (archivableList, error) {
	p := at.Project(tx)
	check := archiveCheck(tx, p)
	view := func(s flags.FeatureSummary) archivableView { return archivableViewOf(check, s) }
	found, err := wire.ListFlags(tx, []*flags.Project{p}, flags.SummaryQuery{}, at.FlagPage, leastSize(view))
	return archivableList{httpapi.Each(found.Flags, view), found.Next}, err
}

// An archivableFlag is the same for one flag, with the places in the code that name it.
type archivableFlag struct {
	archivableView
	References []codeReference `json:"references"`
	Total      int             `json:"total"`
}

// A codeReference is a file that names a flag.
type codeReference struct {
	Repository string  `json:"repository"`
	Branch     string  `json:"branch"`
	Path       string  `json:"path"`
	Line       int     `json:"line"`
	Count      int     `json:"count"`
	URL        *string `json:"url"`
}

// maxShownReferences is how many references the response for a flag has.
const maxShownReferences = 200

// inArchivableFlag is the place of what stands against archiving a flag.
type inArchivableFlag struct{ httpapi.InFeature }

// Keys names the flag, its project and the references of the project.
func (at *inArchivableFlag) Keys() []flags.Key {
	return append(at.InFeature.Keys(), referenceKeys(at.ProjectID)...)
}

func readArchivable(tx *httpapi.Tx, at inArchivableFlag) (archivableFlag, error) {
	f := at.Feature(tx)
	check := archiveCheck(tx, at.Project(tx))
	view := archivableFlag{archivableView: archivableViewOf(check, f.Summary()), References: []codeReference{}}
	for _, scan := range check.References.Repositories {
		places := slices.SortedFunc(slices.Values(scan.Flags[f.Name]), func(a, b flags.CodePlace) int {
			return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
		})
		view.Total += len(places)
		for _, place := range places[:min(len(places), maxShownReferences-len(view.References))] {
			view.References = append(view.References, codeReference{
				scan.Repository, scan.Branch, place.Path, place.Line, place.Count, shape.NullIfEmpty(scan.Link(place)),
			})
		}
	}
	return view, nil
}
