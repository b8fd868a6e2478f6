package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"guidon/internal/adminapi"
	"guidon/internal/coderefs"
	"guidon/pkg/flags"
)

// exitReferences ends refs --check when the code names flags that are archived or do not exist.
const exitReferences = 6

// refsOptions say what refs scans, and what it does with the result.
type refsOptions struct {
	project, repository, branch, link, growthBook string
	exclude                                       []string
	dryRun, check                                 bool
}

func (a *app) refs() *cobra.Command {
	var o refsOptions
	cmd := &cobra.Command{
		Use:   "refs [FOLDER]",
		Short: "Find the names of flags in a git checkout and report where they are",
		Long: fmt.Sprintf(`Find the names of a project's active flags in the files of a git checkout, without those that
.gitignore excludes, links, submodules and binary files. Report the repository, branch, commit, path,
line and count to the server, but no source. A flag that no recent scan finds, that is not in use and
that no longer changes is safe to archive: see guidon flag stale.

A name must stand whole, so new-checkout is not in new-checkout-2. A name that is one word of
letters, such as checkout, only counts in quotes: "checkout", 'checkout' or `+"`checkout`"+`.

With --check, end with exit code %d if the code names archived flags of the server, or if a call such
as isEnabled("name"), is_enabled, getVariant, useFlag or getBooleanValue has a name on the same line
that no flag has. The caller must be able to read all projects whose flags the code uses.`, exitReferences),
		Example: `  guidon refs --project shop
  guidon refs --project shop --dry-run --check
  guidon refs --project shop --growthbook refs.json`,
		Args: cobra.MaximumNArgs(1),
	}
	cmd.Flags().StringVarP(&o.project, "project", "p", "", "the `id` of the project; '*' for each project (environment: GUIDON_PROJECT; default default)")
	cmd.Flags().StringVar(&o.repository, "repository", "", "the `name` of the repository (default: from the URL of its remote origin)")
	cmd.Flags().StringVar(&o.branch, "branch", "", "the `name` of the branch, the same in each scan (default: the one that is checked out)")
	cmd.Flags().StringVar(&o.link, "link", "", "the `URL` of a line with {commit}, {branch}, {path} and {line} (default: that of GitHub and GitLab)")
	cmd.Flags().StringArrayVar(&o.exclude, "exclude", nil, "a `pattern` of git for paths to leave out; can be repeated")
	cmd.Flags().StringVar(&o.growthBook, "growthbook", "", "take the references from a `file` of gb-find-code-refs instead of scanning")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "print the references, and report nothing")
	cmd.Flags().BoolVar(&o.check, "check", false, "fail if the code names archived or unknown flags")
	return a.calls(cmd, func(ctx context.Context, server *adminapi.Client, args []string) error {
		dir := "."
		if len(args) > 0 {
			dir = args[0]
		}
		return a.findReferences(ctx, server, dir, o)
	})
}

// findReferences scans a checkout for the flags of projects, reports what it found, and prints it.
func (a *app) findReferences(ctx context.Context, server *adminapi.Client, dir string, o refsOptions) error {
	if o.check && o.growthBook != "" {
		return &usageError{errors.New("--check needs a scan, without --growthbook")}
	}
	upload, top, err := checkoutOf(ctx, dir, o)
	if err != nil {
		return err
	}
	projects := []string{a.projectOf(o.project)}
	if projects[0] == "*" || o.check {
		if projects, err = projectIDs(ctx, server); err != nil {
			return err
		}
	}
	byProject, names, archived := map[string][]string{}, map[string]bool{}, map[string]bool{}
	for _, project := range projects {
		list, err := flagPages[flagRow](ctx, server, "/api/admin/projects/"+url.PathEscape(project)+"/features", flagsPerPage)
		if err != nil {
			return err
		}
		for _, f := range list {
			byProject[project] = append(byProject[project], f.Name)
			names[f.Name] = true
		}
	}
	if o.check {
		list, err := flagPages[flagRow](ctx, server, "/api/admin/archive/features", flagsPerPage)
		if err != nil {
			return err
		}
		for _, f := range list {
			names[f.Name], archived[f.Name] = true, true
		}
	}
	scan, err := a.scan(ctx, top, names, o, &upload)
	if err != nil {
		return err
	}
	if own := a.projectOf(o.project); own != "*" {
		byProject = map[string][]string{own: byProject[own]}
		its := flags.SetOf(byProject[own])
		scan.Found = slices.DeleteFunc(scan.Found, func(r coderefs.Reference) bool { return !archived[r.Flag] && !its[r.Flag] })
	}
	if !o.dryRun {
		for project, list := range byProject {
			if err := a.report(ctx, server, project, list, scan, upload); err != nil {
				return err
			}
		}
	}
	rows := [][]string{{"FLAG", "PATH", "LINE", "COUNT"}}
	for _, r := range scan.Found {
		rows = append(rows, []string{r.Flag, r.Path, strconv.Itoa(r.Line), strconv.Itoa(r.Count)})
	}
	if err := a.print(append([]coderefs.Reference{}, scan.Found...), rows); err != nil || !o.check {
		return err
	}
	return a.checkReferences(scan, names, archived)
}

// scan finds the names of flags in a checkout, or reads what another program has found.
func (a *app) scan(ctx context.Context, top string, names map[string]bool, o refsOptions, upload *scanUpload) (*coderefs.Scan, error) {
	scan := &coderefs.Scan{}
	if o.growthBook == "" {
		var err error
		if scan, err = coderefs.Of(ctx, top, names, o.exclude); err != nil {
			return nil, err
		}
	} else {
		text, err := os.ReadFile(o.growthBook)
		if err != nil {
			return nil, err
		}
		repository, branch, found, err := coderefs.GrowthBook(text, names)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.growthBook, err)
		}
		scan.Found = found
		if o.repository == "" && repository != "" {
			upload.repository = repository
		}
		if o.branch == "" && branch != "" {
			upload.Branch = branch
		}
	}
	if upload.repository == "" && !o.dryRun {
		return nil, &usageError{errors.New("--repository is required: the checkout has no remote origin")}
	}
	if upload.Branch == "" && !o.dryRun {
		return nil, &usageError{errors.New("--branch is required: no branch is checked out")}
	}
	for _, reason := range scan.Partial {
		a.note("The scan is not complete: %s.", reason)
	}
	upload.Partial = len(scan.Partial) > 0
	return scan, nil
}

// A scanUpload is what is reported for a project.
type scanUpload struct {
	repository string
	Branch     string                 `json:"branch"`
	Commit     string                 `json:"commit"`
	URL        string                 `json:"url"`
	Sequence   int64                  `json:"sequence"`
	Partial    bool                   `json:"partial"`
	References map[string][]codePlace `json:"references"`
}

type codePlace struct {
	Path  string `json:"path"`
	Line  int    `json:"line"`
	Count int    `json:"count"`
}

// report sends the references of a project.
func (a *app) report(ctx context.Context, server *adminapi.Client, project string, names []string, scan *coderefs.Scan, upload scanUpload) error {
	upload.References = make(map[string][]codePlace, len(names))
	for _, name := range names {
		upload.References[name] = []codePlace{}
	}
	for _, r := range scan.Found {
		if places, of := upload.References[r.Flag]; of {
			upload.References[r.Flag] = append(places, codePlace{r.Path, r.Line, r.Count})
		}
	}
	var stored struct{ Flags, References int }
	path := "/api/admin/projects/" + url.PathEscape(project) + "/code-references/" + url.PathEscape(upload.repository)
	if err := server.Call(ctx, http.MethodPut, path, upload, &stored); err != nil {
		return err
	}
	a.note("Reported %d references of %s to %d flags of project %s.", stored.References, upload.repository, stored.Flags, project)
	return nil
}

// checkReferences fails if the code names archived flags, or asks for flags that do not exist.
func (a *app) checkReferences(scan *coderefs.Scan, names, archived map[string]bool) error {
	wrong := 0
	for _, r := range scan.Found {
		if archived[r.Flag] {
			a.note("%s:%d: flag %q is archived.", r.Path, r.Line, r.Flag)
			wrong++
		}
	}
	for _, r := range scan.Asked {
		if !names[r.Flag] {
			a.note("%s:%d: there is no flag %q.", r.Path, r.Line, r.Flag)
			wrong++
		}
	}
	if wrong > 0 {
		return codeError{exitReferences, errReported}
	}
	return nil
}

func projectIDs(ctx context.Context, server *adminapi.Client) (ids []string, err error) {
	var list struct{ Projects []struct{ ID string } }
	err = server.Get(ctx, "/api/admin/projects", &list)
	for _, p := range list.Projects {
		ids = append(ids, p.ID)
	}
	return ids, err
}

// remote matches the URLs of git remotes: the host, and the path without .git.
var remote = regexp.MustCompile(`^(?:[a-z+]+://(?:[^@/]+@)?|[^@/]+@)([^:/]+)(?::[0-9]+)?[:/](.+?)(?:\.git)?/?$`)

// checkoutOf returns what is reported about a checkout, and its topmost folder.
func checkoutOf(ctx context.Context, dir string, o refsOptions) (u scanUpload, top string, err error) {
	if top, err = coderefs.Git(ctx, dir, "rev-parse", "--show-toplevel"); err != nil {
		return u, "", err
	}
	u = scanUpload{repository: o.repository, Branch: o.branch, URL: o.link}
	// A checkout without commits or remotes has none of these.
	if head, err := coderefs.Git(ctx, top, "log", "-1", "--format=%H %ct"); err == nil {
		commit, at, _ := strings.Cut(head, " ")
		u.Commit = commit
		u.Sequence, _ = strconv.ParseInt(at, 10, 64)
	}
	if u.Branch == "" {
		u.Branch, _ = coderefs.Git(ctx, top, "symbolic-ref", "--short", "--quiet", "HEAD")
	}
	origin, _ := coderefs.Git(ctx, top, "remote", "get-url", "origin")
	if parts := remote.FindStringSubmatch(origin); parts != nil {
		if u.repository == "" {
			u.repository = parts[2]
		}
		switch {
		case u.URL != "" || u.Commit == "":
		case parts[1] == "github.com":
			u.URL = "https://github.com/" + parts[2] + "/blob/{commit}/{path}#L{line}"
		case parts[1] == "gitlab.com":
			u.URL = "https://gitlab.com/" + parts[2] + "/-/blob/{commit}/{path}#L{line}"
		}
	}
	return u, top, nil
}
