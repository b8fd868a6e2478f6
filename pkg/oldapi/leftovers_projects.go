package oldapi

// This file has helpers of operations that have moved, for those that have not.

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// orNull is a text, or null for none.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// count is the number of elements that match.
func count[A any](list []A, matches func(A) bool) int {
	n := 0
	for _, a := range list {
		if matches(a) {
			n++
		}
	}
	return n
}
