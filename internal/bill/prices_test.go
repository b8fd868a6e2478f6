package bill

// Prices in US dollars: list prices of us-east-1 without free tiers. They are from AWS's price pages and from others that quote
// them, of November 2024 to June 2026, read in November 2026 from stored copies.
const (
	priceHTTP     = 1.00e-6      // a request to an HTTP API
	priceHTTPMore = 0.90e-6      // one after the first 300 million of a month
	priceInvoke   = 0.20e-6      // a call of a Lambda function
	priceGBSecond = 0.0000133334 // Lambda, arm64
	priceRead     = 0.125e-6     // a read unit, on demand, since November 2024
	priceWrite    = 0.625e-6     // a write unit
	priceStorage  = 0.25 + 0.20  // a GB and month of DynamoDB, and of its point-in-time recovery
	priceLogs     = 0.50 + 0.03  // a GB of logs, and keeping it
	priceTrace    = 5.00e-6      // a trace of X-Ray
	priceMetric   = 0.30         // a custom metric, a month
	priceAlarm    = 0.10         // a metric in an alarm, a month
	priceAlarms   = 1.00e-5      // a call that reads the states of alarms, after the first million of a month; not checked again
	priceSecret   = 0.40         // a month
	priceOut      = 0.09         // a GB sent to the internet
	priceCDN      = 1.00e-6      // an HTTPS request to CloudFront; not checked again
	priceCDNOut   = 0.085        // a GB that CloudFront sends; not checked again
	priceWAF      = 0.60e-6      // a request that WAF checks
	priceACL      = 5.00         // a web ACL, a month; not checked again
	priceRule     = 1.00         // a rule of it, a month; not checked again
	pricePut      = 5.00e-6      // a request to S3 that writes or lists
	priceGet      = 0.40e-6      // one that reads
	priceBucket   = 0.023        // a GB in S3, a month
	priceRegion   = 0.02         // a GB sent to another region

	// An hour of containers: a CPU and a GB of Fargate on arm64, a load balancer before its units, and a public address.
	priceCPU, priceMemory, priceBalancer, priceAddress = 0.03238, 0.00356, 0.0225, 0.005

	smallest, twoTasks = 48.57, 111.19 // Unleash on containers, dollars a month; docs/operations/cost.md has the parts
	containers         = "49 to 111"
)

// Assumptions. Times of functions are assumed, not measured on AWS.
const (
	hoursAMonth   = 730
	minutesAMonth = hoursAMonth * 60
	secondsAMonth = minutesAMonth * 60

	// A developer, with their scripts, sends these in a month.
	readsAMonth, listsAMonth, changesAMonth = 2000, 400, 200

	adminSeconds     = 0.025                       // of a request, starts of new processes included
	unchangedSeconds = 0.010                       // of a 304
	answerSeconds    = 0.015                       // of a 200 to an application
	callSeconds      = 0.004                       // of these, a call to DynamoDB
	reportSeconds    = answerSeconds - callSeconds // of a report, which reads no token
	snapshotSeconds  = 0.030                       // of a run that writes nothing
	aggregateSeconds = 0.100                       // of a run without reports
	aggregateGB      = 1.0                         // of the aggregation
	deliverSeconds   = 0.010                       // of a run without webhooks
	functionGB       = 0.5                         // memory of functions
	deliverGB        = 0.25                        // of the delivery
	dueSeconds       = 0.010                       // of a run without scheduled change requests
	dueGB            = 1.0                         // of the function that runs it

	logKB                      = 2.0 // of a request, with the access log
	accessKB                   = 0.3 // of the access log: the functions for applications write no line for a success
	aggregateLogKB             = 1.0
	deliverLogKB               = 0.5
	storedMB, storedMBEach     = 50, 2   // in a stage, and for each developer
	unchangedKB, answerKB      = 0.5, 40 // sent to an application: a 304, and a 200 with 1,000 flags
	evaluationKB               = 10.0
	snapshotUnits              = 280 // written for a snapshot of 1,000 flags
	snapshotRuns, snapshotDays = 12 * hoursAMonth, 30
	secrets                    = 2
	alarmMetrics               = 19
	aclRules                   = 5   // of front.yaml
	sdkInterval                = 15  // seconds between two polls of an SDK
	instancesEach              = 3.0 // instances of a function for each execution at a time, on average

	// States that are published: 10,000 flags in three environments, to two buckets, the second of which is in another region.
	publishedKB, publishedEnvironments, publishedBuckets = 400, 3, 2
	publishSeconds                                       = 3.0 // of a run after a change
	renewals                                             = minutesAMonth / 10

	reportedFlags              = 50
	addSeconds, addSecondsEach = 0.37, 0.001 // of a run of the aggregation with reports, and for each instance
	postMinutes, postKB        = 2 * 24 * 60, 0.8
)

// What a visible page of the console reads: itself and what is protected in its project every ten seconds, these every minute. A page of
// a project reads the overview as often as its list.
const (
	perMinute    = 6
	openHours    = 160 // a month of working days
	openOverview = "/api/admin/projects/default/overview"
	openConfig   = "/api/admin/projects/default/change-requests/config"
)

var (
	openAlways = []string{
		"/api/admin/user", "/api/admin/projects", "/api/admin/search/change-requests?state=IS:open&limit=100",
	}
	openFlag = []string{
		openOverview, "/api/admin/client-metrics/features/{feature}/raw?hoursBack=24", "/api/admin/strategies", "/api/admin/segments",
	}
)

// Limits of a partition of DynamoDB, units a second.
const partitionReads, partitionWrites = 3000, 1000

// maxResponse is the maximum response of a Lambda function.
const maxResponse = 6 << 20

// The columns of the first table: developers, combinations of an operation and a status, and the hours of the month in which they
// are sent as metrics.
var teams = []struct{ developers, combinations, hours float64 }{{0, 0, 0}, {1, 15, 60}, {50, 40, 200}, {500, 90, 300}}

// dollars is the price of the units.
func (u Units) dollars() float64 { return u.Read*priceRead + u.Write*priceWrite }

// throughAPI is the price of n requests to the HTTP API in a month.
func throughAPI(n float64) float64 {
	const first = 300e6
	return min(n, first)*priceHTTP + max(n-first, 0)*priceHTTPMore
}

// lambda is the price of a call of a function.
func lambda(seconds, memory float64) float64 { return priceInvoke + seconds*memory*priceGBSecond }

// logs is the price of KB of log.
func logs(kb float64) float64 { return kb / 1e6 * priceLogs }

// out is the price of sending KB to the internet.
func out(kb float64) float64 { return kb / 1e6 * priceOut }
