package main

import (
	"github.com/getkin/kin-openapi/openapi3"

	"guidon/pkg/flags"
)

// A parameter is one of a path or a query.
type parameter struct {
	doc     string
	example any
	limit   limit // nil for any text
}

func (p parameter) schema() *openapi3.Schema {
	s := openapi3.NewStringSchema()
	if _, isNumber := p.example.(int); isNumber {
		s = openapi3.NewInt64Schema().WithMin(1).WithMax(1<<31 - 1)
	}
	s.Example = p.example
	if p.limit != nil {
		p.limit(s)
	}
	return s
}

// parameters are those of paths. They mean the same in each.
var parameters = map[string]parameter{
	"projectId":       {"Id of the project.", flags.DefaultProject, aName},
	"featureName":     {"Name of the flag.", "new-checkout", aName},
	"environment":     {"Name of the environment, one of the project's.", "development", aName},
	"environmentName": {"Name of the environment.", "staging", aName},
	"strategyId":      {"Identifier of the strategy.", anUUID, notEmpty},
	"strategyType":    {"Name of the strategy type.", "byCountry", aName},
	"tagType":         {"Name of the tag type.", "simple", aTagType},
	"value":           {"Value of the tag, percent-encoded; a slash in it may stay as it is.", "checkout", aTag},
	"parent":          {"Name of the flag that it depends on.", "checkout", aName},
	"contextField":    {"Name of the context field.", "country", aName},
	"legalValue":      {"The value, percent-encoded; a slash in it may stay as it is.", "NO", both(notEmpty, longest(flags.MaxName))},
	"id":              {"Id of the segment.", 1, nil},
	"userId":          {"Id of the user or service account.", 2, nil},
	"roleId":          {"Id of the role.", 4, nil},
	"token":           {"The token's secret.", "default:development.0f1e2d3c", notEmpty},
	"tokenId":         {"Id of the token, among those of its user.", 1, nil},
	"name":            {"Name of the token.", "shop-development", notEmpty},
}

// queries are those of queries, all of which may be left out. What stands before a dot tells apart those of one name.
var queries = merge(eventQueries, searchParameters, map[string]parameter{
	"q":           {"The beginning of a name, user name or e-mail in any case, of at least two characters; fewer find nobody.", "ad", nil},
	"page.limit":  {"At most this many entries, from 1 to 10,000. With anything else, the whole list, or the first 10,000 tags.", "100", nil},
	"page.offset": {"How many entries to leave out of the beginning. What is no whole number from 0 to 1073741824 is 0.", "100", nil},
	"tag":         {"Leaves only flags with this tag: a type, a colon and a value. Given several times, one of the tags is enough. `tag[]` is the same.", "simple:checkout", aTagFilter},
	"namePrefix":  {"Leaves only flags whose name begins with this.", "checkout-", nil},
})

// pageQueries are those of lists that are read in pages.
var pageQueries = []string{"page.offset", "page.limit"}

// aTagFilter wants a type and a value.
func aTagFilter(s *openapi3.Schema) { s.Pattern = `^[^:]+:(.|\n|\r)+$` }
