package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"guidon/internal/adminapi"
)

const batchPath = "/api/admin/features-batch"

func (a *app) export() *cobra.Command {
	var environment, project, tag, file string
	var fullSegments bool
	cmd := &cobra.Command{
		Use:   "export [NAME...] --environment ENVIRONMENT",
		Short: "Export flags of an environment to a file",
		Long: `Export active flags as they are in one environment: those with the given names, those of a project,
those with a tag, or all. The file has the form of Unleash's exports; guidon import reads it.`,
		Example: `  guidon export --environment production --file flags.json
  guidon export --environment production --project shop > shop.json
  guidon export new-checkout dark-mode --environment development`,
		ValidArgsFunction: a.flagNames(&project),
	}
	a.addEnvironment(cmd, &environment, "the `name` of the environment (environment: GUIDON_ENVIRONMENT)")
	cmd.Flags().StringVarP(&project, "project", "p", "", "export the flags of the project with this `id`")
	cmd.Flags().StringVar(&tag, "tag", "", "export the flags with this `tag`: a value, or type:value")
	cmd.Flags().StringVarP(&file, "file", "f", "-", "the `file` to write, - for standard output; an existing file is replaced")
	cmd.Flags().BoolVar(&fullSegments, "full-segments", false, "include the constraints of segments, so that an import can create them (Guidon only)")
	a.calls(cmd, func(ctx context.Context, server *adminapi.Client, names []string) error {
		in := cmp.Or(environment, a.getenv("GUIDON_ENVIRONMENT"))
		switch {
		case in == "":
			return &usageError{errors.New("--environment is required")}
		case len(names) > 0 && (project != "" || tag != ""), project != "" && tag != "":
			return &usageError{errors.New("choose flags by name, by --project or by --tag, not by several of these")}
		}
		body := map[string]any{"environment": in}
		switch {
		case project != "":
			body["project"] = project
		case tag != "":
			body["tag"] = tag
		default:
			body["features"] = append([]string{}, names...) // [] for all
		}
		if fullSegments {
			body["fullSegments"] = true
		}
		progress := a.progress("exporting", -1)
		data, err := exportPages(ctx, server, body, flagsPerPage)
		_ = progress.Finish()
		if err != nil {
			return err
		}
		return a.writeExport(file, data)
	})
	hide(cmd, "output")
	return cmd
}

// exportPages exports flags in pages. A server that has no pages, such as Unleash, returns all flags at once.
func exportPages(ctx context.Context, server *adminapi.Client, body map[string]any, size int) (json.RawMessage, error) {
	body["limit"] = size
	var all exportData
	for {
		var raw json.RawMessage
		if err := server.Call(ctx, http.MethodPost, batchPath+"/export", body, &raw); err != nil {
			return nil, err
		}
		var next struct{ Next string }
		if err := json.Unmarshal(raw, &next); err != nil {
			return nil, err
		}
		if all == nil && next.Next == "" {
			return raw, nil
		}
		page, err := parseExport(raw)
		if err != nil {
			return nil, err
		}
		if all, err = all.with(page); err != nil || next.Next == "" {
			data, encodingErr := json.Marshal(all)
			return data, cmp.Or(err, encodingErr)
		}
		if body["cursor"] == next.Next {
			return nil, fmt.Errorf("the server returned the page after %q again", next.Next)
		}
		body["cursor"] = next.Next
	}
}

// hide takes a shared flag from a command whose output has one form only.
func hide(cmd *cobra.Command, name string) { _ = cmd.Flags().MarkHidden(name) }

// writeExport writes an export with line breaks. A file is replaced only when it is complete.
func (a *app) writeExport(file string, data json.RawMessage) error {
	var text bytes.Buffer
	if err := json.Indent(&text, data, "", "  "); err != nil {
		return err
	}
	text.WriteByte('\n')
	var content struct{ Features []json.RawMessage }
	if err := json.Unmarshal(data, &content); err != nil {
		return err
	}
	if file == "-" {
		_, err := a.out.Write(text.Bytes())
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), ".guidon-export-*")
	if err != nil {
		return fmt.Errorf("no file can be written in the folder of --file: %w", err)
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // fails after the rename
	_, err = temporary.Write(text.Bytes())
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), file); err != nil {
		return err
	}
	a.note("exported %d flags to %s", len(content.Features), file)
	return nil
}

// An importReport is what a server has done with the data. Unleash sends none.
type importReport struct {
	Created     int         `json:"created"`
	Overwritten int         `json:"overwritten"`
	Unchanged   int         `json:"unchanged"`
	Skipped     int         `json:"skipped"`
	Warnings    []finding   `json:"warnings"`
	Features    []importRow `json:"features"`
	Others      []importRow `json:"others"` // tag types, context fields and segments
}

type importRow struct {
	Kind    string   `json:"kind,omitempty"`
	Name    string   `json:"name"`
	Outcome string   `json:"outcome"`
	Reasons []string `json:"reasons"`
}

// add adds the report about a batch with those flags.
func (r *importReport) add(batch *importReport, names []string) {
	if len(batch.Features) == 0 { // Unleash: no report, and no error
		for _, name := range names {
			batch.Features = append(batch.Features, importRow{Name: name, Outcome: "imported", Reasons: []string{}})
		}
	}
	r.Created += batch.Created
	r.Overwritten += batch.Overwritten
	r.Unchanged += batch.Unchanged
	r.Skipped += batch.Skipped
	r.Warnings = append(r.Warnings, batch.Warnings...)
	r.Features = append(r.Features, batch.Features...)
	r.Others = append(r.Others, batch.Others...)
}

func (a *app) importCommand() *cobra.Command {
	var environment, project string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "import FILE --environment ENVIRONMENT",
		Short: "Import flags from a file",
		Long: `Import the flags of a file into a project and an environment: a file of guidon export, or an export
of Unleash. FILE is - for standard input. Existing flags are overwritten; equal ones stay unchanged,
so the command can be repeated. Up to 100 flags are imported by one request, parents before their
children. Unleash accepts imports with personal tokens only.

Exit code 1 means that the server skipped flags or something that they need, or kept a segment that
differs, or with --dry-run that it would: the reasons are printed, and the rest is imported. If you
may skip change requests and freezes, the import does, and prints which.`,
		Example: `  guidon import flags.json --environment development --dry-run
  guidon import flags.json --environment development
  guidon export --environment development | guidon import - --environment staging --project shop`,
		Args: cobra.ExactArgs(1),
	}
	a.addEnvironment(cmd, &environment, "the `name` of the environment to import into (environment: GUIDON_ENVIRONMENT)")
	a.addProject(cmd, &project)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "change nothing: print what the server would refuse")
	return a.calls(cmd, func(ctx context.Context, server *adminapi.Client, args []string) error {
		in := cmp.Or(environment, a.getenv("GUIDON_ENVIRONMENT"))
		if in == "" {
			return &usageError{errors.New("--environment is required")}
		}
		data, err := a.readExport(args[0])
		if err != nil {
			return err
		}
		body := func(data exportData) map[string]any {
			return map[string]any{"project": a.projectOf(project), "environment": in, "data": data}
		}
		if dryRun {
			return a.validateImport(ctx, server, body(data))
		}
		return a.importBatches(ctx, server, data, body)
	})
}

func (a *app) readExport(file string) (exportData, error) {
	var raw []byte
	var err error
	if file == "-" {
		raw, err = io.ReadAll(a.in)
	} else {
		raw, err = os.ReadFile(file) //nolint:gosec // the file that the user names
	}
	if err != nil {
		return nil, err
	}
	data, err := parseExport(raw)
	if err != nil {
		return nil, fmt.Errorf("%s is not an export of flags: %w", file, err)
	}
	return data, nil
}

func (a *app) importBatches(ctx context.Context, server *adminapi.Client, data exportData, body func(exportData) map[string]any) error {
	batches, err := data.split(flagsPerImport)
	if err != nil {
		return err
	}
	report := importReport{Warnings: []finding{}, Features: []importRow{}, Others: []importRow{}}
	progress := a.progress("importing", data.count())
	for _, b := range batches {
		var one importReport
		if err = server.Call(ctx, http.MethodPost, batchPath+"/import", body(b.data), &one); err != nil {
			break
		}
		report.add(&one, b.names)
		_ = progress.Add(len(b.names))
	}
	_ = progress.Finish()
	if err != nil {
		if done := len(report.Features); done > 0 {
			a.note("%d of %d flags were imported before the error", done, data.count())
		}
		return err
	}
	rows := [][]string{{"FLAG", "OUTCOME", "REASONS"}}
	for _, f := range report.Features {
		rows = append(rows, []string{f.Name, f.Outcome, orDash(strings.Join(f.Reasons, "; "))})
	}
	for _, o := range report.Others {
		rows = append(rows, []string{o.Kind + " " + o.Name, o.Outcome, orDash(strings.Join(o.Reasons, "; "))})
	}
	if err := a.print(report, rows); err != nil {
		return err
	}
	for _, w := range report.Warnings {
		a.note("%s: %s", w.Message, strings.Join(w.AffectedItems, ", "))
	}
	if report.Skipped > 0 {
		return fmt.Errorf("the server skipped %d of %d flags; see the reasons", report.Skipped, data.count())
	}
	if n := len(slices.DeleteFunc(report.Others, importRow.done)); n > 0 {
		return fmt.Errorf("all flags were imported, but %d of the tag types, context fields and segments in the file were not; see the reasons", n)
	}
	return nil
}

// done reports whether the server has the item as the file has it.
func (r importRow) done() bool { return r.Outcome != "skipped" && r.Outcome != "kept" }

// A finding is what the server says of some items.
type finding struct {
	Message       string   `json:"message"`
	AffectedItems []string `json:"affectedItems"`
}

func (a *app) validateImport(ctx context.Context, server *adminapi.Client, body map[string]any) error {
	var found struct {
		Errors      []finding `json:"errors"`
		Warnings    []finding `json:"warnings"`
		Permissions []finding `json:"permissions"`
		Skipped     int       `json:"skipped"`
	}
	if err := server.Call(ctx, http.MethodPost, batchPath+"/validate", body, &found); err != nil {
		return err
	}
	rows := [][]string{{"LEVEL", "MESSAGE", "AFFECTED"}}
	add := func(level string, list []finding) {
		for _, f := range list {
			rows = append(rows, []string{level, f.Message, orDash(strings.Join(f.AffectedItems, ", "))})
		}
	}
	add("error", found.Errors)
	add("permission", found.Permissions)
	add("warning", found.Warnings)
	if err := a.print(found, rows); err != nil {
		return err
	}
	if len(found.Errors)+len(found.Permissions) > 0 {
		return errors.New("the import would fail; see the errors and permissions")
	}
	if found.Skipped > 0 {
		return fmt.Errorf("the import would leave out %d of the items; see the warnings", found.Skipped)
	}
	return nil
}
