package httpapi

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"guidon/pkg/apipath"
	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
)

// A Query is the parameters of the query of a request. Tests learn which an operation reads (see Config.QueryRead): all of them are in
// the API description.
type Query struct {
	values url.Values
	read   func(name string)
	fail   func(err error) // ends the request
}

// QueryOf returns the Query of parameters, for tests.
func QueryOf(values url.Values) Query { return Query{values, func(string) {}, func(error) {}} }

// query is the Query of a request. Administrators get an error for a malformed parameter, which net/url would drop: a list without a filter
// that was sent is a wrong answer. What browsers open, such as the end of a sign-in at a provider, is read as browsers write it.
func (s *service) query(r *http.Request, op *Operation) (Query, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil && op.Permission == "" {
		values, err = apipath.Parameters(r.URL.RawQuery), nil
	}
	if err != nil {
		return QueryOf(nil), malformed(r.URL.RawQuery)
	}
	q := QueryOf(values)
	q.fail = func(err error) { panic(aborted{err}) }
	if noted := s.config.QueryRead; noted != nil {
		q.read = func(name string) { noted(op.Route, name) }
	}
	return q, nil
}

// malformed is the error of a query that cannot be read. It names the first malformed parameter.
func malformed(query string) error {
	for pair := range strings.SplitSeq(query, "&") {
		if _, err := url.ParseQuery(pair); err != nil {
			name, _, _ := strings.Cut(pair, "=")
			return flags.Errorf(flags.Invalid, "the query's parameter %q is malformed: write %% as %%25 and ; as %%3B, and separate parameters with &", jsonbody.Shorten(name))
		}
	}
	return flags.Errorf(flags.Invalid, "the query has too many parameters")
}

// Get returns the first value of a parameter; "" if it is absent.
func (q Query) Get(name string) string {
	q.read(name)
	return q.values.Get(name)
}

// Has reports whether a parameter is present.
func (q Query) Has(name string) bool {
	q.read(name)
	return q.values.Has(name)
}

// Bool returns whether a parameter is true; false if it is absent. Invalid if it is neither true nor false.
func (q Query) Bool(name string) (bool, error) {
	text := q.Get(name)
	if q.Has(name) && text != "true" && text != "false" {
		return false, QueryFault(flags.Problems{{Path: name, Message: "must be true or false"}})
	}
	return text == "true", nil
}

// All returns all values of a parameter.
func (q Query) All(name string) []string {
	q.read(name)
	return q.values[name]
}

// MaxPage is the largest limit of a page.
const MaxPage = 10_000

// PageOf returns the page of a list that the query requests with limit and offset; without a limit, the rest of the list. With
// pages, a list that is too large for one response can still be read.
func PageOf[T any](query Query, list []T) []T {
	offset, limit := PageBounds(query)
	from := min(offset, len(list))
	return list[from:min(from+limit, len(list))]
}

// PageBounds reads offset and limit. Without a limit it is as large as an offset can be.
func PageBounds(query Query) (offset, limit int) {
	return WholeNumber(query, "offset", 0, 0, MaxOffset), WholeNumber(query, "limit", MaxOffset, 1, MaxPage)
}

// MaxOffset is the largest offset: it fits into an int on every platform.
const MaxOffset = 1 << 30

// WholeNumber reads a parameter that is a whole number from least to most. Any other number is the default, as in Unleash; a word is
// Invalid.
func WholeNumber(query Query, name string, standard, least, most int) int {
	text := query.Get(name)
	n, err := strconv.Atoi(text)
	_, isWord := strconv.ParseFloat(text, 64)
	if text != "" && (errors.Is(isWord, strconv.ErrSyntax) || strings.Trim(text, "0123456789+-.eE") != "") { // no hexadecimal number, no "inf"
		query.fail(flags.Errorf(flags.Invalid, "the query's %s must be a whole number, not %q", name, jsonbody.Shorten(text)))
	}
	if err != nil || n < least || n > most {
		return standard
	}
	return n
}

// QueryFault is the error of parameters of the query. It has no details, which are places in bodies.
func QueryFault(problems flags.Problems) error {
	if len(problems) == 0 {
		return nil
	}
	return flags.Errorf(flags.Invalid, "the query's %s %s", problems[0].Path, problems[0].Message)
}
