package migrate

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// concurrentReads is how many flags are read at the same time.
const concurrentReads = 8

// readBoth reads the flags of a project on both sides concurrently, and calls visit with each pair, one at a time and in
// no particular order. The pairs have the environments that both projects have. A flag is read from the target only if
// targetHas it. visit gets an *oddError for a flag that cannot be read.
func (m *migration) readBoth(ctx context.Context, what string, p, targetProject project, targetHas func(name string) bool, visit func(name string, source, target *feature, odd error)) error {
	shared := slices.DeleteFunc(slices.Clone(p.environments), func(e string) bool { return !slices.Contains(targetProject.environments, e) })
	source, target := reader{m.from, m.source.segmentNames()}, reader{m.to, m.target.segmentNames()}
	progress := m.print.bar(what, len(p.flags))
	defer progress.finish()

	var visits sync.Mutex
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(concurrentReads)
	for _, name := range p.flags {
		all.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			inSource, err := source.read(ctx, p.ID, name, shared)
			var inTarget *feature
			if err == nil && targetHas(name) {
				inTarget, err = target.read(ctx, p.ID, name, shared)
			}
			if _, odd := errors.AsType[*oddError](err); err != nil && !odd {
				return err
			}
			visits.Lock()
			defer visits.Unlock()
			visit(name, inSource.within(shared), inTarget.within(shared), err)
			progress.add(1)
			return nil
		})
	}
	return all.Wait()
}

// compare reads every flag again on both sides. It returns how many flags differ, plus what could not be copied.
func (m *migration) compare(ctx context.Context) (remaining int, err error) {
	if m.dryRun {
		return 0, nil
	}
	equal := 0
	for _, p := range m.source.projects {
		inTarget := m.target.project(p.ID)
		if inTarget == nil {
			remaining += len(p.flags)
			continue
		}
		all := func(string) bool { return true }
		err := m.readBoth(ctx, "comparing project "+p.ID, p, *inTarget, all, func(name string, source, target *feature, odd error) {
			found := differences(target, source)
			if odd != nil {
				found = []string{odd.Error()}
			}
			if len(found) == 0 {
				equal++
				return
			}
			remaining++
			if reason := m.refused[name]; reason != "" {
				found = append(found, "the target refused it: "+reason)
			}
			m.print.differences(name, found)
		})
		if err != nil {
			return 0, err
		}
	}
	_, archived := m.source.flagCount()
	m.print.summary(equal, remaining, archived, m.failed)
	return remaining + m.failed, nil
}

// differences lists the places where the target is not equal to the source.
func differences(target, source any) []string {
	var found []string
	differ("", reflect.ValueOf(source), reflect.ValueOf(target), &found)
	return found
}

// differ compares two values of one type, and adds each place below path where they differ.
func differ(path string, source, target reflect.Value, found *[]string) {
	note := func(source, target any) {
		*found = append(*found, fmt.Sprintf("%s is %v, and %v in the source", place(path), target, source))
	}
	switch source.Kind() {
	case reflect.Pointer:
		switch {
		case source.IsNil() && target.IsNil():
		case target.IsNil():
			*found = append(*found, place(path)+" is missing")
		case source.IsNil():
			*found = append(*found, place(path)+" is not in the source")
		default:
			differ(path, source.Elem(), target.Elem(), found)
		}
	case reflect.Struct:
		for i := range source.NumField() {
			if field := source.Type().Field(i); field.IsExported() {
				differ(path+"/"+field.Name, source.Field(i), target.Field(i), found)
			}
		}
	case reflect.Map:
		keys := map[string]bool{}
		for _, k := range append(source.MapKeys(), target.MapKeys()...) {
			keys[k.String()] = true
		}
		for _, k := range sortedKeys(keys) {
			key := reflect.ValueOf(k)
			a, b := source.MapIndex(key), target.MapIndex(key)
			switch {
			case !b.IsValid():
				*found = append(*found, path+"/"+k+" is missing")
			case !a.IsValid():
				*found = append(*found, path+"/"+k+" is not in the source")
			default:
				differ(path+"/"+k, a, b, found)
			}
		}
	case reflect.Slice:
		if source.Len() != target.Len() {
			note(fmt.Sprintf("%d: %v", source.Len(), shown(source)), fmt.Sprintf("a list of %d: %v", target.Len(), shown(target)))
			return
		}
		for i := range source.Len() {
			differ(fmt.Sprintf("%s/%d", path, i), source.Index(i), target.Index(i), found)
		}
	default:
		if !source.Equal(target) {
			note(shown(source), shown(target))
		}
	}
}

func place(path string) string {
	if path == "" {
		return "the flag"
	}
	return path
}

// shown is a value in at most 120 bytes of text.
func shown(v reflect.Value) string {
	const most = 120
	text := fmt.Sprintf("%+v", v.Interface())
	if v.Kind() == reflect.String {
		text = fmt.Sprintf("%q", v.String())
	}
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

func sortedKeys(set map[string]bool) []string {
	keys := make([]string, 0, len(set))
	for k := range set {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
