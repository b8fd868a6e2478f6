package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// What the specification and extras.go come to in an Unleash 5.12.8.
const (
	flagsFilled   = 164
	timesRefused  = 74
	thingsBrought = 27 // tag types, context fields, segments and strategy types
)

func (s *stage) play(ctx context.Context) error {
	if err := s.checkDocumented(); err != nil {
		return err
	}
	second := make(chan *client, 1) // starts while the first is moved
	go func() {
		c, err := s.unleash(ctx, "second")
		if err != nil {
			s.say("%v", err)
		}
		second <- c
	}()
	defer func() {
		for range second { // nothing is started after the end
			break
		}
	}()
	first, err := s.unleash(ctx, "first")
	if err != nil {
		return err
	}
	if err := s.fillFirst(ctx, first); err != nil {
		return err
	}
	was, err := takeSnapshot(ctx, first)
	if err != nil {
		return err
	}
	here, now, err := s.moveIn(ctx, first, was)
	if err != nil {
		return err
	}
	if err := s.checkStory(ctx, here, now); err != nil {
		return err
	}
	if err := s.moveInBroken(ctx, first, now); err != nil {
		return err
	}
	if err := s.doPage(ctx, first); err != nil {
		return err
	}
	c := <-second
	second <- nil
	if c == nil {
		return errors.New("the second Unleash did not start")
	}
	return s.moveOut(ctx, here, c, was)
}

func (s *stage) fillFirst(ctx context.Context, first *client) error {
	filled, err := fill(ctx, first)
	if err != nil {
		return err
	}
	s.say("filled it with %d flags; of the specification it did not take:", filled.flags)
	refused := 0
	for _, line := range filled.refusals() {
		s.say("  %.300s", line)
	}
	for _, list := range filled.refused {
		refused += len(list)
	}
	if filled.flags != flagsFilled || refused != timesRefused {
		s.fault("Unleash took %d flags and refused %d times, want %d and %d", filled.flags, refused, flagsFilled, timesRefused)
	}
	return nil
}

// moveIn moves everything into an empty Guidon, and tells what that has then.
func (s *stage) moveIn(ctx context.Context, from *client, was snapshot) (here *client, now snapshot, err error) {
	if here, err = s.guidon(ctx, "whole"); err != nil {
		return nil, nil, err
	}
	if now, err = takeSnapshot(ctx, here); err != nil {
		return nil, nil, err
	}
	events, err := countEvents(ctx, here)
	if err != nil {
		return nil, nil, err
	}
	out := s.migrate(ctx, from, here, "--dry-run")
	s.wants(out, fmt.Sprintf("would copy %d of %d flags of project default", flagsFilled, flagsFilled))
	if n := strings.Count(out, "would copy ") - 1; n != thingsBrought {
		s.fault("the dry run would copy %d things besides flags, want %d:\n%s", n, thingsBrought, out)
	}
	if err := s.unchanged(ctx, "a dry run", here, now, events); err != nil {
		return nil, nil, err
	}
	s.say("a dry run counted right, and changed nothing")

	out = s.migrate(ctx, from, here)
	s.wants(out, fmt.Sprintf("%d flags are the same on both sides, 0 differ; 1 archived flag was not copied", flagsFilled))
	if n := strings.Count(out, "\ncopied "); n != thingsBrought {
		s.fault("the command copied %d things besides flags, want %d:\n%s", n, thingsBrought, out)
	}
	if now, err = takeSnapshot(ctx, here); err != nil {
		return nil, nil, err
	}
	s.compare("Unleash → Guidon", was, now, append(added(), served()...))

	if events, err = countEvents(ctx, here); err != nil {
		return nil, nil, err
	}
	out = s.migrate(ctx, from, here)
	s.wants(out, fmt.Sprintf("%d flags are the same on both sides, 0 differ", flagsFilled))
	if strings.Contains(out, "copied ") {
		s.fault("the second run copied something:\n%s", out)
	}
	if err := s.unchanged(ctx, "a second run", here, now, events); err != nil {
		return nil, nil, err
	}
	s.say("a second run changed nothing, and wrote no event")
	return here, now, nil
}

// moveInBroken kills the command on its way into another Guidon, and runs it again.
func (s *stage) moveInBroken(ctx context.Context, from *client, whole snapshot) error {
	here, err := s.guidon(ctx, "broken")
	if err != nil {
		return err
	}
	p, err := s.start("the command to be killed", s.commandFor(ctx, from, here))
	if err != nil {
		return err
	}
	flags := func() (n int) {
		var list struct{ Features []struct{} }
		if err = here.get(ctx, flagsPath, &list); err != nil {
			return flagsFilled
		}
		return len(list.Features)
	}
	for flags() == 0 {
		select {
		case <-p.ended:
			return fmt.Errorf("the command to be killed ended by itself:\n%s", p.said.End())
		case <-time.After(2 * time.Millisecond):
		}
	}
	p.end(syscall.SIGKILL)
	n := flags()
	if err != nil {
		return err
	}
	now, err := takeSnapshot(ctx, here)
	if err != nil {
		return err
	}
	if left := len(differences(whole, now)); left == 0 {
		s.fault("the command was killed with %d flags there, when all was done: it was not stopped in the middle", n)
	}
	out := s.migrate(ctx, from, here)
	s.wants(out, fmt.Sprintf("%d flags are the same on both sides, 0 differ", flagsFilled))
	if now, err = takeSnapshot(ctx, here); err != nil {
		return err
	}
	s.compare("a move that was killed and run again", whole, now, nil)
	s.say("the command was killed when %d flags were there, and the next run did the rest", n)
	here.end(syscall.SIGINT)
	return nil
}

// moveOut moves everything from Guidon into an empty Unleash.
func (s *stage) moveOut(ctx context.Context, here, to *client, was snapshot) (err error) {
	api := to.token
	if to.token, err = personalToken(ctx, to); err != nil {
		return err
	}
	out := s.migrate(ctx, here, to)
	s.wants(out, fmt.Sprintf("%d flags are the same on both sides, 0 differ", flagsFilled))
	to.token = api
	back, err := takeSnapshot(ctx, to)
	if err != nil {
		return err
	}
	s.compare("Unleash → Guidon → Unleash", was, back, added())
	s.say("moved it all from Guidon into a second Unleash")
	return nil
}

// commandFor is the command from one server to another.
func (s *stage) commandFor(ctx context.Context, from, to *client, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.command, append([]string{"migrate", "--from", from.url, "--to", to.url}, args...)...)
	cmd.Env = []string{"FROM_TOKEN=" + from.token, "TO_TOKEN=" + to.token}
	return cmd
}

// migrate runs the command to its end, and tells what it printed.
func (s *stage) migrate(ctx context.Context, from, to *client, args ...string) string {
	cmd := s.commandFor(ctx, from, to, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ""
	}
	if cmd.ProcessState == nil || !cmd.ProcessState.Success() {
		s.fault("the command ended with %v; it printed\n%s", err, out)
	}
	s.say("the command ran for %.1f s (%s → %s %s)", time.Since(began).Seconds(), from.name, to.name, strings.Join(args, " "))
	return string(out)
}

func (s *stage) wants(out, words string) {
	if !strings.Contains(out, words) {
		s.fault("the command does not say %q:\n%s", words, out)
	}
}

// unchanged checks that a server has what it had, and as many events.
func (s *stage) unchanged(ctx context.Context, after string, c *client, was snapshot, events int) error {
	now, err := takeSnapshot(ctx, c)
	if err != nil {
		return err
	}
	n, err := countEvents(ctx, c)
	s.compare(after, was, now, nil)
	if n != events {
		s.fault("%s left %d events", after, n-events)
	}
	return err
}

// compare holds two snapshots against each other: they differ as expected, in all that is expected, and in nothing else.
func (s *stage) compare(what string, was, now snapshot, expected []expectation) {
	found := differences(was, now)
	met := make([]int, len(expected))
	unexpected := 0
	for _, d := range found {
		known := false
		for i, e := range expected {
			if regexp.MustCompile(e.pattern).MatchString(d) {
				met[i]++
				known = true
				break
			}
		}
		if !known {
			unexpected++
			s.fault("%s: %s", what, d)
		}
	}
	for i, e := range expected {
		if met[i] == 0 {
			s.fault("%s: nothing differs by %s any more; take it from expected.go and docs/from-unleash.md", what, e.pattern)
		}
		s.say("  %d × %s", met[i], e.documented)
	}
	s.say("%s: %d flags compared; %d differences are as expected, %d are not", what, len(was["flags"].(object)), len(found)-unexpected, unexpected)
}
