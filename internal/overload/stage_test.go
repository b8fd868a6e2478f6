package overload

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"guidon/pkg/backoff"
	"guidon/pkg/dynamo"
)

const tenth = 10

// Limits and durations of AWS.
const (
	// Capacity is how many units of reads a partition serves in a second. Unused ones of the last second are not lost.
	Capacity = 3000

	scaling      = 1000                   // instances that Lambda starts in 10 s
	coldStart    = 350 * time.Millisecond // of an instance
	own          = 2 * time.Millisecond   // of a function, for a poll
	lostReads    = 10_000                 // one read in so many gets no response
	snapshotSize = 40                     // units of the snapshot that a new instance reads
)

// latencies are the milliseconds until DynamoDB responds to a read, also if it refuses it: each is as likely.
var latencies = []int64{2, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 6, 6, 8, 13}

// A Scenario is what happens to a stage.
type Scenario struct {
	Seed        uint64
	Mix         []Kind          // of the SDKs, in turn
	Usual, Peak float64         // polls a second before and after the peak, and in it, as multiples of Capacity
	Warm, High  time.Duration   // how long the usual load and the peak last
	Calm        time.Duration   // how long the usual load lasts after the peak; the SDKs that the peak added are gone
	Feed        backoff.Retries // of the read of the feed
	Quota       uint            // of retries, see dynamo.Options
	RetryAfter  [2]int          // seconds, least and most
	Concurrency int             // of the function
	MaxAge      time.Duration   // CLIENT_MAX_AGE
	Silent      time.Duration   // how long DynamoDB responds to nothing when the peak begins
}

// A Second is what happened in a second, to a tenth of everything: see Sum.
type Second struct {
	Served  int // polls that an SDK got an answer to
	Wasted  int // polls that were answered when the SDK no longer waited
	Refused int // polls with 503, Lambda's included
	Reads   int // of the feed
	Busy    int // functions, at most
}

type stage struct {
	Scenario
	random *rand.Rand
	now    int        // milliseconds
	events [][]func() // by millisecond

	feed, snapshots bucket
	idle            []*instance
	instances, busy int
	starts          bucket // of instances
	seconds         []Second
}

// A bucket has tokens, which come back at a rate, up to those of a burst.
type bucket struct {
	thousandths, most int // of tokens
	rate              int // tokens a second
	at                int
}

func newBucket(rate, burst int) bucket {
	return bucket{thousandths: burst * 1000, most: burst * 1000, rate: rate}
}

// take takes tokens, if there is one at least: a large read is let through and paid later.
func (b *bucket) take(now, n int) bool {
	b.thousandths = min(b.most, b.thousandths+(now-b.at)*b.rate)
	b.at = now
	if b.thousandths < 1000 {
		return false
	}
	b.thousandths -= n * 1000
	return true
}

// An instance is one of Lambda, which serves one request at a time.
type instance struct {
	client aws.RetryerV2
	warm   bool // whether it has the flags
	readAt int  // when it last read the feed, with MaxAge
}

// Run simulates a scenario. It returns its seconds, and how old the flags of each SDK are when the peak ends.
func Run(scenario Scenario) (seconds []Second, ages []time.Duration) {
	end := scenario.Warm + scenario.High + scenario.Calm
	s := &stage{
		Scenario: scenario, random: rand.New(rand.NewPCG(scenario.Seed, 0)), events: make([][]func(), end.Milliseconds()),
		feed: newBucket(Capacity/tenth, Capacity/tenth), snapshots: newBucket(Capacity/tenth, Capacity/tenth),
		starts:  newBucket(scaling/10/tenth, scaling/tenth),
		seconds: make([]Second, int(end.Seconds())),
	}
	usual, peak := s.add(scenario.Usual), []*sdk(nil)
	s.at(scenario.Warm, func() { peak = s.add(scenario.Peak - scenario.Usual) })
	s.at(scenario.Warm+scenario.High, func() {
		for _, one := range slices.Concat(usual, peak) {
			ages = append(ages, time.Duration(s.now-one.served)*time.Millisecond)
		}
		for _, one := range peak {
			one.stopped = true
		}
	})
	for ; s.now < len(s.events); s.now++ {
		for i := 0; i < len(s.events[s.now]); i++ { // events can add some for the same millisecond
			s.events[s.now][i]()
		}
		s.events[s.now] = nil
	}
	slices.Sort(ages)
	return s.seconds, ages
}

// at lets something happen after a time.
func (s *stage) at(after time.Duration, do func()) {
	if t := s.now + int(after.Milliseconds()); t < len(s.events) {
		s.events[t] = append(s.events[t], do)
	}
}

func (s *stage) second() *Second { return &s.seconds[s.now/1000] }

// An answer is the response to a poll.
type answer struct {
	ok         bool
	retryAfter time.Duration // 0 for none
}

// poll is a request to the function.
func (s *stage) poll(respond func(answer)) {
	var on *instance
	wait := own
	switch {
	case len(s.idle) > 0:
		on = s.idle[len(s.idle)-1]
		s.idle = s.idle[:len(s.idle)-1]
	case s.instances < s.Concurrency/tenth && s.starts.take(s.now, 1):
		on = &instance{client: dynamo.NewRetryer(s.Quota), readAt: math.MinInt}
		s.instances++
		wait += coldStart
	default: // Lambda refuses
		s.second().Refused++
		respond(answer{})
		return
	}
	s.busy++
	s.second().Busy = max(s.second().Busy, s.busy)
	s.at(wait, func() {
		s.serve(on, func(ok bool) {
			s.busy--
			s.idle = append(s.idle, on)
			a := answer{ok: ok}
			if !ok {
				s.second().Refused++
				a.retryAfter = time.Duration(s.RetryAfter[0]+s.random.IntN(s.RetryAfter[1]-s.RetryAfter[0]+1)) * time.Second
			}
			respond(a)
		})
	})
}

// functionTime is how long a function tries: see httpapi.
const functionTime = 14 * time.Second

// serve is what a function does for a poll: it reads the feed, and if it is new the snapshot.
func (s *stage) serve(on *instance, done func(ok bool)) {
	if on.warm && s.MaxAge > 0 && s.now-on.readAt < int(s.MaxAge.Milliseconds()) {
		done(true)
		return
	}
	began, units := s.now, 1
	if !on.warm {
		units = 2 // the head of the snapshots is in the same partition
	}
	until := s.now + int(functionTime.Milliseconds())
	s.call(on, &s.feed, units, s.Feed, until, func(ok bool) {
		switch {
		case !ok:
			done(false)
		case on.warm:
			on.readAt = began
			done(true)
		default:
			s.call(on, &s.snapshots, snapshotSize, backoff.Patient, until, func(ok bool) {
				on.warm, on.readAt = ok, began
				done(ok)
			})
		}
	})
}

var (
	errThrottled = &smithy.GenericAPIError{Code: "ProvisionedThroughputExceededException"}
	errTimeout   = &smithyhttp.RequestSendError{Err: context.DeadlineExceeded}
)

// call is a call to DynamoDB, with the attempts that the retryer of pkg/dynamo allows until a time.
func (s *stage) call(on *instance, partition *bucket, units int, bounds backoff.Retries, until int, done func(ok bool)) {
	ctx := backoff.WithRetries(context.Background(), bounds)
	retryer := dynamo.NewCallRetryer(ctx, on.client)
	// then goes on after a time, or ends the call when its time is over.
	then := func(after time.Duration, do func()) {
		if left := time.Duration(until-s.now) * time.Millisecond; after > left {
			after, do = left, func() { done(false) }
		}
		s.at(after, do)
	}
	var attempt func(n int, releaseRetry func(error) error)
	attempt = func(n int, releaseRetry func(error) error) {
		release, _ := on.client.GetAttemptToken(ctx)
		var err error
		took := time.Duration(latencies[s.random.IntN(len(latencies))]) * time.Millisecond
		if partition == &s.feed {
			s.second().Reads++
		}
		switch {
		case s.silent() || s.random.IntN(lostReads) == 0:
			err, took = errTimeout, cmp.Or(bounds.Timeout(n), dynamo.AttemptTimeout)
		case !partition.take(s.now, units):
			err = errThrottled
		}
		then(took, func() {
			_, _ = releaseRetry(err), release(err)
			if err == nil || !retryer.IsErrorRetryable(err) || n >= retryer.MaxAttempts() {
				done(err == nil)
				return
			}
			next, empty := retryer.GetRetryToken(ctx, err)
			if empty != nil {
				done(false)
				return
			}
			then(time.Duration(s.random.Int64N(int64(bounds.Longest(n))))+time.Millisecond, func() { attempt(n+1, next) })
		})
	}
	attempt(1, func(error) error { return nil })
}

func (s *stage) silent() bool {
	since := time.Duration(s.now)*time.Millisecond - s.Warm
	return since >= 0 && since < s.Silent
}

// Sum adds seconds up. Busy is the maximum.
func Sum(seconds []Second) (sum Second) {
	for _, one := range seconds {
		sum.Served, sum.Wasted, sum.Refused = sum.Served+one.Served*tenth, sum.Wasted+one.Wasted*tenth, sum.Refused+one.Refused*tenth
		sum.Reads, sum.Busy = sum.Reads+one.Reads*tenth, max(sum.Busy, one.Busy*tenth)
	}
	return sum
}
