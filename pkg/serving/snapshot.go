package serving

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

// A snapshot is the stored form of a State. Its Format is flags.SnapshotForm: instances ignore snapshots of another one.
type snapshot struct {
	Format int
	State  *State
}

// A snapshot is written after snapshotEntries entries of the feed, or after snapshotAge.
const (
	snapshotEntries = 200
	snapshotAge     = 24 * time.Hour
)

// WriteSnapshot writes a snapshot if the current one is old, and reports whether it did. A scheduled function calls it.
func (r *Reader) WriteSnapshot(ctx context.Context) (written bool, err error) {
	view, err := r.loadFeed(ctx, nil, true)
	if err != nil {
		return false, err
	}
	feed, head := feedOf(view), flags.Find[*flags.SnapshotHead](view, flags.SnapshotKey())
	if head != nil && head.Epoch == feed.Epoch && feed.Number-head.Number < snapshotEntries && r.wallClock().Sub(head.At) < snapshotAge {
		return false, nil
	}
	state, err := r.update(ctx, view)
	if err != nil {
		return false, err
	}
	return true, r.writeSnapshot(ctx, state)
}

func (r *Reader) writeSnapshot(ctx context.Context, state *State) error {
	content, err := encodeSnapshot(state)
	if err != nil {
		return err
	}
	return r.store.WriteSnapshot(ctx, flags.SnapshotHead{Epoch: state.Epoch, Number: state.Number, At: r.wallClock().UTC()}, content)
}

// fromSnapshot returns the state of the current snapshot. nil if there is none of this epoch and format, or if it is damaged:
// a snapshot saves time and is never needed. Unavailable if the store throttled the read or failed: reading everything instead would load
// it even more.
func (r *Reader) fromSnapshot(ctx context.Context, view flags.View) (*State, error) {
	feed, head := feedOf(view), flags.Find[*flags.SnapshotHead](view, flags.SnapshotKey())
	if head == nil || head.Epoch != feed.Epoch || head.Number > feed.Number {
		return nil, nil
	}
	content, err := r.store.ReadSnapshot(ctx, head)
	if flags.KindOf(err) == flags.Unavailable {
		return nil, err
	}
	var state *State
	if err == nil && content == nil {
		err = fmt.Errorf("a part of snapshot %d is missing or damaged", head.Number)
	}
	if err == nil {
		state, err = decodeSnapshot(content, head)
	}
	if err != nil {
		r.options.Report(ctx, "the snapshot could not be read", err)
	}
	return state, nil
}

func encodeSnapshot(state *State) ([]byte, error) {
	var content bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&content, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if err := json.MarshalWrite(compressed, snapshot{flags.SnapshotForm, state}, json.OmitZeroStructFields(true)); err != nil {
		return nil, err
	}
	if err := compressed.Close(); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
}

// decodeSnapshot returns nil for a snapshot of another format.
func decodeSnapshot(content []byte, head *flags.SnapshotHead) (*State, error) {
	plain, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	var s snapshot
	if err := json.UnmarshalRead(plain, &s); err != nil {
		return nil, err
	}
	if s.Format != flags.SnapshotForm {
		return nil, nil
	}
	if s.State == nil || s.State.Environments == nil || s.State.Epoch != head.Epoch || s.State.Number != head.Number {
		return nil, fmt.Errorf("snapshot %d is incomplete", head.Number)
	}
	state := s.State
	if state.Flags == nil { // empty maps are left out
		state.Flags = map[string]*Flag{}
	}
	if state.Segments == nil {
		state.Segments = map[int64]*Segment{}
	}
	if state.Tokens == nil {
		state.Tokens = map[string]*access.Token{}
	}
	if state.Projects == nil {
		state.Projects = map[string]*flags.Project{}
	}
	state.numberTokens()
	return state, nil
}
