package bill

import "fmt"

// A request of an application.
type application struct {
	name    string
	units   Units
	seconds float64
	kb      float64 // sent
}

func (m Measured) applications() []application {
	return []application{
		{"poll, 304", m.PollUnchanged, unchangedSeconds, unchangedKB},
		{"poll, 200", m.Poll, answerSeconds, answerKB},
		{"evaluation (`/api/frontend`, OFREP)", m.Evaluation, answerSeconds, evaluationKB},
		{"poll, 304, with `ClientMaxAge`", Units{}, unchangedSeconds, unchangedKB},
		{"report of usage, 50 flags", m.Report, unchangedSeconds, 0},
	}
}

// dollars is what a request costs.
func (a application) dollars() float64 {
	return priceHTTP + lambda(a.seconds, functionGB) + a.units.dollars() + logs(logKB) + tracedShare*priceTrace + out(a.kb)
}

// Applications is the tables of a million requests of applications.
func (m Measured) Applications() string {
	t := newTable("", "HTTP API", "Lambda", "DynamoDB", "logs", "traces", "data out", "in all")
	for _, a := range m.applications() {
		t.row(a.name, cents(priceHTTP*1e6), cents(lambda(a.seconds, functionGB)*1e6), cents(a.units.dollars()*1e6), cents(logs(logKB)*1e6),
			cents(tracedShare*priceTrace*1e6), cents(out(a.kb)*1e6), "**"+cents(a.dollars()*1e6)+"**")
	}
	front := newTable("poll that CloudFront answers", "CloudFront", "WAF", "data out", "in all")
	for _, a := range m.applications()[:2] {
		front.row(a.name[len("poll, "):], cents(priceCDN*1e6), cents(priceWAF*1e6), cents(a.kb*priceCDNOut), "**"+cents(fronted(a.kb)*1e6)+"**")
	}
	return t.String() + "\n" + front.String() + "\n" + fmt.Sprintf(`A poll takes %s read units: the token, its last use and the feed. An answer has %g KB with 1,000 flags, compressed, an evaluation %g KB,
and a 304 %g KB. A 304 and a report take %g ms and the others %g ms of a %g MB function. X-Ray traces %g%% of the requests; a request has %g KB of log with
the access log and Lambda's own lines.
`, number(m.Poll.Read), float64(answerKB), evaluationKB, unchangedKB, unchangedSeconds*1000, answerSeconds*1000, functionGB*1024, tracedShare*100, logKB)
}

// fronted is what a poll costs that CloudFront answers.
func fronted(kb float64) float64 { return priceCDN + priceWAF + kb/1e6*priceCDNOut }

// Fleet is the table of 1,500 SDKs that poll.
func (m Measured) Fleet() string {
	const sdks = 1500
	polls := float64(sdks) * secondsAMonth / sdkInterval
	poll := m.applications()[0].dollars()
	quiet := poll - logs(logKB-logWarnKB) - tracedShare*priceTrace
	t := newTable("", "a month")
	t.row("always up to date", count(polls*poll))
	t.row("`LogLevel=WARN`, `Tracing=PassThrough`", count(polls*quiet))
	t.row("a poll each minute instead of 15 s", count(polls*poll*sdkInterval/60))
	t.row("`ClientMaxAge=15`, CloudFront, one token", count(polls*fronted(unchangedKB)))
	return fmt.Sprintf(`**1,500 SDKs** that poll every %d s are %d requests a second and %s million a month. After a change each gets a 200 once, and 304s
otherwise:

`, sdkInterval, sdks/sdkInterval, count(polls/1e6)) + t.String()
}
