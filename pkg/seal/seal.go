// Package seal encrypts the secrets of tokens, so that neither a look into the table nor a copy of it shows one.
//
// A Box is made of keys: the first seals, all of them open. What it seals names its key, so keys can be changed while
// what older ones have sealed still opens:
//
//  1. add the new key as the second line, and wait until every process has it (see secretsmanager.MaxAge);
//  2. move it to the first line. From then on it seals, and the old one still opens.
//
// The old key can go once nothing is left that it has sealed.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	"guidon/pkg/flags"
)

// MinKey is how many characters a key must have: 32 random letters and digits are more than 128 bits.
const MinKey = 32

// A Box seals and opens (AES-256-GCM, each time with a nonce of its own, drawn at random).
type Box struct {
	keys []key // the first one seals
}

var _ flags.Sealer = (*Box)(nil)

// A key is 256 bits made of the text that somebody gave, and a name for it that tells nothing about them.
type key struct {
	id   string
	aead cipher.AEAD
}

// New makes a box of keys: random text, one key a line. An error says which line is too short, and shows none.
func New(keys string) (*Box, error) {
	box := &Box{}
	for i, text := range strings.Fields(keys) {
		if len(text) < MinKey {
			return nil, fmt.Errorf("key %d to seal tokens with has %d characters; it needs at least %d, drawn at random", i+1, len(text), MinKey)
		}
		k, err := newKey(text)
		if err != nil {
			return nil, err
		}
		box.keys = append(box.keys, k)
	}
	if len(box.keys) == 0 {
		return nil, fmt.Errorf("there is no key to seal tokens with; it is a line of at least %d random characters", MinKey)
	}
	return box, nil
}

func newKey(text string) (key, error) {
	secret, err := derive(text, "guidon: the key that seals tokens", sha256.Size)
	if err != nil {
		return key{}, err
	}
	id, err := derive(text, "guidon: the name of that key", 4)
	if err != nil {
		return key{}, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return key{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return key{id: hex.EncodeToString(id), aead: aead}, err
}

func derive(text, purpose string, length int) ([]byte, error) {
	return hkdf.Key(sha256.New, []byte(text), nil, purpose, length)
}

// Seal is a secret as it may be stored: <name of the key>.<nonce and ciphertext>.
func (b *Box) Seal(secret, hash string) string {
	k := b.keys[0]
	sealed := k.aead.Seal(nil, nil, []byte(secret), []byte(hash)) //nolint:gosec // no nonce: this AEAD draws one and puts it in front
	return k.id + "." + base64.RawURLEncoding.EncodeToString(sealed)
}

// Open is the secret that was sealed for that hash.
func (b *Box) Open(sealed, hash string) (string, error) {
	id, text, _ := strings.Cut(sealed, ".")
	for _, k := range b.keys {
		if k.id != id {
			continue
		}
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			return "", fmt.Errorf("what key %s sealed was altered: %w", id, err)
		}
		secret, err := k.aead.Open(nil, nil, raw, []byte(hash))
		if err != nil {
			return "", fmt.Errorf("what key %s sealed was altered: %w", id, err)
		}
		return string(secret), nil
	}
	return "", fmt.Errorf("there is no key %.8q, which has sealed this", id)
}
