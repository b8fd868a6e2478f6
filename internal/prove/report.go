package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

// Results of a step.
const (
	passed = "passed"
	failed = "failed"
	notRun = "not run"
)

// A Report is what one run found out. docs/operations/proof.md describes it.
type Report struct {
	Target   string    `json:"target"` // "AWS", or the emulator
	Region   string    `json:"region"`
	Version  string    `json:"version"`
	Begun    time.Time `json:"begun"`
	Ended    time.Time `json:"ended"`
	Estimate float64   `json:"estimatedDollars"`
	Limit    float64   `json:"limitDollars"`
	Steps    []Step    `json:"steps"`
}

// A Step is one line of the report. Reason says why it failed or was not run.
type Step struct {
	Name    string   `json:"name"`
	Result  string   `json:"result"`
	Reason  string   `json:"reason,omitempty"`
	Seconds int      `json:"seconds"`
	Figures []Figure `json:"figures,omitempty"`
}

// A Figure is something that a step measured or read.
type Figure struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// figure formats the value of a figure.
func figure(name, format string, values ...any) Figure {
	return Figure{name, fmt.Sprintf(format, values...)}
}

// count returns how many steps have a result.
func (r *Report) count(result string) (n int) {
	for _, s := range r.Steps {
		if s.Result == result {
			n++
		}
	}
	return n
}

// markdown returns the report as a page.
func (r *Report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Proof on %s\n\n", r.Target)
	if r.Target != onAWS {
		b.WriteString("**This is from an emulator, not from AWS.** It shows that the steps work, and nothing about the limits, times and prices of AWS.\n\n")
	}
	fmt.Fprintf(&b, "Guidon %s in %s, from %s to %s UTC. Estimated to cost at most %.2f US dollars, with a limit of %.2f.\n\n",
		r.Version, r.Region, r.Begun.UTC().Format("2006-01-02 15:04"), r.Ended.UTC().Format("15:04"), r.Estimate, r.Limit)
	fmt.Fprintf(&b, "%d passed, %d failed, %d not run.\n\n| Step | Result | Seconds | Figures |\n|---|---|---:|---|\n", r.count(passed), r.count(failed), r.count(notRun))
	for _, s := range r.Steps {
		result := s.Result
		if s.Reason != "" {
			result += ": " + s.Reason
		}
		var figures []string
		for _, f := range s.Figures {
			figures = append(figures, f.Name+": "+f.Value)
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %s |\n", s.Name, cell(result), s.Seconds, cell(strings.Join(figures, "; ")))
	}
	return b.String()
}

// cell makes a text fit into a cell of a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

// write writes the report to path.json and path.md.
func (r *Report) write(path string) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".json", append(raw, '\n'), 0o600); err != nil {
		return err
	}
	return os.WriteFile(path+".md", []byte(r.markdown()), 0o600)
}

// Account numbers, and tokens of Guidon. A report can be published.
var (
	account = regexp.MustCompile(`\b\d{12}\b`)
	token   = regexp.MustCompile(`[\w*\[\]-]+:[\w*-]+\.[\w-]{20,}`)
	spaces  = regexp.MustCompile(`\s+`)
)

// publishable shortens the text of an error, and removes what must not be published.
func publishable(text string) string {
	text = spaces.ReplaceAllString(token.ReplaceAllString(account.ReplaceAllString(text, "<account>"), "<token>"), " ")
	if runes := []rune(text); len(runes) > 600 {
		text = string(runes[:200]) + " … " + string(runes[len(runes)-400:])
	}
	return strings.TrimSpace(text)
}
