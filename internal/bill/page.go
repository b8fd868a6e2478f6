package bill

import (
	"fmt"
	"strconv"
	"strings"
)

// The computed parts of the pages are between these comments.
const (
	partBegin = "<!-- computed: %s -->\n"
	partEnd   = "<!-- end -->\n"
)

// Replace replaces a computed part of a page.
func Replace(page, name, part string) (string, error) {
	begin := fmt.Sprintf(partBegin, name)
	before, rest, found := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, partEnd)
	if !found || !ended {
		return "", fmt.Errorf("the page has no %q with %q after it", strings.TrimSpace(begin), strings.TrimSpace(partEnd))
	}
	return before + begin + part + partEnd + after, nil
}

// A table is a table of a page.
type table struct{ strings.Builder }

func newTable(columns ...string) *table {
	t := &table{}
	t.row(columns...)
	t.WriteString(strings.Repeat("|---", len(columns)) + "|\n")
	return t
}

func (t *table) row(cells ...string) { t.WriteString("| " + strings.Join(cells, " | ") + " |\n") }

// tiny makes halves round up, on each processor.
const tiny = 1e-7

// cents formats dollars.
func cents(dollars float64) string { return fmt.Sprintf("%.2f", dollars+tiny) }

// number formats a number with at most one digit after the point.
func number(n float64) string {
	return strconv.FormatFloat(float64(int(n*10+0.5+tiny))/10, 'f', -1, 64)
}

// count formats a whole number with commas.
func count(n float64) string {
	digits := strconv.FormatFloat(n+tiny, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
