package bill

import "fmt"

// Usage is the table of what reports of usage cost in a month, for instances that each report 50 flags once a minute.
func (m Measured) Usage() string {
	instances := []float64{10, 100, 1000}
	t := newTable("", "10", "100", "1,000 instances")
	all := make([]float64, len(instances))
	add := func(name string, cost func(n, reports float64) float64) {
		cells := []string{name}
		for i, n := range instances {
			c := cost(n, n*minutesAMonth)
			all[i] += c
			cells = append(cells, cents(c))
		}
		t.row(cells...)
	}
	add("HTTP API", func(_, reports float64) float64 { return reports * priceHTTP })
	add("Lambda, for reports", func(_, reports float64) float64 { return reports * lambda(unchangedSeconds, functionGB) })
	add("DynamoDB, for reports", func(_, reports float64) float64 { return reports * m.Report.dollars() })
	add("logs and traces", func(_, reports float64) float64 { return reports * (logs(logKB) + tracedShare*priceTrace) })
	add("DynamoDB, for the aggregation", func(n, _ float64) float64 {
		return minutesAMonth*m.Added(n).dollars() + hoursAMonth*m.FirstOfHour.dollars()
	})
	add("Lambda, for the aggregation", func(n, _ float64) float64 {
		return minutesAMonth * lambda(addSeconds+n*addSecondsEach, functionGB)
	})
	add("storage", func(_, reports float64) float64 {
		return reports / minutesAMonth * postMinutes * postKB / 1e6 * priceStorage
	})
	cells := []string{"**in all**"}
	for _, c := range all {
		cells = append(cells, "**"+cents(c)+"**")
	}
	t.row(cells...)
	flag := m.Added10.Plus(m.Aggregate.Times(-1)).Times(1.0 / reportedFlags)
	return t.String() + fmt.Sprintf(`
A report is %s read and %s write units. A run of the aggregation with the reports of 10 instances is %s read and %s write units, with those of
100 instances %s and %s; the first run of an hour writes %s more, as it stores when flags were last seen. Its function takes %g ms, and %g ms more for
each instance. A report is kept for two days and has %g KB.

**A flag that is used all the time** costs %s a month: each minute, its sums of the hour and of the day are read and written, %s read and %s
write units, however many instances report. A flag that is used in one minute of an hour costs a sixtieth of that.
`, number(m.Report.Read), number(m.Report.Write), number(m.Added10.Read), number(m.Added10.Write), number(m.Added100.Read), number(m.Added100.Write),
		number(m.FirstOfHour.Write), addSeconds*1000, addSecondsEach*1000, postKB,
		cents(minutesAMonth*flag.dollars()), number(flag.Read), number(flag.Write))
}

// Added is a run of the aggregation with the reports of some instances.
func (m Measured) Added(instances float64) Units {
	each := m.Added100.Plus(m.Added10.Times(-1)).Times(1.0 / 90)
	return m.Added10.Plus(each.Times(instances - 10))
}
