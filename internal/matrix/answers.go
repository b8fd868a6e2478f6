package matrix

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed answers.txt
var recorded string

// Answers say for which values a flag is on, by the name of the flag.
type Answers map[string][]Answer

// An Answer is what two evaluators say about a flag and a value.
type Answer struct{ Yggdrasil, Node bool }

// The letters of the file: both are off or on, or only one of them is on.
var letters = map[Answer]byte{{}: '-', {Yggdrasil: true, Node: true}: '+', {Yggdrasil: true}: 'Y', {Node: true}: 'N'}

// Recorded returns the recorded answers of Yggdrasil and Node.js. They are for exactly the flags and values of this package.
func Recorded() (Answers, error) {
	flags, values := Flags(), Values()
	lines := strings.Split(strings.TrimSuffix(recorded, "\n"), "\n")
	if len(lines) != len(flags)+1 || lines[0] != header(values) {
		return nil, errOutdated
	}
	answers := Answers{}
	for i, f := range flags {
		runs, name, _ := strings.Cut(lines[i+1], " ")
		if answers[f.Name] = parseRuns(runs); name != f.Name || len(answers[name]) != len(values) {
			return nil, errOutdated
		}
	}
	return answers, nil
}

// parseRuns reads the answers of a line: letters, each with the number of times that it is repeated.
func parseRuns(text string) (list []Answer) {
	for _, run := range runPattern.FindAllStringSubmatch(text, -1) {
		times, err := strconv.Atoi(cmp.Or(run[2], "1"))
		if err != nil {
			return nil
		}
		for answer, letter := range letters {
			if string(letter) == run[1] {
				list = append(list, slices.Repeat([]Answer{answer}, times)...)
			}
		}
	}
	return list
}

var runPattern = regexp.MustCompile(`([-+YN])(\d*)`)

var errOutdated = errors.New("answers.txt is for other flags or values: UPDATE_MATRIX=1 make test-clients records the answers")

// Text returns answers in the form that is recorded.
func (a Answers) Text() string {
	var b strings.Builder
	b.WriteString(header(Values()) + "\n")
	for _, f := range Flags() {
		list := a[f.Name]
		for len(list) > 0 {
			times := slices.IndexFunc(list, func(other Answer) bool { return other != list[0] })
			if times < 0 {
				times = len(list)
			}
			b.WriteByte(letters[list[0]])
			if times > 1 {
				b.WriteString(strconv.Itoa(times))
			}
			list = list[times:]
		}
		b.WriteString(" " + f.Name + "\n")
	}
	return b.String()
}

// header has the names of the values.
func header(values []Value) string {
	var names []string
	for _, v := range values {
		names = append(names, v.Name)
	}
	return fmt.Sprintf("%q", names)
}
