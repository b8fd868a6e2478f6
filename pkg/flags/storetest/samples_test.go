package storetest

import (
	"reflect"
	"testing"

	"guidon/pkg/flags"
)

// TestSamplesAreFull finds the field that somebody added to a type and not to its sample. Of a list or map, it is
// enough that one element has it.
func TestSamplesAreFull(t *testing.T) {
	for _, sample := range []any{
		FullFeature(), FullProject(), FullEnvironments(), FullToken(), FullUser(), FullRoles(), FullTagTypes(), FullStrategyTypes(),
		FullSignupToken(), FullTokenUse(), FullEvent(), FullContextFields(), FullSegment(), FullFeatureUse(),
	} {
		empty := map[string]bool{}
		inspect(reflect.ValueOf(sample), reflect.TypeOf(sample).String(), empty)
		for path, isEmpty := range empty {
			if isEmpty {
				t.Errorf("%s is empty in the sample", path)
			}
		}
	}
}

// inspect notes each field below v, and whether it is empty wherever it occurs.
func inspect(v reflect.Value, path string, empty map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			inspect(v.Elem(), path, empty)
		}
	case reflect.Slice:
		for i := range v.Len() {
			inspect(v.Index(i), path+"[]", empty)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			inspect(v.MapIndex(key), path+"[]", empty)
		}
	case reflect.Struct:
		if v.Type().PkgPath() == "time" {
			return
		}
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if name == "Version" || name == "UseCount" {
				continue // the store gives it, or whoever loads the segment with its count
			}
			if v.Type() == reflect.TypeFor[flags.StrategyType]() && name == "DisplayName" {
				continue // of built-in types alone, which are not stored
			}
			below := path + "." + name
			before, seen := empty[below]
			empty[below] = v.Field(i).IsZero() && (before || !seen)
			inspect(v.Field(i), below, empty)
		}
	}
}
