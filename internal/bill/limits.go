package bill

import (
	"fmt"
	"math"
)

// Partitions is the table of the keys whose partition has the data of many requests, as far as it follows from their units.
func (m Measured) Partitions() string {
	reads := func(units float64) string { return count(math.Floor(partitionReads / units)) }
	writes := func(units float64) string { return count(math.Floor(partitionWrites / units)) }
	t := newTable("Key", "Units of a request", "Maximum, requests a second")
	t.row("`REGISTRY#environments`", number(m.Environments)+" read while it is below 4 KB (some 15 environments)", reads(m.Environments)+" with nearly every flag, in the whole service; half of that below 8 KB")
	t.row("`TOKEN#<hash>`", number(m.Token)+" read", fmt.Sprintf("%s for each token, which is %s SDKs at %d s: give each application and script its own", reads(m.Token), count(math.Floor(partitionReads/m.Token)*sdkInterval), sdkInterval))
	t.row("`FEED`", number(m.Feed)+" read", reads(m.Feed)+" polls and evaluations, in the whole service")
	t.row("`PROJECT#<uid>`, lists", number(m.List)+" read for 1,000 flags", reads(m.List)+" lists for each project")
	t.row("`PROJECT#<uid>`, new flags", number(m.Guarded)+" written", writes(m.Guarded)+" new flags for each project")
	t.row("index `log`, key `LOG`", number(m.SmallEvent)+" written for an added strategy, "+number(m.Event)+" for a switch, 6 at worst", fmt.Sprintf("%s, %s and %s changes, in the whole service", writes(m.SmallEvent), writes(m.Event), writes(6)))
	t.row("index `project`, a project", "the same", "the same for each project")
	return t.String()
}

// Lists says how many flags fit in a list that is not compressed.
func (m Measured) Lists() string {
	flags := math.Floor(maxResponse/m.ListBytes/100) * 100
	return fmt.Sprintf(`A list of flags that is not compressed has some %s bytes for a flag with two environments, one strategy and a description of 57 characters, so about
%s such flags fit in the 6 MB of a response.
`, count(math.Round(m.ListBytes/10)*10), count(flags))
}
