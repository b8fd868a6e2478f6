package dynamotest

import "os"

// Long tells whether to run the long forms of tests (`make trust`), with hundreds of histories, sequences or kills instead
// of the few of `make test`. No other code reads TRUST.
func Long() bool { return os.Getenv("TRUST") == "long" }

// Times is a number of repetitions: short in `make test`, long in `make trust`.
func Times(short, long int) int {
	if Long() {
		return long
	}
	return short
}
