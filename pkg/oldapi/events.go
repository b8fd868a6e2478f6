package oldapi

import "guidon/pkg/flags"

// queryFault is the first problem of a query, for the search, until it moves.
func queryFault(problems flags.Problems) error {
	if len(problems) == 0 {
		return nil
	}
	return flags.Errorf(flags.Invalid, "the query's %s %s", problems[0].Path, problems[0].Message)
}
