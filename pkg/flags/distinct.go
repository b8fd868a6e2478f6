package flags

// Distinct returns the list without duplicates, in its order. It is not nil.
func Distinct[T comparable](list []T) []T {
	seen, out := make(map[T]bool, len(list)), make([]T, 0, len(list))
	for _, one := range list {
		if !seen[one] {
			seen[one], out = true, append(out, one)
		}
	}
	return out
}

// SetOf returns the elements of a list as a set.
func SetOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, s := range list {
		set[s] = true
	}
	return set
}
