package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

const (
	formatTable = "table"
	formatJSON  = "json"
)

// print writes a value as JSON, or rows as a table whose first row is the heading.
func (a *app) print(value any, rows [][]string) error {
	if a.output == formatJSON {
		encoder := json.NewEncoder(a.out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(value)
	}
	return printTable(a.out, rows)
}

func printTable(w io.Writer, rows [][]string) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = strings.Map(printable, row[i])
		}
		_, _ = fmt.Fprintln(table, strings.Join(row, "\t")) // tabwriter returns errors from Flush
	}
	return table.Flush()
}

// printable keeps text of a server from controlling the terminal, or breaking the table.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

// note tells the user something that is not part of the output.
func (a *app) note(format string, args ...any) { _, _ = fmt.Fprintf(a.messages, format+"\n", args...) }

// progress shows a bar over total steps if messages go to a terminal.
func (a *app) progress(what string, total int) *progressbar.ProgressBar {
	file, ok := a.messages.(*os.File)
	return progressbar.NewOptions(total, progressbar.OptionSetWriter(a.messages), progressbar.OptionSetDescription(what),
		progressbar.OptionSetVisibility(ok && term.IsTerminal(int(file.Fd()))), progressbar.OptionShowCount(),
		progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
}

// orDash makes an empty cell visible.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
