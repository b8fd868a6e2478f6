package bill

import (
	"fmt"
	"math"
)

// Operations is the table of the units of operations.
func (m Measured) Operations() string {
	t := newTable("operation", "read units", "write units", "US dollars a million")
	for _, o := range []struct {
		name  string
		units Units
	}{
		{"read a flag", m.Read},
		{"list a project of 200 flags", m.List200},
		{"list a project of 1,000 flags", m.List1000},
		{"create a flag", m.Create},
		{"add a strategy with a constraint", m.Strategy},
		{"switch a flag on or off", m.Change},
		{"change a description", m.Describe},
		{"poll, 200", m.Poll},
		{"poll, 304", m.PollUnchanged},
		{"evaluation", m.Evaluation},
		{"report of usage, 50 flags", m.Report},
		{"report of usage, 500 flags", m.LargeReport},
		{"run of the snapshot function, nothing to do", m.Snapshot},
		{"run of the aggregation, no reports (mean of ten)", m.Aggregate},
		{"run of the delivery, no webhooks", m.Deliver},
	} {
		t.row(o.name, number(o.units.Read), number(o.units.Write), cents(o.units.dollars()*1e6))
	}
	return t.String()
}

// Administration is the table of what administration by developers costs in a month.
func (m Measured) Administration() string {
	t := newTable("", "idle", "1", "50", "500 developers")
	use := make([]float64, len(sizes))
	metrics := make([]float64, len(sizes))
	add := func(name string, cost func(i int, developers, requests float64) float64) {
		cells := []string{name}
		for i, s := range sizes {
			c := cost(i, s.developers, s.developers*requestsAMonth)
			use[i] += c
			cells = append(cells, cents(c))
		}
		t.row(cells...)
	}
	total := func(name string, of func(i int) float64) {
		cells := []string{name}
		for i := range sizes {
			cells = append(cells, cents(of(i)))
		}
		t.row(cells...)
	}
	requests := []string{"requests"}
	for _, s := range sizes {
		requests = append(requests, count(s.developers*requestsAMonth))
	}
	t.row(requests...)
	add("HTTP API", func(_ int, _, n float64) float64 { return n * priceHTTP })
	add("Lambda", func(_ int, _, n float64) float64 { return n * lambda(adminSeconds, functionGB) })
	developer := m.Read.Times(readsAMonth).Plus(m.List200.Times(listsAMonth)).Plus(m.Change.Times(changesAMonth))
	add("DynamoDB requests", func(_ int, d, _ float64) float64 { return developer.Times(d).dollars() })
	add("DynamoDB storage and point-in-time recovery", func(_ int, d, _ float64) float64 { return (storedMB + d*storedMBEach) / 1000 * priceStorage })
	add("logs", func(_ int, _, n float64) float64 { return n * logs(logKB) })
	add("X-Ray, if every request is traced (`Tracing=Active`)", func(_ int, _, n float64) float64 { return n * priceTrace })
	traces := func(i int) float64 { return sizes[i].developers * requestsAMonth * priceTrace }
	add("metrics of requests (`Metrics=emf`)", func(i int, _, _ float64) float64 {
		metrics[i] = sizes[i].combinations * sizes[i].hours / hoursAMonth * priceMetric
		return metrics[i]
	})
	add("the snapshot function, every five minutes", func(int, float64, float64) float64 { return m.snapshot() })
	add("the aggregation of usage, every minute", func(int, float64, float64) float64 { return m.aggregation() })
	add("the delivery of events to webhooks, every minute", func(int, float64, float64) float64 { return m.delivery() })
	bold := func(i int) float64 { return rounded(use[i]) }
	total("**what use costs**", bold)
	total("two secrets", func(int) float64 { return secrets * priceSecret })
	total("dashboard", func(int) float64 { return priceBoard })
	total("alarms", func(int) float64 { return alarmMetrics * priceAlarm })
	fixed := secrets*priceSecret + priceBoard + alarmMetrics*priceAlarm
	total("**in all**", func(i int) float64 { return bold(i) + fixed })
	total("the same with `Alarms=off`, `Metrics=none`", func(i int) float64 { return bold(i) + fixed - alarmMetrics*priceAlarm - metrics[i] })
	total("the same, and `Tracing=PassThrough`", func(i int) float64 {
		return bold(i) + fixed - alarmMetrics*priceAlarm - metrics[i] - traces(i) - snapshotRuns*priceTrace
	})
	return t.String()
}

// requestsAMonth is what a developer sends.
const requestsAMonth = readsAMonth + listsAMonth + changesAMonth

// snapshot is what the snapshot function costs in a month in which it writes a snapshot once a day.
func (m Measured) snapshot() float64 {
	run := m.Snapshot.dollars() + lambda(snapshotSeconds, functionGB) + priceTrace
	return snapshotRuns*run + snapshotDays*snapshotUnits*priceWrite
}

func (m Measured) aggregation() float64 {
	return minutesAMonth * (m.Aggregate.dollars() + lambda(aggregateSeconds, functionGB) + logs(aggregateLogKB))
}

func (m Measured) delivery() float64 {
	return minutesAMonth * (m.Deliver.dollars() + lambda(deliverSeconds, deliverGB) + logs(deliverLogKB))
}

func rounded(dollars float64) float64 { return math.Round((dollars+tiny)*100) / 100 }

// Assumptions is the text below the table.
func (m Measured) Assumptions() string {
	return fmt.Sprintf(`**Assumptions**: a developer, with their scripts, reads a flag %s times a month, lists a project of 200 flags %d times, and switches a
flag %d times. A request takes %g ms of a %g MB function, starts of new processes included, and %g KB of log. %d MB are stored, and
%d MB more a developer. Each combination of an operation and a status is a custom metric, billed for the hours in which it is sent:
%s.

`, count(readsAMonth), listsAMonth, changesAMonth, adminSeconds*1000, functionGB*1024, logKB, storedMB, storedMBEach, combinations()) +
		fmt.Sprintf(`**The snapshot function** runs %s times a month, %g ms of a %g MB function. If nothing changes, a run takes %s read units. %s is for its
traces, and %s for a snapshot of 1,000 flags each day.

`, count(snapshotRuns), snapshotSeconds*1000, functionGB*1024, number(m.Snapshot.Read), cents(snapshotRuns*priceTrace), cents(snapshotDays*snapshotUnits*priceWrite)) +
		fmt.Sprintf(`**The aggregation of usage** runs %s times a month, %g ms of a %g MB function. Without reports, a run takes %s read units, and every ten
minutes it also writes: %s for DynamoDB, %s for Lambda and %s for logs. It is not traced.

`, count(minutesAMonth), aggregateSeconds*1000, functionGB*1024, number(m.Aggregate.Read), cents(minutesAMonth*m.Aggregate.dollars()),
			cents(minutesAMonth*lambda(aggregateSeconds, functionGB)), cents(minutesAMonth*logs(aggregateLogKB))) +
		fmt.Sprintf(`**The delivery of events** runs %s times a month, %g ms of a %g MB function. Without webhooks, a run takes %s read unit.
`, count(minutesAMonth), deliverSeconds*1000, deliverGB*1024, number(m.Deliver.Read))
}

func combinations() string {
	text := ""
	for i, s := range sizes[1:] {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%g in %g hours", s.combinations, s.hours)
	}
	return text + fmt.Sprintf(" of the month's %d", hoursAMonth)
}

// Prices lists the prices.
func Prices() string {
	return fmt.Sprintf(`**Prices**: HTTP API %s a million; Lambda %s a million and %.10f a GB-second (arm64); DynamoDB on demand %.3f a million write and
%.3f a million read units, %s a GB stored, with point-in-time recovery; Secrets Manager %s a secret; CloudWatch %s a GB of logs that are
kept for a month, %s a metric in an alarm, %s a custom metric, %s a dashboard; X-Ray %s a million traces; data sent to the internet %s a GB, by
CloudFront %g.
`, cents(priceHTTP*1e6), cents(priceInvoke*1e6), priceGBSecond, priceWrite*1e6, priceRead*1e6, cents(priceStorage), cents(priceSecret),
		cents(priceLogs), cents(priceAlarm), cents(priceMetric), cents(priceBoard), cents(priceTrace*1e6), cents(priceOut), priceCDNOut)
}
