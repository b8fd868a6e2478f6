package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// A chart is what the program internal/bench/chart draws: groups of bars on a logarithmic axis.
type chart struct {
	Title  string   `json:"title"`
	Axis   string   `json:"axis"`
	Groups []string `json:"groups"`
	Series []series `json:"series"`
}

// A series has the bars of one side, one in each group.
type series struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
	Low    []float64 `json:"low"`
	High   []float64 `json:"high"`
}

// The files of the charts, beside the pages.
const (
	ownChart  = "own-cpu.svg"
	rateChart = "throughput.svg"
)

// charts returns the charts by the names of their files.
func (r *results) charts() map[string]chart {
	return map[string]chart{
		ownChart:  r.chart("Own processor time for a response", "ms, logarithmic; less is better", own, guidonSide, functionsSide, unleashSide),
		rateChart: r.chart("Throughput with database", "responses a second, logarithmic; more is better", rate, guidonSide, unleashSide),
	}
}

func (r *results) chart(title, axis string, value func(figure) float64, sides ...string) chart {
	c := chart{Title: title, Axis: axis}
	for _, p := range r.Phases {
		c.Groups = append(c.Groups, p.Name)
	}
	for _, side := range sides {
		s := series{Name: side}
		measured := false
		for _, p := range r.Phases {
			of := p.of(side, value)
			s.Values, s.Low, s.High = append(s.Values, of.median), append(s.Low, of.low), append(s.High, of.high)
			measured = measured || of.median > 0
		}
		if measured {
			c.Series = append(c.Series, s)
		}
	}
	return c
}

// draw writes the charts into the folder. The program that draws them is a Go module of its own: the plotting library has
// dependencies that nothing else of Guidon needs.
func (r *results) draw(ctx context.Context, root, folder string) error {
	for name, c := range r.charts() {
		spec, err := json.Marshal(c)
		if err != nil {
			return err
		}
		var stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, "go", "run", ".")
		cmd.Dir, cmd.Stdin, cmd.Stderr = filepath.Join(root, "internal", "bench", "chart"), bytes.NewReader(spec), &stderr
		svg, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("drawing %s: %w\n%s", name, err, &stderr)
		}
		if err := os.WriteFile(filepath.Join(folder, name), svg, 0o644); err != nil {
			return err
		}
	}
	return nil
}
