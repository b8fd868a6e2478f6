package httpapi

// For the tests of package httpapi_test, which may import packages that import this one.
var (
	Describe       = describe
	MaxPatchCopies = maxPatchCopies
)
