package evaluate

import "time"

// dateLayouts are the forms of ISO 8601 that the administration accepts. A date without a time zone is in UTC.
var dateLayouts = []string{
	time.RFC3339, "2006-01-02", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04",
}

// maxDate is longer than any date, with any sensible number of decimals.
const maxDate = 64

func parseDate(s string) (time.Time, bool) {
	if s == "" || len(s) > maxDate {
		return time.Time{}, false
	}
	for _, layout := range dateLayouts {
		if date, err := time.Parse(layout, s); err == nil {
			return date, true
		}
	}
	return time.Time{}, false
}
