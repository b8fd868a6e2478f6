package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"guidon/internal/runtimeapi"
)

// starts is how often each function is started.
const starts = 21

// measureStarts prints how long the functions for applications take to start: from the start of the process to its first call
// for an event. They take turns with a function that does nothing.
func measureStarts(ctx context.Context, g *guidon, out io.Writer) error {
	sources := []string{"./internal/bench/hello", "./functions/" + client, "./functions/" + frontend}
	reports := make([][]runtimeapi.Report, len(sources))
	for range starts {
		for i, source := range sources {
			program, err := g.build(ctx, source)
			if err != nil {
				return err
			}
			f := &runtimeapi.Function{Name: source, Command: []string{program}, Timeout: time.Minute, Memory: coldMemory, Env: environmentOf("http://127.0.0.1:1")}
			_, err = f.Invoke(ctx, []byte("{}"))
			f.Stop()
			if err != nil {
				return err
			}
			reports[i] = append(reports[i], f.Report())
		}
	}
	fmt.Fprintf(out, "\nStart-up of functions: minimum, quartile and median of %d starts in turn, in ms; CPU is the processor time until the end\n\n", starts)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "function\tmin\tp25\tp50\tCPU min\tp25\tp50\tMB\t")
	for i, source := range sources {
		program, err := g.build(ctx, source)
		if err != nil {
			return err
		}
		file, err := os.Stat(program)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t", file.Name())
		for _, of := range []func(r runtimeapi.Report) time.Duration{
			func(r runtimeapi.Report) time.Duration { return r.Init }, func(r runtimeapi.Report) time.Duration { return r.CPU },
		} {
			res := result{}
			for _, r := range reports[i] {
				res.times = append(res.times, of(r))
			}
			fmt.Fprintf(w, "%.1f\t%.1f\t%.1f\t", float64(slices.Min(res.times))/float64(time.Millisecond), res.percentile(25), res.percentile(50))
		}
		fmt.Fprintf(w, "%.1f\t\n", float64(file.Size())/1e6)
	}
	return w.Flush()
}

// environmentOf are the variables of a function over a DynamoDB.
func environmentOf(endpoint string) map[string]string {
	return map[string]string{
		"TABLE_NAME": coldTable, "AWS_ENDPOINT_URL_DYNAMODB": endpoint, "LOG_LEVEL": "error",
		"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_REGION": "local",
	}
}
