package httpapi

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/google/uuid"

	"guidon/pkg/flags"
)

// A value names what must be unique: the nth of its kind that an item of the request asked for. A function that runs again
// in the same round asks in the same order, and so gets the same again.
type value struct {
	item int
	kind string
	n    int
}

// fixed is the next value of a kind, which create makes if no earlier attempt asked for it.
func (tx *Tx) fixed(kind string, values map[value]any, create func() any) any {
	at := value{tx.item, kind, tx.asked[kind]}
	tx.asked[kind]++
	if _, known := values[at]; !known {
		values[at] = create()
	}
	return values[at]
}

// NewID is a new identifier, a random UUID. It is fixed for a round.
func (tx *Tx) NewID() string {
	return tx.fixed("id", tx.round.values, func() any { return uuid.NewString() }).(string)
}

// Random is 256 random bits as 64 hexadecimal digits, for a secret. It is fixed for a round.
func (tx *Tx) Random() string {
	return tx.fixed("random", tx.round.values, func() any {
		var b [32]byte
		_, _ = rand.Read(b[:]) // never fails
		return hex.EncodeToString(b[:])
	}).(string)
}

// NextID is a new integer id for an entity. It is fixed for the request, whatever the number of rounds, and costs one call of
// the store. A dry run takes none: its ids are below 0.
func (tx *Tx) NextID(entity flags.Entity) int64 {
	if tx.round.dry {
		return tx.fixed("number", tx.round.values, func() any { return -int64(len(tx.round.values)) - 1 }).(int64)
	}
	return tx.fixed("number of "+string(entity), tx.request.values, func() any {
		id, err := tx.service.store.NextID(tx.ctx, entity)
		if err != nil {
			tx.Fail(err)
		}
		return id
	}).(int64)
}

// Seal encrypts a secret for the store. The result is fixed for a round.
func (tx *Tx) Seal(secret, hash string) string {
	sealer := tx.sealer()
	return tx.fixed("sealed", tx.round.values, func() any { return sealer.Seal(secret, hash) }).(string)
}

// Unseal decrypts a secret of the store.
func (tx *Tx) Unseal(sealed, hash string) (string, error) { return tx.sealer().Open(sealed, hash) }

// sealer brings the key for the secrets of tokens: it may take a call, the first time in a process.
func (tx *Tx) sealer() flags.Sealer {
	tx.NoStore()
	type sealer struct{}
	return memoized(tx, sealer{}, func() (flags.Sealer, error) {
		if tx.service.config.Sealer == nil {
			return nil, flags.Errorf(flags.Internal, "this process has no key for the secrets of tokens")
		}
		return tx.service.config.Sealer(tx.ctx)
	})
}
