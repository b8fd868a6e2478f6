package dynamotest

import "os"

// Long tells whether the long forms of tests are to run (`make trust`): hundreds of histories, sequences or kills, where
// `make test` has a handful. This is the only place that reads TRUST.
func Long() bool { return os.Getenv("TRUST") == "long" }

// Times is how often a test does what it does: short in `make test`, long in `make trust`.
func Times(short, long int) int {
	if Long() {
		return long
	}
	return short
}
