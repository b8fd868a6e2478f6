package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"guidon/internal/runtimeapi"
)

const (
	starts    = 21   // how often each function is started
	startGoal = 2.0  // ms above the function that does nothing
	sizeGoal  = 12.0 // MB of a program
)

// startFigures are the starts of a function: from the start of the process to its first request for an event, and the
// processor time of the process until it is stopped then.
type startFigures struct {
	Function string    `json:"function"`
	Size     int64     `json:"bytes"` // of the program for deployedArch
	Init     []float64 `json:"init_ms"`
	CPU      []float64 `json:"cpu_ms"`
}

// measureStarts starts all functions several times, in turn with a function that does nothing.
func measureStarts(ctx context.Context, g *guidon) ([]startFigures, error) {
	names := append([]string{hello}, g.functions...)
	figures := make([]startFigures, len(names))
	for i, name := range names {
		file, err := os.Stat(filepath.Join(g.deployedFolder(), name))
		if err != nil {
			return nil, err
		}
		figures[i] = startFigures{Function: name, Size: file.Size()}
	}
	for range starts {
		for i, name := range names {
			report, err := start(ctx, name, g.program(name))
			if err != nil {
				return nil, err
			}
			figures[i].Init = append(figures[i].Init, milliseconds(report.Init))
			figures[i].CPU = append(figures[i].CPU, milliseconds(report.CPU))
		}
	}
	return figures, nil
}

// start starts a function once, without an event.
func start(ctx context.Context, name, program string) (runtimeapi.Report, error) {
	f := &runtimeapi.Function{Name: name, Command: []string{program}, Timeout: time.Minute, Memory: coldMemory, Env: environmentOf("http://127.0.0.1:1")}
	err := f.Start(ctx)
	f.Stop()
	return f.Report(), err
}

func (r *results) startTable() string {
	t := newTable("Function", "Program, "+deployedArch, "Start-up, lowest", "Quartile", "Median", "Lowest above hello", "CPU, lowest", "CPU, median")
	var base float64
	for _, s := range r.Starts {
		lowest := slices.Min(s.Init)
		size, above := fmt.Sprintf("%.1f MB", float64(s.Size)/1e6), ""
		if float64(s.Size) > sizeGoal*1e6 {
			size += " **above**"
		}
		if s.Function == hello {
			base = lowest
		} else {
			above = fmt.Sprintf("%.1f ms", lowest-base)
			if lowest-base > startGoal {
				above += " **above**"
			}
		}
		t.row(s.Function, size, fmt.Sprintf("%.1f ms", lowest), fmt.Sprintf("%.1f ms", quartileOf(s.Init)),
			fmt.Sprintf("%.1f ms", spreadOf(s.Init).median), above,
			fmt.Sprintf("%.0f ms", slices.Min(s.CPU)), fmt.Sprintf("%.0f ms", spreadOf(s.CPU).median))
	}
	return t.String()
}

// quartileOf returns the value that a quarter of the values do not exceed.
func quartileOf(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(values))[(len(values)-1)/4]
}

// environmentOf are the variables of a function over a DynamoDB.
func environmentOf(endpoint string) map[string]string {
	return map[string]string{
		"TABLE_NAME": coldTable, "AWS_ENDPOINT_URL_DYNAMODB": endpoint, "LOG_LEVEL": "error",
		"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_REGION": "local",
	}
}
