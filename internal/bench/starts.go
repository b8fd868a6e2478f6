package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"guidon/internal/runtimeapi"
	"guidon/pkg/dynamo"
)

// measureStarts starts all functions several times, in turn, and prints the time from the start of the process to its first
// request for an event, and the processor time until it is stopped then. The function hello does nothing.
func measureStarts(ctx context.Context, p *programs, times int) error {
	if times == 0 {
		return nil
	}
	inits, cpu := map[string][]float64{}, map[string][]float64{}
	for range times {
		for _, name := range p.names {
			f := &runtimeapi.Function{Name: name, Command: []string{p.function(name)}, Timeout: time.Minute, Memory: 512, Env: map[string]string{
				"TABLE_NAME": "none", "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:1", "LOG_LEVEL": "error",
				"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_REGION": dynamo.LocalRegion,
			}}
			err := f.Start(ctx)
			f.Stop()
			if err != nil {
				return err
			}
			report := f.Report()
			inits[name], cpu[name] = append(inits[name], milliseconds(report.Init)), append(cpu[name], milliseconds(report.CPU))
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight|tabwriter.Debug)
	fmt.Fprintln(w, "\nFunction\tprogram, MB\tstart-up ms, lowest\tmedian\tlowest above hello\tCPU ms, median\t")
	for _, name := range p.names {
		file, err := os.Stat(p.function(name))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.0f\t\n", name, float64(file.Size())/1e6, slices.Min(inits[name]), median(inits[name]),
			slices.Min(inits[name])-slices.Min(inits[hello]), median(cpu[name]))
	}
	return w.Flush()
}
