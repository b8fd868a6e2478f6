package apitest

import (
	"reflect"
	"strings"
	"testing"

	"guidon/pkg/httpapi"
)

// SameTwice fails a test if the function of an operation does something else when it runs a second time in the same round, or if it
// changes what applications see without changing what change requests guard.
func SameTwice(t *testing.T) func(route string, first, second httpapi.Result) {
	return func(route string, first, second httpapi.Result) {
		first.Err, _, _ = strings.Cut(first.Err, "\ngoroutine ") // the stack of a panic has addresses, which differ
		second.Err, _, _ = strings.Cut(second.Err, "\ngoroutine ")
		if !reflect.DeepEqual(first, second) {
			t.Errorf("%s did something else when it ran again:\n%+v\n%+v", route, first, second)
		}
		for _, w := range first.Writes {
			if unguarded(w) {
				t.Errorf("%s changes what applications see, but nothing that change requests guard, from\n%+v to\n%+v", route, w.Before, w.After)
			}
		}
	}
}
