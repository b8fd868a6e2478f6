package matrix

import (
	"embed"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

//go:embed yggdrasil.txt node.txt
var recorded embed.FS

// Results say for which values a flag is on: a text of 0 and 1 by the name of the flag.
type Results map[string]string

// Recorded returns the recorded results of an evaluator: yggdrasil or node. They are for exactly the flags and values of this package.
func Recorded(evaluator string) (Results, error) {
	text, err := recorded.ReadFile(evaluator + ".txt")
	if err != nil {
		return nil, err
	}
	values := len(Values())
	names, lines, _ := strings.Cut(string(text), "\n")
	results := Results{}
	for line := range strings.Lines(lines) {
		digits, flag, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if n, ok := new(big.Int).SetString(digits, 16); ok {
			results[flag] = fmt.Sprintf("%0*b", values, n)
		}
	}
	if names != header() || !results.complete(values) {
		return nil, errors.New(evaluator + ".txt is for other flags or values: UPDATE_MATRIX=1 make test-clients records the results")
	}
	return results, nil
}

// complete tells whether there is a result of each flag and value, and no other.
func (r Results) complete(values int) bool {
	flags := Flags()
	for _, f := range flags {
		if len(r[f.Name]) != values {
			return false
		}
	}
	return len(r) == len(flags)
}

// Text returns the results in the form that is recorded: the names of the values, and for each flag a hexadecimal number and its name.
func (r Results) Text() string {
	lines := header() + "\n"
	for _, f := range Flags() {
		n, _ := new(big.Int).SetString(r[f.Name], 2)
		lines += fmt.Sprintf("%x %s\n", n, f.Name)
	}
	return lines
}

func header() string {
	var names []string
	for _, v := range Values() {
		names = append(names, v.Name)
	}
	return fmt.Sprintf("%q", names)
}
