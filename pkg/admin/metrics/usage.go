package metrics

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
	"guidon/pkg/usage"
)

// The hours that usage is read for: without the parameter hoursBack, the longest time that is shown by the hour, and the
// longest time at all, which is shown by the day. Unleash 5.12.8 ends at MaxHourly.
const (
	defaultHours = 24
	maxHourly    = 48
	maxHours     = 90 * 24
)

// maxZeroRows is how many rows a response may have with rows for hours without usage. A longer one has only the others.
const maxZeroRows = 20_000

// inUsage is the place of an operation on the usage of a flag. A flag that does not exist has no usage, as in Unleash.
type inUsage struct {
	httpapi.InService
	FeatureName string `path:"featureName"`
}

// Parse checks the name of the flag.
func (at *inUsage) Parse(httpapi.Request) error {
	if flags.CheckName(at.FeatureName) != "" {
		return flags.Errorf(flags.NotFound, "there is no flag %q", jsonbody.Shorten(at.FeatureName))
	}
	return nil
}

// inUsageRows is the place of an operation on the usage of a flag in the last hours.
type inUsageRows struct {
	inUsage
	Hours int
}

// Parse reads the flag and the hours.
func (at *inUsageRows) Parse(r httpapi.Request) error {
	at.Hours = httpapi.WholeNumber(r.Query(), "hoursBack", defaultHours, 1, maxHours)
	return at.inUsage.Parse(r)
}

// A usageSummary is how often a flag was evaluated in the current hour.
type usageSummary struct {
	Version      int                `json:"version"`
	Maturity     string             `json:"maturity"`
	FeatureName  string             `json:"featureName"`
	LastHour     []environmentUsage `json:"lastHourUsage"`
	Applications []string           `json:"seenApplications"`
}

type environmentUsage struct {
	Environment string     `json:"environment"`
	Timestamp   shape.Time `json:"timestamp"`
	Yes         int64      `json:"yes"`
	No          int64      `json:"no"`
}

// A usageList is how often applications evaluated a flag, by the hour or by the day.
type usageList struct {
	Version  int        `json:"version"`
	Maturity string     `json:"maturity"`
	Data     []usageRow `json:"data"`
}

// A usageRow is how often an application evaluated a flag in an hour or a day.
type usageRow struct {
	FeatureName string           `json:"featureName"`
	AppName     string           `json:"appName"`
	Environment string           `json:"environment"`
	Timestamp   shape.Time       `json:"timestamp"`
	Yes         int64            `json:"yes"`
	No          int64            `json:"no"`
	Variants    map[string]int64 `json:"variants,omitzero"` // absent if it reported nothing in this time
}

// stable is what Unleash calls the maturity of these responses.
const stable = "stable"

// readUsage sums the current hour by environment, and names the applications of the last 24 hours.
func readUsage(tx *httpapi.Tx, at inUsage) (usageSummary, error) {
	hour := tx.Now.UTC().Truncate(time.Hour)
	sums := tx.Usage(at.FeatureName, usage.Hour, hour.Add(-(defaultHours-1)*time.Hour))
	environments := tx.Environments()
	now, seen := map[string]environmentUsage{}, map[string]bool{}
	for _, sum := range sums {
		for _, c := range sum.Counts {
			if environments.Find(c.Environment) == nil {
				continue // it was deleted
			}
			seen[c.Application] = true
			if sum.Start.Equal(hour) {
				u := now[c.Environment]
				now[c.Environment] = environmentUsage{c.Environment, shape.Time(hour), u.Yes + c.Yes, u.No + c.No}
			}
		}
	}
	summary := usageSummary{
		Version: 1, Maturity: stable, FeatureName: at.FeatureName, LastHour: []environmentUsage{},
		Applications: append([]string{}, slices.Sorted(maps.Keys(seen))...),
	}
	for _, environment := range slices.Sorted(maps.Keys(now)) {
		summary.LastHour = append(summary.LastHour, now[environment])
	}
	return summary, nil
}

// readUsageRows lists usage by hour, environment and application. Every application that was seen in the time has a row for
// each hour and environment, as in Unleash, so that clients can draw lines.
func readUsageRows(tx *httpapi.Tx, at inUsageRows) (usageList, error) {
	unit, length, n := usage.Hour, time.Hour, at.Hours
	if at.Hours > maxHourly {
		unit, length, n = usage.Day, 24*time.Hour, (at.Hours+23)/24
	}
	last := tx.Now.UTC().Truncate(length)
	from := last.Add(-time.Duration(n-1) * length)
	rows := map[rowKey]usageRow{}
	registry, environments, applications := tx.Environments(), map[string]bool{}, map[string]bool{}
	for _, sum := range tx.Usage(at.FeatureName, unit, from) {
		for _, c := range sum.Counts {
			if registry.Find(c.Environment) == nil {
				continue
			}
			environments[c.Environment], applications[c.Application] = true, true
			row := usageRow{at.FeatureName, c.Application, c.Environment, shape.Time(sum.Start), c.Yes, c.No, c.Variants}
			if row.Variants == nil {
				row.Variants = map[string]int64{}
			}
			rows[rowKey{sum.Start.UnixMilli(), c.Environment, c.Application}] = row
		}
	}
	if n*len(environments)*len(applications) <= maxZeroRows {
		for i := range n {
			start := from.Add(time.Duration(i) * length)
			for environment := range environments {
				for application := range applications {
					key := rowKey{start.UnixMilli(), environment, application}
					if _, reported := rows[key]; !reported {
						rows[key] = usageRow{FeatureName: at.FeatureName, AppName: application, Environment: environment, Timestamp: shape.Time(start)}
					}
				}
			}
		}
	}
	list := usageList{Version: 1, Maturity: stable, Data: []usageRow{}}
	for _, key := range slices.SortedFunc(maps.Keys(rows), compareRows) {
		list.Data = append(list.Data, rows[key])
	}
	return list, nil
}

// A rowKey identifies a row. Rows are sorted by its fields, in this order.
type rowKey struct {
	start                    int64
	environment, application string
}

func compareRows(a, b rowKey) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.environment, b.environment), cmp.Compare(a.application, b.application))
}
