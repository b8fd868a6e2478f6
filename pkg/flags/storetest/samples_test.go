package storetest

import (
	"reflect"
	"testing"

	"guidon/pkg/flags"
)

// TestSamplesAreFull checks that each field of the domain types is set in its sample. For lists and maps, one
// element with the field is enough.
func TestSamplesAreFull(t *testing.T) {
	for _, sample := range []any{
		FullFeature(), FullProject(), FullEnvironments(), FullToken(), FullUser(), FullRoles(), FullTagTypes(), FullStrategyTypes(),
		FullSignupToken(), FullTokenUse(), FullEvent(), FullContextFields(), FullSegment(), FullFeatureUse(), FullAddons(),
		FullApplication(), FullInstances(), FullTokenApplications(), FullSessions(), FullSignInLink(), FullIdentityLink(), FullPost(), FullSum(),
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

// inspect records for each field below v whether it is empty in all places.
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
				continue // set by the store, or when a segment is loaded with its use count
			}
			if v.Type() == reflect.TypeFor[flags.StrategyType]() && name == "DisplayName" {
				continue // only of built-in types, which are not stored
			}
			below := path + "." + name
			before, seen := empty[below]
			empty[below] = v.Field(i).IsZero() && (before || !seen)
			inspect(v.Field(i), below, empty)
		}
	}
}
