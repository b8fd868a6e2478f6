package bill

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"guidon/internal/gateway"
	"guidon/pkg/dynamo/dynamotest"
)

// What a caller who means harm can cost in a day, by the throttles of template.yaml. AWS documents those of the stage as defaults for each
// route, so every route counts with a bucket of its own.
const (
	secondsADay    = 24 * 60 * 60
	daysAMonth     = hoursAMonth / 24.0
	traced         = 1.0 / 20 // of the requests to functions with Tracing=Active, beside one a second
	siteGB         = 0.25     // memory of the function Site
	refusedSeconds = 0.010    // of a request with a token that does not exist
	longSeconds    = 0.050    // of an evaluation of 256 KB of context, and of a report of 100 KB
	longestSeconds = 0.700    // of a report of 1 MB, which takes 0.2 s of a core
	refusedKB      = 1.0      // of log of a request of an application that is refused, with the access log
	flagKB         = 1.0      // of a response with one flag
	fileKB         = 240      // of the largest file of the console and of /docs, compressed; each can be had by the route $default, too
	problemsKB     = 5        // of the response to a report with many problems
	postUnits      = 350      // of the largest report with a client token
	browserUnits   = 8        // of the largest one with a frontend token
	plainKB        = 64.0     // of large responses that are not compressed, from an instance in a second (pkg/httpapi)
	validated      = 200      // tokens that /edge/validate looks up if a client token is among them
	validatedKB    = 25.0     // of the response to that
	statuses       = 2        // of an operation, that a stranger can cause
	honestPolls    = 100.0    // a second, of 1,500 SDKs
	honestReports  = 25.0
	flood          = 1000.0 // requests a second of the examples
	reservedEach   = 20.0   // executions of each of the two functions with client URLs, as addresses.md suggests
	urlRate        = 10.0   // requests a second that AWS lets pass for each execution
)

// A throttle is the rate of a route.
type throttle struct {
	route, function string
	rate, burst     float64 // requests a second, and at once
	own             bool    // not the default
}

// The stack is what a template allows.
type stack struct {
	throttles             []throttle
	readUnits, writeUnits float64 // of the table, a second
	operations            int     // of the administration
	executions            float64 // reserved for each of the two functions of applications
}

// readStack reads the throttles of a template as they are with its defaults.
func readStack(t testing.TB, parameters map[string]string) stack {
	t.Helper()
	template, err := gateway.ReadTemplate("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	limits, err := template.Throttles(parameters)
	if err != nil {
		t.Fatal(err)
	}
	var s stack
	for _, f := range template.Functions {
		for _, route := range f.Routes {
			own, found := limits[route]
			if !found {
				own = limits[""]
			}
			delete(limits, route)
			s.throttles = append(s.throttles, throttle{route, f.Name, own.Rate, own.Burst, found})
		}
	}
	if len(limits) != 1 {
		t.Errorf("the settings of %v are for no route", slices.Sorted(maps.Keys(limits)))
	}
	s.operations, s.executions = operations(), reservedEach
	for name, units := range map[string]*float64{"MaxReadUnits": &s.readUnits, "MaxWriteUnits": &s.writeUnits} {
		if *units, err = strconv.ParseFloat(template.Defaults[name], 64); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// A cost is what a request of a caller costs, in dollars.
type cost struct{ requests, units, out float64 }

func (c cost) plus(d cost) cost {
	return cost{c.requests + d.requests, c.units + d.units, c.out + d.out}
}

func (c cost) times(n float64) cost { return cost{c.requests * n, c.units * n, c.out * n} }

func (c cost) dollars() float64 { return c.requests + c.units + c.out }

// application returns what a request of an application costs that writes a line of a log.
func application(seconds, line float64, units Units, kb float64) cost {
	return cost{priceHTTP + lambda(seconds, functionGB) + logs(line), units.dollars(), out(kb)}
}

// administration returns what a request to the administration costs.
func administration(seconds, memory float64, units Units, kb float64) cost {
	return cost{priceHTTP + lambda(seconds, memory) + logs(logKB) + traced*priceTrace, units.dollars(), out(kb)}
}

// stranger returns what a request without a valid token costs.
func (m Measured) stranger(at throttle) (cost, bool) {
	switch {
	case at.function == "site":
		return administration(refusedSeconds, siteGB, Units{}, fileKB), true
	case at.route == "ANY /edge/{proxy+}":
		return application(longSeconds, refusedKB, m.Guess, problemsKB), true
	case at.function == "applications", at.function == "frontend":
		return application(refusedSeconds, refusedKB, m.Unknown, unchangedKB), true
	}
	memory := functionGB
	if at.function == "transfer" || at.function == "insight" {
		memory = dueGB
	}
	return administration(refusedSeconds, memory, m.Unknown, unchangedKB), true
}

// clientToken returns what a request with a client token costs, or false if the route takes none. Reports have 50 flags, and OFREP takes it as it
// takes a frontend token.
func (m Measured) clientToken(at throttle) (cost, bool) {
	switch at.route {
	case "ANY /api/client/features", "ANY /api/client/delta":
		return application(answerSeconds, accessKB, m.Poll, answerKB), true
	case "ANY /api/client/features/{featureName}":
		return application(answerSeconds, accessKB, m.Poll, flagKB), true
	case "ANY /api/client/register", "ANY /api/client/metrics", "ANY /api/client/metrics/{proxy+}":
		stored, refused := application(reportSeconds, accessKB, m.Report, 0), application(reportSeconds, refusedKB, Units{}, problemsKB)
		if refused.dollars() > stored.dollars() {
			return refused, true
		}
		return stored, true
	case "ANY /edge/{proxy+}":
		return application(longSeconds, accessKB, Units{Read: validated * m.Token}, validatedKB), true
	}
	if strings.HasPrefix(at.route, "ANY /ofrep/") {
		return m.frontendToken(at)
	}
	return cost{}, false
}

// longReport is what a report of 1 MB costs in addition, without what it writes: AWS counts each 512 KB of a request.
func longReport(at throttle) (cost, bool) {
	reports := at.route == "ANY /api/client/register" || strings.HasPrefix(at.route, "ANY /api/client/metrics")
	return cost{requests: priceHTTP + (longestSeconds-reportSeconds)*functionGB*priceGBSecond}, reports
}

// frontendToken returns the same for a frontend token, which is public.
func (m Measured) frontendToken(at throttle) (cost, bool) {
	switch at.route {
	case "ANY /api/frontend", "ANY /ofrep/v1/evaluate/flags":
		return application(longSeconds, accessKB, m.Evaluation, evaluationKB), true
	case "ANY /ofrep/v1/evaluate/flags/{key}":
		return application(longSeconds, accessKB, m.Evaluation, flagKB), true
	case "ANY /api/frontend/client/{proxy+}": // with a line about the flags that are left out
		return application(longSeconds, refusedKB, Units{}, problemsKB), true
	case "ANY /edge/{proxy+}":
		return application(longSeconds, accessKB, m.Guess.Times(2), flagKB), true
	}
	return cost{}, false
}

// adminToken returns the same for an admin token: a list of 1,000 flags that is not compressed.
func (m Measured) adminToken(at throttle) (cost, bool) {
	if !strings.HasPrefix(at.route, "ANY /api/admin/") {
		return cost{}, false
	}
	return administration(answerSeconds+adminSeconds, functionGB, m.List1000, m.ListBytes), true // 1,000 of so many bytes are as many KB
}

// day is what all requests of a caller cost in a day, and how many there are in a second.
func (s stack) day(price func(throttle) (cost, bool)) (total cost, rate float64) {
	for _, at := range s.throttles {
		if one, allowed := price(at); allowed {
			total, rate = total.plus(one.times(at.rate*secondsADay)), rate+at.rate
		}
	}
	return total, rate
}

// atURLs returns what a caller can cost in a day at the client URLs, beside the HTTP API: for each function, all requests that AWS lets pass, each part of
// them that of the dearest, and in large responses that are not compressed, if the caller gets any there. Units end at MaxReadUnits.
func (s stack) atURLs(price func(throttle) (cost, bool), plain ...string) (total cost) {
	for _, function := range []string{"applications", "frontend"} {
		var most cost
		for _, at := range s.throttles {
			if one, allowed := price(at); allowed && at.function == function {
				most.requests = max(most.requests, one.requests-priceHTTP-logs(accessKB))
				most.units, most.out = max(most.units, one.units), max(most.out, one.out)
			}
		}
		total = total.plus(most.times(urlRate * reservedEach * secondsADay))
		if slices.Contains(plain, function) {
			total.out += reservedEach * secondsADay * out(plainKB)
		}
	}
	total.units = min(total.units, s.readUnits*secondsADay*priceRead)
	return total
}

// either returns the price of the dearer of two requests to a route.
func either(a, b func(throttle) (cost, bool)) func(throttle) (cost, bool) {
	return func(at throttle) (cost, bool) {
		one, allowed := a(at)
		other, also := b(at)
		if !allowed || also && other.dollars() > one.dollars() {
			return other, also
		}
		return one, true
	}
}

// passThrough has the functions that callers reach and that begin no traces.
var passThrough = []string{"applications", "frontend", "transfer"}

// traces is what the one trace a second of each function with Tracing=Active costs in a day.
func (s stack) traces() cost {
	active := map[string]bool{}
	for _, at := range s.throttles {
		if !slices.Contains(passThrough, at.function) {
			active[at.function] = true
		}
	}
	return cost{requests: float64(len(active)) * secondsADay * priceTrace}
}

// rate is that of a route.
func (s stack) rate(route string) float64 {
	for _, at := range s.throttles {
		if strings.TrimPrefix(at.route, "ANY ") == route {
			return at.rate
		}
	}
	return 0
}

// stored is what reports cost in a day beside their requests that write so many units in a second: the writes, the storage for two days, and
// the aggregation, which reads them twice, in runs that never end.
func stored(units float64) cost {
	gigabytes := units * secondsADay / 1e6
	reads := 2 * units / 4 * secondsADay
	return cost{
		requests: secondsADay * aggregateGB * priceGBSecond,
		units:    units*secondsADay*priceWrite + reads*priceRead + gigabytes*priceStorage*(postMinutes/minutesADay)/daysAMonth,
	}
}

const minutesADay = secondsADay / 60

// plain returns what large responses of a function that are not compressed cost in a day: requests at once get an instance each.
func (s stack) plain(routes ...string) cost {
	burst := 0.0
	for _, at := range s.throttles {
		if slices.Contains(routes, strings.TrimPrefix(at.route, "ANY ")) {
			burst += at.burst
		}
	}
	return cost{out: min(burst, s.executions) * secondsADay * out(plainKB)}
}

// pulses tells what pulses of large responses make of the ceilings of both tokens without reserved executions.
func (m Measured) pulses(s stack) string {
	s.executions = math.Inf(1)
	list := m.callers(s)
	return fmt.Sprintf("a leaked client token can cost up to %s a day, a public frontend token up to %s", count(list[1].cost.dollars()), count(list[3].cost.dollars()))
}

// A caller is one who means harm.
type caller struct {
	name    string
	limit   float64 // dollars a day; 0 for none
	cost    cost
	urls    cost    // at the client URLs, in addition
	rate    float64 // requests a second that are let through
	starves string
}

func (m Measured) callers(s stack) []caller {
	share := func(rate, honest float64) string {
		return fmt.Sprintf("from %s a second on; at %s, %.0f %% of the others pass", count(rate-honest), count(flood), 100*rate/(honest+flood))
	}
	polls := "polls " + share(s.rate("/api/client/features"), honestPolls)
	evaluations := s.rate("/api/frontend")

	list := []caller{{name: "a stranger", limit: 270, starves: polls + "; files of the console from " + number(s.rate("$default")) + " on, sign-in from " + number(s.rate("/auth/{proxy+}"))}}
	list[0].cost, list[0].rate = s.day(m.stranger)
	list[0].cost = list[0].cost.plus(s.traces())
	list[0].cost.requests += s.metrics()
	list[0].urls = s.atURLs(m.stranger)

	client := caller{name: "a leaked client token", limit: 150}
	client.cost, client.rate = s.day(m.clientToken)
	client.cost = client.cost.plus(s.plain("/api/client/features", "/api/client/delta")).plus(s.plain("/ofrep/v1/evaluate/flags"))
	client.urls = s.atURLs(either(m.clientToken, m.stranger), "applications", "frontend")
	client.starves = "the same"

	frontend := caller{name: "a public frontend token", limit: 110}
	frontend.cost, frontend.rate = s.day(m.frontendToken)
	browser := s.rate("/api/frontend/client/{proxy+}") * browserUnits
	frontend.cost = frontend.cost.plus(stored(min(browser, s.writeUnits))).plus(s.plain("/api/frontend", "/ofrep/v1/evaluate/flags"))
	frontend.urls = s.atURLs(m.frontendToken, "frontend").plus(stored(s.writeUnits)).plus(stored(min(browser, s.writeUnits)).times(-1))
	frontend.starves = "evaluations " + share(evaluations, evaluations/2) + "; " + count(browser) + " of the " + count(s.writeUnits) + " write units"

	long := caller{name: "the same, and its reports have 1 MB, of which `MaxWriteUnits` lets some be stored", rate: client.rate, urls: client.urls}
	long.starves = "all writes, from " + number(s.writeUnits/postUnits) + " reports a second on"
	long.cost, _ = s.day(longReport)
	long.cost = long.cost.plus(client.cost).plus(stored(s.writeUnits))

	signals := caller{name: "a leaked secret of a signal", limit: 10, rate: s.rate("/api/signals/{signalName}"), starves: "other signals"}
	signals.cost = administration(answerSeconds+adminSeconds, functionGB, m.SignalMost, 0).times(signals.rate * secondsADay)

	admin := caller{name: "a leaked admin token, lists of 1,000 flags", starves: "everything"}
	admin.cost, admin.rate = s.day(m.adminToken)
	admin.cost, admin.urls = admin.cost.plus(s.traces()), client.urls
	return append(list, client, long, frontend, signals, admin)
}

// metrics returns what CloudWatch metrics of the requests of a stranger cost in a day.
func (s stack) metrics() float64 {
	return float64(s.operations) * statuses * priceMetric / daysAMonth
}

// leaked tells what a client token costs in a day if its caller also does what a stranger can, and what the client URLs add to that.
func (m Measured) leaked(s stack) string {
	stranger, long := m.callers(s)[0], m.callers(s)[2]
	alone, _ := s.day(m.clientToken)
	both, _ := s.day(either(m.clientToken, m.stranger))
	total := long.cost.plus(alone.times(-1)).plus(both).plus(s.traces()).dollars() + s.metrics()
	urls := s.atURLs(either(m.clientToken, m.stranger), "applications", "frontend").dollars()
	return fmt.Sprintf("%s US dollars a day of a stranger, and **%s** of one with a leaked client token, who can cost %s at the HTTP API too: **%s** in all",
		count(stranger.urls.dollars()), count(urls), count(total), count(math.Round(total)+math.Round(urls)))
}

// ceiling is the table of the callers.
func (m Measured) ceiling(s stack) string {
	text := "| caller | requests a second | API, Lambda, logs | DynamoDB | data out | US dollars a day | more at client URLs | takes from others |\n|---|---|---|---|---|---|---|---|\n"
	for _, c := range m.callers(s) {
		text += fmt.Sprintf("| %s | %s | %s | %s | %s | **%s** | %s | %s |\n", c.name, count(c.rate), count(c.cost.requests), count(c.cost.units), count(c.cost.out),
			count(c.cost.dollars()), count(c.urls.dollars()), c.starves)
	}
	return text
}

// asked returns what it costs in a day if a stranger asks for a trace of each request, and gets it.
func (s stack) asked(of func(throttle) bool) float64 {
	total, _ := s.day(func(at throttle) (cost, bool) { return cost{requests: priceTrace}, of(at) })
	return total.dollars()
}

// TestCeiling checks what callers who mean harm can cost in a day with the defaults, and that 1,500 SDKs are served with a margin of two.
func TestCeiling(t *testing.T) {
	m, s := measure(t), readStack(t, nil)
	callers := m.callers(s)
	for _, c := range callers {
		t.Logf("%s: %.0f requests a second, %.2f dollars a day: %+v", c.name, c.rate, c.cost.dollars(), c.cost)
		if c.limit > 0 && c.cost.dollars() > c.limit {
			t.Errorf("%s can cost %.2f dollars a day; expected at most %.0f", c.name, c.cost.dollars(), c.limit)
		}
	}
	page, err := os.ReadFile("../../docs/operations/cost.md")
	if err != nil {
		t.Fatal(err)
	}
	all := s.asked(func(throttle) bool { return true })
	others := s.asked(func(at throttle) bool { return at.function != "applications" && at.function != "frontend" })
	stranger := callers[0]
	quota := stranger.cost.dollars() + (10_000-stranger.rate)*secondsADay*logs(accessKB)
	for _, want := range []string{fmt.Sprintf("%.0f a day for a stranger, or %.0f", all, others), fmt.Sprintf("it is about %.0f, of which", math.Round(quota/10)*10)} {
		if !strings.Contains(string(page), want) {
			t.Errorf("cost.md does not say %q", want)
		}
	}
	for route, honest := range map[string]float64{"/api/client/features": honestPolls, "/api/client/metrics": honestReports} {
		if got := s.rate(route); got < 2*honest {
			t.Errorf("%s takes %v requests a second; expected at least twice the %v of 1,500 SDKs", route, got, honest)
		}
	}
	for _, at := range s.throttles {
		if (at.function == "applications" || at.function == "frontend" || at.function == "site") && !at.own {
			t.Errorf("%s has no throttle of its own", at.route)
		}
	}
	if larger := readStack(t, map[string]string{"ClientThrottleRate": "800,210,410,40,10"}); larger.rate("/api/client/features") != 800 ||
		larger.rate("/api/client/metrics") != 210 || larger.rate("/api/frontend") != 410 {
		t.Error("ClientThrottleRate does not set the rates of polls, reports and evaluations")
	}
}

// TestFileSizes checks that no file that strangers can load is larger than the ceiling assumes, compressed.
func TestFileSizes(t *testing.T) {
	for _, pattern := range []string{"console/dist/*.*", "console/dist/assets/*", "pkg/docs/assets/*", "infra/openapi.json"} {
		files, err := filepath.Glob("../../" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var sent bytes.Buffer
			w := gzip.NewWriter(&sent)
			_, _ = w.Write(content) // a buffer takes everything
			if _ = w.Close(); sent.Len() > fileKB*1000 {
				t.Errorf("%s has %d bytes compressed; expected at most %d KB", file, sent.Len(), fileKB)
			}
		}
	}
}

// TestProblemSizes sends reports with many problems in long names, and checks that no response is larger than the ceiling assumes.
func TestProblemSizes(t *testing.T) {
	d, most := deploy(t), 0
	for _, unit := range []string{"k", `\"`, `\u0001`} {
		for _, n := range []int{10, 50, 100, 110, 115, 118, 120, 130, 1000} {
			name := strings.Repeat(unit, n)
			toggles := make([]string, 100)
			for i := range toggles {
				toggles[i] = fmt.Sprintf(`"%d%s":{"yes":"%[2]s","no":"%[2]s","variants":{"%[2]s":"x"}}`, i, name)
			}
			metrics := `{"appName":"x","bucket":{"start":"2026-01-01T00:00:00Z","stop":"x","toggles":{` + strings.Join(toggles, ",") + `}}}`
			bulk := `{"applications":[` + strings.Repeat(`{"appName":"`+name+`","environment":1},`, 99) + `{}],"metrics":[]}`
			for path, body := range map[string]string{
				"/api/client/metrics": metrics, "/api/client/metrics/bulk": bulk, "/api/client/register": `{"appName":"` + name + `","strategies":{"` + name + `":1}}`,
				"/edge/validate": `{"tokens":{"` + name + `":1}}`,
			} {
				w := d.send("POST", path, body, "Authorization: "+dynamotest.ClientToken)
				if w.Code == http.StatusBadRequest {
					most = max(most, w.Body.Len())
				}
				if w.Body.Len() > problemsKB*1000 {
					t.Errorf("%s with %d times %s: %d and %d bytes; expected at most %d KB", path, n, unit, w.Code, w.Body.Len(), problemsKB)
				}
			}
		}
	}
	t.Logf("the largest response to a report with problems has %d bytes", most)
}
