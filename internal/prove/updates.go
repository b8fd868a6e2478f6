package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// updates gives each parameter another value, one after the other, and then all of them their defaults.
func (p *proof) updates(ctx context.Context) {
	all, err := parameters(p.Root)
	var changed []string
	for _, name := range names(all) {
		value, reason := all[name].other(name)
		step := "parameter " + name
		if reason == "" && p.only != nil && !slices.Contains(p.only, name) {
			reason = slowThere
			if p.Emulator == nil {
				reason = "PARAMETERS does not name it"
			}
		}
		if reason != "" {
			p.report.Steps = append(p.report.Steps, Step{Name: step, Result: notRun, Reason: reason})
			continue
		}
		changed = append(changed, all[name].reset(name))
		p.step(ctx, step, false, "", func(ctx context.Context) ([]Figure, error) {
			return p.update(ctx, name+"="+value, all[name].Everywhere)
		})
	}
	if err == nil && changed == nil {
		return
	}
	p.step(ctx, "parameters: back to their defaults", true, "", func(ctx context.Context) ([]Figure, error) {
		if err != nil {
			return nil, err
		}
		return nil, p.Deploy(ctx, changed...)
	})
}

// update deploys a parameter. If every function has it in its configuration, each must get a new version.
func (p *proof) update(ctx context.Context, parameter string, everywhere bool) ([]Figure, error) {
	before, err := p.versions(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.Deploy(ctx, parameter); err != nil {
		return nil, err
	}
	after, err := p.versions(ctx)
	if err != nil {
		return nil, err
	}
	var kept []string
	for function, version := range after {
		if before[function] == version {
			kept = append(kept, function)
		}
	}
	slices.Sort(kept)
	if everywhere && kept != nil {
		err = fmt.Errorf("no new version of %s", strings.Join(kept, ", "))
	}
	return []Figure{figure("set", "%s", parameter), figure("functions with a new version", "%d of %d", len(after)-len(kept), len(after))}, err
}

// versions returns the version of each function that the stack has published last.
func (p *proof) versions(ctx context.Context) (map[string]string, error) {
	out, err := p.Shell(ctx, `of AWS::Lambda::Version`)
	versions := map[string]string{}
	for arn := range strings.FieldsSeq(out) {
		colon := strings.LastIndex(arn, ":")
		versions[arn[strings.LastIndex(arn[:colon], ":")+1:colon]] = arn[colon+1:]
	}
	return versions, err
}
