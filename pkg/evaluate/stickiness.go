package evaluate

import "github.com/twmb/murmur3"

// A user stays on the same side of a rollout, and keeps a variant, because both are chosen by a hash of the user's ID. The
// stickiness says which context field is the ID. All SDKs use murmur3 with these seeds.
const (
	rolloutSeed uint32 = 0
	variantSeed uint32 = 86028157
)

// bucket places an ID in one of the buckets 1 to n. The murmur3 library is the one that Unleash's Go SDK uses. The buffer
// avoids an allocation unless group and ID are long.
func bucket(group, id string, seed, n uint32) uint32 {
	var buffer [128]byte
	text := append(append(append(buffer[:0], group...), ':'), id...)
	return murmur3.SeedSum32(seed, text)%n + 1
}

// A stickiness is a compiled stickiness parameter.
type stickiness struct {
	kind  stickinessKind
	field field
}

type stickinessKind uint8

const (
	defaultStickiness stickinessKind = iota // userId, else sessionId, else random
	randomStickiness
	fieldStickiness
)

func newStickiness(name string) stickiness {
	switch name {
	case "", "default":
		return stickiness{kind: defaultStickiness}
	case "random":
		return stickiness{kind: randomStickiness}
	}
	return stickiness{fieldStickiness, newField(name)}
}

// id returns the ID of the user, or "" if the context has none or the choice is random.
func (s stickiness) id(c *Context) string {
	switch s.kind {
	case randomStickiness:
		return ""
	case fieldStickiness:
		return s.field.of(c)
	}
	if id := (field{kind: userIDField}).of(c); id != "" {
		return id
	}
	return field{kind: sessionIDField}.of(c)
}
