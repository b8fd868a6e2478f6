package bill

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"guidon/pkg/admin"
)

// Tables are the tables, and figures, that each page has.
func (m Measured) tables(s stack) map[string][]string {
	return map[string][]string{
		"README.md":                    {m.sdks(), m.edgeFrom()},
		"docs/comparison.md":           {m.beside()},
		"docs/edge.md":                 {m.intervals()},
		"docs/how-to/sdks.md":          {m.saving()},
		"docs/operations/addresses.md": {m.addresses(), m.rule(), m.leaked(s)},
		"docs/operations/cost.md":      {m.operations(), m.administration(), reading(), m.open(), m.applications(), m.usage(), m.publishing(), "answers costs " + cents(fronted(unchangedKB)*1e6) + " a million", m.ceiling(s), m.pulses(s), m.edge()},
		"docs/operations/limits.md": {
			m.partitions(), "some " + count(math.Round(m.ListBytes/10)*10) + " bytes for a flag",
			"about " + count(math.Floor(maxResponse/m.ListBytes/100)*100) + " such flags",
		},
	}
}

// operations counts the operations of the administration.
func operations() (n int) {
	for _, group := range admin.Groups() {
		n += len(group.Operations)
	}
	return n
}

// table renders columns of cells below a header.
func table(header string, names []string, columns ...[]string) string {
	text := header + "\n" + strings.Repeat("|---", len(columns)+1) + "|\n"
	for i, name := range names {
		text += "| " + name
		for _, column := range columns {
			text += " | " + column[i]
		}
		text += " |\n"
	}
	return text
}

func (m Measured) operations() string {
	text := table("| operation | read units | write units | US dollars a million |", nil, nil, nil, nil)
	for _, o := range []struct {
		name  string
		units Units
	}{
		{"read a flag", m.Read}, {"list a project of 200 flags", m.List200}, {"list a project of 1,000 flags", m.List1000},
		{"create a flag", m.Create}, {"add a strategy with a constraint", m.Strategy}, {"switch a flag on or off", m.Change},
		{"change a description", m.Describe}, {"poll, 200", m.Poll}, {"poll, 304", m.PollUnchanged}, {"evaluation", m.Evaluation},
		{"report of usage, 50 flags", m.Report}, {"report of usage, 500 flags", m.LargeReport},
		{"run of the snapshot function, nothing to do", m.Snapshot}, {"the same, with states to publish", m.Publish},
		{"run of the aggregation, no reports (mean of ten)", m.Aggregate},
		{"run of the delivery, no webhooks", m.Deliver}, {"look for scheduled change requests, none are due", m.Due},
		{fmt.Sprintf("the same, with %d safeguards to look at", watched), m.Watch},
		{"start the next milestone of a release plan", m.Step}, {"the same, with a named signal", m.StepSignal}, {"the same, with an alarm", m.StepAlarm},
		{"signal with a wrong secret", m.SignalRefused}, {"signal that no plan names", m.Signal}, {"signal that switches a flag off", m.SignalActs},
	} {
		text += fmt.Sprintf("| %s | %s | %s | %s |\n", o.name, number(o.units.Read), number(o.units.Write), cents(o.units.dollars()*1e6))
	}
	return text
}

// reading says what it costs to read alarms in each minute.
func reading() string {
	return fmt.Sprintf("at most %s a month for each hundred alarms", cents(minutesAMonth*priceAlarms))
}

// administration is what administration by developers costs in a month.
func (m Measured) administration() string {
	names := []string{
		"requests", "HTTP API", "Lambda", "DynamoDB requests", "DynamoDB storage and point-in-time recovery", "logs",
		"X-Ray, if every request is traced (`Tracing=Active`)", "metrics of requests (`Metrics=emf`)", "the snapshot function, every five minutes",
		"the aggregation of usage, every minute", "the delivery of events to webhooks, every minute", "scheduled change requests, every minute", "**what use costs**",
		"two secrets", "alarms", "**in all**", "the same with `Alarms=off`, `Metrics=none`", "the same, and `Tracing=PassThrough`",
	}
	developer := m.Read.Times(readsAMonth).Plus(m.List200.Times(listsAMonth)).Plus(m.Change.Times(changesAMonth))
	var columns [][]string
	for _, t := range teams {
		requests := t.developers * (readsAMonth + listsAMonth + changesAMonth)
		metrics, traces := t.combinations*t.hours/hoursAMonth*priceMetric, requests*priceTrace
		lines := []float64{
			requests * priceHTTP, requests * lambda(adminSeconds, functionGB), developer.Times(t.developers).dollars(),
			(storedMB + t.developers*storedMBEach) / 1000 * priceStorage, requests * logs(logKB), traces, metrics,
			snapshotRuns*(m.Snapshot.dollars()+lambda(snapshotSeconds, functionGB)) + snapshotDays*snapshotUnits*priceWrite,
			minutesAMonth * (m.Aggregate.dollars() + lambda(aggregateSeconds, aggregateGB) + logs(aggregateLogKB)),
			minutesAMonth * (m.Deliver.dollars() + lambda(deliverSeconds, deliverGB) + logs(deliverLogKB)),
			minutesAMonth * (m.Due.dollars() + lambda(dueSeconds, dueGB) + logs(deliverLogKB)),
		}
		use := math.Round((sum(lines)+tiny)*100) / 100
		const twoSecrets = secrets * priceSecret
		alarms := alarmMetrics*priceAlarm + t.hours/hoursAMonth*priceMetric // its objective counts requests
		all := use + twoSecrets + alarms
		lines = append(lines, use, twoSecrets, alarms, all, all-alarms-metrics, all-alarms-metrics-traces)
		columns = append(columns, append([]string{count(requests)}, amounts(lines)...))
	}
	return table("|  | idle | 1 | 50 | 500 developers |", names, columns...)
}

// open is what a visible page of the console costs. A 304 takes the same reads as a 200.
func (m Measured) open() string {
	text := "| a visible page | requests an hour | read units an hour | US dollars in 160 hours |\n|---|---|---|---|\n"
	for _, page := range []struct {
		name     string
		units    Units
		requests int // in a minute
	}{
		{"of a flag", m.OpenFlag, 2*perMinute + len(openAlways) + len(openFlag)},
		{"of a project of 200 flags", m.OpenList, 3*perMinute + len(openAlways)},
	} {
		requests := float64(page.requests) * 60
		hour := requests*(priceHTTP+lambda(adminSeconds, functionGB)+logs(logKB)) + page.units.Times(60).dollars()
		text += fmt.Sprintf("| %s | %s | %s | %s |\n", page.name, count(requests), count(page.units.Read*60), cents(hour*openHours))
	}
	return text
}

// A request of an application.
type request struct {
	units       Units
	seconds, kb float64 // of a function; sent
}

func (r request) dollars() float64 {
	return priceHTTP + lambda(r.seconds, functionGB) + r.units.dollars() + logs(accessKB) + out(r.kb)
}

// applications is what a million requests of applications cost.
func (m Measured) applications() string {
	text := table("|  | HTTP API | Lambda | DynamoDB | logs | data out | in all |", nil, make([][]string, 6)...)
	for _, a := range []struct {
		name string
		request
	}{
		{"poll, 304", m.unchanged()}, {"poll, 200", request{m.Poll, answerSeconds, answerKB}},
		{"evaluation (`/api/frontend`, OFREP)", request{m.Evaluation, answerSeconds, evaluationKB}},
		{"poll, 304, with `ClientMaxAge`", request{Units{}, unchangedSeconds - callSeconds, unchangedKB}},
		{"report of usage, 50 flags", request{m.Report, reportSeconds, 0}},
	} {
		million := amounts([]float64{priceHTTP * 1e6, lambda(a.seconds, functionGB) * 1e6, a.units.dollars() * 1e6, logs(accessKB) * 1e6, out(a.kb) * 1e6})
		text += "| " + a.name + " | " + strings.Join(million, " | ") + " | **" + cents(a.dollars()*1e6) + "** |\n"
	}
	return text
}

func (m Measured) unchanged() request { return request{m.PollUnchanged, unchangedSeconds, unchangedKB} }

// publishing is what it costs in a month to publish states, beside the snapshot function as it runs without that.
func (m Measured) publishing() string {
	const offer = publishedBuckets * (publishedEnvironments*priceGet + pricePut) // the heads are read, and the environments are listed
	const renewal = publishedBuckets * 2 * pricePut                              // the head is written, and the documents are listed
	var columns [][]string
	for _, changes := range []float64{0, 10_000, minutesAMonth} { // minutes with changes, each of one environment
		quiet := minutesAMonth - changes
		lines := []float64{
			minutesAMonth*m.Publish.dollars() + quiet*lambda(snapshotSeconds, functionGB) + changes*lambda(publishSeconds, functionGB) -
				snapshotRuns*(m.Snapshot.dollars()+lambda(snapshotSeconds, functionGB)),
			(changes+2*renewals)*offer + changes*(renewal+publishedBuckets*pricePut) + renewals*publishedEnvironments*renewal,
			changes*publishedKB/1e6*priceRegion + publishedBuckets*priceBucket*publishedKB/1e6*(publishedEnvironments+changes/30),
		}
		columns = append(columns, append(amounts(lines), "**"+cents(sum(lines))+"**"))
	}
	return table("|  | no changes | 10,000 changes | a change each minute |", []string{"the snapshot function, every minute", "requests to S3", "storage, and data sent to the other region", "**in all**"}, columns...)
}

func fronted(kb float64) float64 { return priceCDN + priceWAF + kb/1e6*priceCDNOut }

// usageLines are what reports of usage cost in a month, for instances that each report 50 flags at an interval in minutes.
func (m Measured) usageLines(instances, interval float64) []float64 {
	each := m.Added100.Plus(m.Added10.Times(-1)).Times(1.0 / 90)
	atOnce := instances / interval // that report in a minute
	reports := atOnce * minutesAMonth
	return []float64{
		throughAPI(reports), reports * lambda(reportSeconds, functionGB), reports * m.Report.dollars(), reports * logs(accessKB),
		minutesAMonth*m.Added10.Plus(each.Times(atOnce-10)).dollars() + hoursAMonth*m.FirstOfHour.dollars(),
		minutesAMonth * lambda(addSeconds+atOnce*addSecondsEach, aggregateGB), atOnce * postMinutes * postKB / 1e6 * priceStorage,
	}
}

// usage is the table of usageLines.
func (m Measured) usage() string {
	names := []string{"HTTP API", "Lambda, for reports", "DynamoDB, for reports", "logs", "DynamoDB, for the aggregation", "Lambda, for the aggregation", "storage", "**in all**"}
	var columns [][]string
	for _, n := range []float64{10, 100, 1000} {
		lines := m.usageLines(n, 1)
		columns = append(columns, append(amounts(lines), "**"+cents(sum(lines))+"**"))
	}
	return table("|  | 10 | 100 | 1,000 instances |", names, columns...)
}

// overHTTP is what SDKs cost in a month that poll and report to the HTTP API, beside an idle stage.
func (m Measured) overHTTP(sdks float64) float64 {
	polls, lines := sdks*secondsAMonth/sdkInterval, m.usageLines(sdks, 1)
	return throughAPI(polls+sdks*minutesAMonth) + polls*(m.unchanged().dollars()-priceHTTP) + sum(lines[1:])
}

// overURL is the same at the client URL, which has neither API Gateway nor its log. Reports have an interval in minutes. With a memory of
// one second, each instance reads the feed once a second at most.
func (m Measured) overURL(sdks float64, memory bool, interval float64) float64 {
	polls, lines := sdks*secondsAMonth/sdkInterval, m.usageLines(sdks, interval)
	reads, seconds := polls, unchangedSeconds
	if memory {
		seconds -= callSeconds
		reads = min(polls, instances(sdks, interval)*secondsAMonth)
	}
	poll := lambda(seconds, functionGB) + out(unchangedKB)
	return polls*poll + reads*m.PollUnchanged.dollars() + sum(lines[1:]) - lines[logLine]
}

// logLine is the line of usageLines that is about logs.
const logLine = 3

// instances is how many instances of the function Applications serve SDKs that poll, with a memory of one second, and report at an interval in minutes.
func instances(sdks, interval float64) float64 {
	atOnce := sdks/sdkInterval*(unchangedSeconds-callSeconds) + sdks/(60*interval)*reportSeconds
	return math.Ceil(atOnce * instancesEach)
}

// overEdge is what two small tasks of Guidon Edge cost in a month behind a load balancer, with their own polls and reports.
func (m Measured) overEdge() float64 {
	return edgeTasks + edgeBalancer + edgeAddresses + m.overHTTP(2)
}

// The parts of overEdge: two tasks, a load balancer, and four public addresses, two of which the load balancer has.
const (
	edgeTasks     = hoursAMonth * 2 * (0.25*priceCPU + 0.5*priceMemory)
	edgeBalancer  = hoursAMonth * priceBalancer
	edgeAddresses = hoursAMonth * 4 * priceAddress
)

// edge names these parts.
func (m Measured) edge() string {
	return fmt.Sprintf("two Fargate tasks of 0.25 vCPU and 0.5 GB, %s; a load balancer before its units, %s; four public IPv4 addresses, %s; "+
		"and their own polls every 15 s and reports each minute, %s", cents(edgeTasks), cents(edgeBalancer), cents(edgeAddresses), cents(m.overHTTP(2)))
}

// sdks is what SDKs cost in a month that poll and report, beside an idle stage.
func (m Measured) sdks() string {
	names := []string{
		"HTTP API, the default", "[client URL](docs/operations/addresses.md)", "client URL, `ClientMaxAge=1`", "the same, reports every five minutes",
		"[Guidon Edge](docs/edge.md), two small tasks", "Unleash on containers, in all",
	}
	var columns [][]string
	for _, n := range []float64{10, 100, 1000, 10_000} {
		var column []string
		for _, dollars := range []float64{m.overHTTP(n), m.overURL(n, false, 1), m.overURL(n, true, 1), m.overURL(n, true, 5), m.overEdge()} {
			column = append(column, count(math.Round(dollars)))
		}
		columns = append(columns, append(column, containers))
	}
	return table("| US dollars a month | 10 | 100 | 1,000 | 10,000 SDKs |", names, columns...)
}

// from is the number of SDKs, in tens, from which one cost is more than another.
func from(cost func(sdks float64) float64, other float64) string {
	n := 10.0
	for cost(n) <= other {
		n += 10
	}
	return count(n)
}

// edgeFrom tells from how many SDKs on Edge costs less than the default.
func (m Measured) edgeFrom() string {
	return fmt.Sprintf("Edge costs less than the HTTP API from %s SDKs on", from(m.overHTTP, m.overEdge()))
}

// rule tells which URL costs least for how many SDKs.
func (m Measured) rule() string {
	saves := func(sdks float64) string { return count(math.Round(m.overHTTP(sdks) - m.overURL(sdks, true, 1))) }
	return fmt.Sprintf("the client URL saves %s of these dollars for 100 SDKs, and %s for 1,000. %s, and less than the client URL from %s on "+
		"(%s with [reports every five minutes]", saves(100), saves(1000), m.edgeFrom(), from(m.atURL(1), m.overEdge()), from(m.atURL(5), m.overEdge()))
}

// atURL returns overURL with a memory of one second and an interval of reports.
func (m Measured) atURL(interval float64) func(sdks float64) float64 {
	return func(sdks float64) float64 { return m.overURL(sdks, true, interval) }
}

// beside tells from how many SDKs on Guidon costs more than Unleash on containers: the smallest setup, and two tasks.
func (m Measured) beside() string {
	return fmt.Sprintf("from %s to %s SDKs on, the HTTP API costs more than Unleash on containers, and from %s to %s on the client URL does, with reports every five minutes",
		from(m.overHTTP, smallest), from(m.overHTTP, twoTasks), from(m.atURL(5), smallest), from(m.atURL(5), twoTasks))
}

// saving tells what reports every five minutes save.
func (m Measured) saving() string {
	reports := func(interval float64) float64 { return sum(m.usageLines(1000, interval)) }
	return fmt.Sprintf("%s US dollars a month for 1,000 instances at the HTTP API, and %s at the client URL",
		count(reports(1)-reports(5)), count(m.overURL(1000, true, 1)-m.overURL(1000, true, 5)))
}

// overCDN is what SDKs cost in a month whose polls CloudFront serves, with WAF, and whose reports go through both.
func (m Measured) overCDN(sdks float64) float64 {
	return sdks*secondsAMonth/sdkInterval*fronted(unchangedKB) + sdks*minutesAMonth*fronted(0) + sum(m.usageLines(sdks, 1)) + priceACL + aclRules*priceRule
}

// addresses is the line with the costs of 1,000 SDKs at each URL.
func (m Measured) addresses() string {
	cells := []string{"1,000 SDKs, US dollars a month"}
	for _, dollars := range []float64{m.overHTTP(1000), m.overURL(1000, true, 1), m.overCDN(1000), m.overEdge()} {
		cells = append(cells, count(math.Round(dollars)))
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

// intervals is what Guidon Edges cost in a month that ask for the changes of one environment, and report usage.
func (m Measured) intervals() string {
	names := []string{"every second", "every 5 seconds", "every 15 seconds, the default", "every minute", "usage, reported every minute"}
	var columns [][]string
	for _, n := range []float64{1, 10, 100, 1000} {
		var column []float64
		for _, seconds := range []float64{1, 5, 15, 60} {
			polls := n * secondsAMonth / seconds
			column = append(column, throughAPI(polls)+polls*(m.unchanged().dollars()-priceHTTP))
		}
		columns = append(columns, amounts(append(column, sum(m.usageLines(n, 1)))))
	}
	return table("| US dollars a month | 1 | 10 | 100 | 1,000 Edges |", names, columns...)
}

// partitions are the keys whose partition has the data of many requests, as far as it follows from their units.
func (m Measured) partitions() string {
	reads := func(units float64) string { return count(math.Floor(partitionReads / units)) }
	writes := func(units float64) string { return count(math.Floor(partitionWrites / units)) }
	row := func(key, units, most string) string { return "| " + key + " | " + units + " | " + most + " |\n" }
	return "| Key | Units of a request | Maximum, requests a second |\n|---|---|---|\n" +
		row("`REGISTRY#environments`", number(m.Environments)+" read while it is below 4 KB (some 15 environments)", reads(m.Environments)+" with nearly every flag, in the whole service; half of that below 8 KB") +
		row("`TOKEN#<hash>`", number(m.Token)+" read with an admin or personal token", reads(m.Token)+" for each token: give each script its own") +
		row("`FEED`", number(m.Feed)+" read", reads(m.Feed)+" polls and evaluations, in the whole service") +
		row("`PROJECT#<uid>`, lists", number(m.List)+" read for 1,000 flags", reads(m.List)+" lists for each project") +
		row("`PROJECT#<uid>`, new flags", number(m.Guarded)+" written", writes(m.Guarded)+" new flags for each project") +
		row("index `log`, key `LOG`", number(m.SmallEvent)+" written for an added strategy, "+number(m.Event)+" for a switch, 6 at worst", fmt.Sprintf("%s, %s and %s changes, in the whole service", writes(m.SmallEvent), writes(m.Event), writes(6)))
}

func sum(lines []float64) (total float64) {
	for _, n := range lines {
		total += n
	}
	return total
}

func amounts(dollars []float64) (cells []string) {
	for _, d := range dollars {
		cells = append(cells, cents(d))
	}
	return cells
}

// tiny makes halves round up, on each processor.
const tiny = 1e-7

// cents formats dollars.
func cents(dollars float64) string { return fmt.Sprintf("%.2f", dollars+tiny) }

// number formats a number with at most one digit after the point.
func number(n float64) string {
	return strconv.FormatFloat(float64(int(n*10+0.5+tiny))/10, 'f', -1, 64)
}

// count formats a whole number with commas.
func count(n float64) string {
	digits := strconv.FormatFloat(n+tiny, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
