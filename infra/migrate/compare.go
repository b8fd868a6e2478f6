package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// atOnce is how many flags are read at the same time.
const atOnce = 8

// both reads flags of a project on both sides, several at a time, and hands each pair to compare, which is called for one
// at a time, in no order. What is compared are the environments that both projects have. A flag that the target is known
// not to have is not asked for there.
func (m *move) both(ctx context.Context, what string, p, there project, has func(name string) bool, compare func(name string, source, target *feature)) error {
	shared := slices.DeleteFunc(slices.Clone(p.environments), func(e string) bool { return !slices.Contains(there.environments, e) })
	source, target := reader{m.from, m.source.segmentNames()}, reader{m.to, m.target.segmentNames()}
	progress := m.tell.bar(what, len(p.flags))
	defer progress.finish()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	names := make(chan string)
	var (
		readers sync.WaitGroup
		one     sync.Mutex
	)
	for range atOnce {
		readers.Go(func() {
			for name := range names {
				here, err := source.read(ctx, p.ID, name, shared)
				var over *feature
				if err == nil && has(name) {
					over, err = target.read(ctx, p.ID, name, shared)
				}
				if err != nil {
					cancel(err)
					continue
				}
				one.Lock()
				compare(name, here.within(shared), over.within(shared))
				progress.add(1)
				one.Unlock()
			}
		})
	}
	for _, name := range p.flags {
		if ctx.Err() != nil {
			break
		}
		names <- name
	}
	close(names)
	readers.Wait()
	return context.Cause(ctx)
}

// compare reads every flag again, on both sides, and tells how many are not the same.
func (m *move) compare(ctx context.Context) (remaining int, err error) {
	if m.dryRun {
		return 0, nil
	}
	equal := 0
	for _, p := range m.source.projects {
		there := m.target.project(p.ID)
		if there == nil {
			remaining += len(p.flags)
			continue
		}
		all := func(string) bool { return true }
		err := m.both(ctx, "comparing project "+p.ID, p, *there, all, func(name string, source, target *feature) {
			found := differences(target, source)
			if len(found) == 0 {
				equal++
				return
			}
			remaining++
			if reason := m.refused[name]; reason != "" {
				found = append(found, "the target did not take it: "+reason)
			}
			m.tell.differs(name, found)
		})
		if err != nil {
			return 0, err
		}
	}
	_, archived := m.source.flagCount()
	m.tell.end(equal, remaining, archived, m.failed)
	return remaining + m.failed, nil
}

// differences says in which places the target is not what the source is; none when they are the same.
func differences(target, source any) []string {
	var found []string
	differ("", reflect.ValueOf(source), reflect.ValueOf(target), &found)
	return found
}

// differ compares two values of one type, and notes each place below path where they differ, once.
func differ(path string, source, target reflect.Value, found *[]string) {
	note := func(source, target any) {
		*found = append(*found, fmt.Sprintf("%s is %v, and %v in the source", pathOr(path), target, source))
	}
	switch source.Kind() {
	case reflect.Pointer:
		switch {
		case source.IsNil() && target.IsNil():
		case target.IsNil():
			*found = append(*found, pathOr(path)+" is not there")
		case source.IsNil():
			*found = append(*found, pathOr(path)+" is not in the source")
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
				*found = append(*found, path+"/"+k+" is not there")
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

func pathOr(path string) string {
	if path == "" {
		return "it"
	}
	return path
}

// shown is a value as a line shows it, not too long.
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
