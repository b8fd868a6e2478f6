package main

import (
	"context"
	"fmt"
	"os/exec"
	"syscall"
)

func (s *stage) play(ctx context.Context) error {
	first, err := s.unleash(ctx, "first")
	if err != nil {
		return err
	}
	filled, err := fill(ctx, first)
	if err != nil {
		return err
	}
	s.say("filled it with %d flags; it did not take:", filled.flags)
	for _, line := range filled.refusals() {
		s.say("  %s", line)
	}
	a, err := s.guidon(ctx, "a")
	if err != nil {
		return err
	}
	run := func(from, to *client, args ...string) {
		cmd := exec.CommandContext(ctx, s.command, append([]string{"--from", from.url, "--from-token", from.token, "--to", to.url, "--to-token", to.token}, args...)...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.CombinedOutput()
		fmt.Println(string(out), err)
	}
	run(first, a, "--dry-run")
	run(first, a)
	run(first, a)
	before, err := takeSnapshot(ctx, first)
	if err != nil {
		return err
	}
	after, err := takeSnapshot(ctx, a)
	if err != nil {
		return err
	}
	for _, d := range differences(before, after) {
		fmt.Println("DIFF1 ", d)
	}
	second, err := s.unleash(ctx, "second")
	if err != nil {
		return err
	}
	if second.token, err = personalToken(ctx, second); err != nil {
		return err
	}
	run(a, second)
	run(a, second)
	back, err := takeSnapshot(ctx, second)
	if err != nil {
		return err
	}
	for _, d := range differences(before, back) {
		fmt.Println("DIFF2 ", d)
	}
	return nil
}
func (s *stage) measure(ctx context.Context, many int) error { return nil }
