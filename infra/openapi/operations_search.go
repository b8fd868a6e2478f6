package main

import (
	"github.com/getkin/kin-openapi/openapi3"
)

// What a search for flags takes.

var searchQueries = []string{
	"search.query", "search.project", "search.state", "search.type", "search.lifecycle", "search.tag", "search.segment", "search.status",
	"search.createdAt", "search.sortBy", "search.sortOrder", "search.favoritesFirst", "search.offset", "search.limit",
}

const (
	isForms       = " `IS:`, `IS_NOT:`, `IS_ANY_OF:` or `IS_NONE_OF:`, and at most 100 values between commas."
	includesForms = " `INCLUDE:`, `DO_NOT_INCLUDE:`, `INCLUDE_ALL_OF:`, `INCLUDE_ANY_OF:`, `EXCLUDE_IF_ANY_OF:` or `EXCLUDE_ALL:`, and at most 100 values between commas."
)

func pattern(p string) limit { return func(s *openapi3.Schema) { s.Pattern = p } }

var (
	isPattern       = pattern(`^(IS|IS_NOT|IS_ANY_OF|IS_NONE_OF):.*[^ ].*$`)
	includesPattern = pattern(`^(INCLUDE|DO_NOT_INCLUDE|INCLUDE_ALL_OF|INCLUDE_ANY_OF|EXCLUDE_IF_ANY_OF|EXCLUDE_ALL):.*[^ ].*$`)
)

var searchParameters = map[string]parameter{
	"search.query":          {"Leaves flags with this in their name or in a tag, in any case; of several between commas, one of them. At most 20.", "checkout", nil},
	"search.project":        {"By project id:" + isForms, "IS:default", isPattern},
	"search.state":          {"By state, `active` or `stale`:" + isForms, "IS:active", isPattern},
	"search.type":           {"By type:" + isForms + " `type[]=release`, as often as wanted, is the same as `IS_ANY_OF:`.", "IS:release", isPattern},
	"search.lifecycle":      {"By stage of the lifecycle:" + isForms, "IS:initial", isPattern},
	"search.tag":            {"By tag, as type:value:" + includesForms, "INCLUDE:simple:checkout", includesPattern},
	"search.segment":        {"By the name of a segment that strategies use:" + includesForms, "INCLUDE:beta-users", includesPattern},
	"search.status":         {"`environment:enabled` or `environment:disabled`; of several, at most 100, one of them. `status[]` is the same.", "production:enabled", pattern(`:(enabled|disabled)$`)},
	"search.createdAt":      {"`IS_BEFORE:` or `IS_ON_OR_AFTER:` and a date in UTC.", "IS_ON_OR_AFTER:2026-01-15", pattern(`^(IS_BEFORE|IS_ON_OR_AFTER):20[0-9]{2}-0[1-9]-(0[1-9]|1[0-9]|2[0-8])$`)},
	"search.sortBy":         {"`createdAt` (the default), `name`, `type`, `project`, `stale`, `lastSeenAt`, or `environment:` and its name. Anything else is the default.", "name", nil},
	"search.sortOrder":      {"`asc` (the default) or `desc`. Anything else is the default.", "asc", nil},
	"search.favoritesFirst": {"`true` puts the caller's favorites first.", "true", pattern(`^(true|false)$`)},
	"search.offset":         {"How many flags to leave out of the beginning. What is no whole number from 0 to 1073741824 is 0.", "50", nil},
	"search.limit":          {"At most this many flags, from 1 to 100. Anything else is the default, 50.", "50", nil},
}
