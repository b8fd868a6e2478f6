package linear

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
	"guidon/pkg/serving"
)

// chaos freezes and kills instances, writes, deletes and damages snapshots, and resets the feed, in rounds. It ends the history when
// it has done so, and every count that the history needs is there. It returns how often it did what.
func (h *history) chaos(rounds int) map[string]int {
	random := rand.New(rand.NewPCG(h.seed, 99))
	done := map[string]int{}
	steps := []func(){
		func() { h.frozen(done, h.oneOf(random)) },
		func() { h.kill(done, h.oneOf(random)) },
		func() { h.writeSnapshot(done); h.kill(done, h.oneOf(random)) },
		func() { h.frozen(done, h.instances[:2]...) },
		func() { h.spoilSnapshot(done, random); h.kill(done, h.oneOf(random)) },
		func() { h.reset(done) },
		func() { h.writeSnapshot(done); h.frozen(done, h.instances...) },
	}
	for range rounds {
		for _, step := range steps {
			if !h.goesOn() {
				return done
			}
			step()
			h.await(2*time.Second, func() bool { return false }, 10)
		}
	}
	h.await(time.Minute, func() bool { return len(h.untested(done)) == 0 }, math.MaxInt)
	h.ended.Store(true)
	return done
}

// await waits until a number of changes was acknowledged, or done is true, or a time has passed.
func (h *history) await(most time.Duration, done func() bool, changes int) {
	begun, before := time.Now(), h.acked.Load()
	for time.Since(begun) < most && h.goesOn() && !done() && h.acked.Load()-before < int64(changes) {
		time.Sleep(10 * time.Millisecond)
	}
}

func (h *history) log(format string, args ...any) { h.t.Logf(format, args...) }

func (h *history) oneOf(random *rand.Rand) *instance {
	return h.instances[random.IntN(len(h.instances))]
}

// frozen freezes instances until the feed was turned twice. Then what they do not know is in pages.
func (h *history) frozen(done map[string]int, instances ...*instance) {
	signal := func(s syscall.Signal) {
		for _, i := range instances {
			if err := i.signal(s); err != nil {
				h.problem("instance %d: %v", i.number, err)
			}
		}
	}
	done["freezes"] += len(instances)
	turn := h.turn()
	signal(syscall.SIGSTOP)
	h.log("freeze %d instances %v", len(instances), h.now())
	defer func() { h.log("thaw %v", h.now()) }()
	h.await(10*time.Second, func() bool { return h.turn() >= turn+2 }, math.MaxInt)
	signal(syscall.SIGCONT)
}

func (h *history) turn() int64 {
	view, err := h.quiet.Load(h.t.Context(), []flags.Key{flags.FeedKey()})
	if err != nil {
		h.problem("the feed: %v", err)
		return 0
	}
	return flags.Find[*flags.Feed](view, flags.FeedKey()).Turn
}

// kill kills the process of an instance and starts another one.
func (h *history) kill(done map[string]int, i *instance) {
	done["kills"]++
	h.log("kill %d %v", i.number, h.now())
	if err := i.kill(h.t.Context()); err != nil {
		h.problem("%v", err)
	}
}

func (h *history) reset(done map[string]int) {
	done["resets"]++
	h.log("reset %v", h.now())
	defer func() { h.log("reset done %v", h.now()) }()
	if err := h.store.ResetFeed(h.t.Context(), fmt.Sprintf("epoch-%d", done["resets"])); err != nil {
		h.problem("the feed cannot be reset: %v", err)
	}
}

// writeSnapshot writes a snapshot: as if the last one were from the day before yesterday.
func (h *history) writeSnapshot(done map[string]int) {
	h.log("snapshot %v", h.now())
	days := 2 * (1 + done["snapshots written"])
	reader := serving.NewReader(h.store, serving.ReaderOptions{Now: func() time.Time { return time.Now().AddDate(0, 0, days) }})
	written, err := reader.WriteSnapshot(h.t.Context())
	switch {
	case err != nil && flags.KindOf(err) == flags.Unavailable:
		h.log("no snapshot: %v", err) // the store throttled a read that is not repeated; the function tries again at its next run
	case err != nil:
		h.problem("a snapshot: %v", err)
	case written:
		done["snapshots written"]++
	}
}

// spoilSnapshot deletes the head of the current snapshot, deletes its first chunk, or replaces the chunk by other bytes.
func (h *history) spoilSnapshot(done map[string]int, random *rand.Rand) {
	ctx, table := context.WithoutCancel(h.t.Context()), h.store.Table()
	view, err := h.quiet.Load(ctx, []flags.Key{flags.SnapshotKey()})
	if err != nil {
		h.problem("%v", err)
		return
	}
	head := flags.Find[*flags.SnapshotHead](view, flags.SnapshotKey())
	if head == nil {
		return
	}
	key := func(pk, sk string) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk}}
	}
	chunk := key(fmt.Sprintf("SNAPSHOT#%s.%d.%s", head.Epoch, head.Number, head.Hash), "CHUNK#0000")
	switch random.IntN(3) {
	case 0:
		_, err = h.raw.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: key("SNAPSHOT#HEAD", fmt.Sprint("FORM#", flags.SnapshotForm))})
	case 1:
		_, err = h.raw.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: chunk})
	default:
		chunk["content"] = &types.AttributeValueMemberB{Value: []byte("damaged")}
		_, err = h.raw.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: chunk})
	}
	if err != nil {
		h.problem("spoiling a snapshot: %v", err)
		return
	}
	done["snapshots deleted or damaged"]++
}
