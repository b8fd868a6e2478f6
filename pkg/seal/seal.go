// Package seal encrypts the secrets of tokens, so that the table and copies of it contain no secret in plain text.
//
// A Box has one or more keys. The first key encrypts, and any of them decrypts: an encrypted secret contains the ID of its
// key. To replace a key:
//
//  1. add the new key as the second line, and wait until every process has read it (see secretsmanager.MaxAge);
//  2. move it to the first line. From then on it encrypts, and the old key still decrypts;
//  3. when every process has read that too, let bootstrap.Seed run: it encrypts the stored secrets again.
//
// Then remove the old key.
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

// MinKey is the minimum length of a key in characters: 32 random letters and digits have more than 128 bits.
const MinKey = 32

// A Box encrypts and decrypts secrets with AES-256-GCM and a random nonce.
type Box struct {
	keys []key // the first one encrypts
}

var _ flags.Sealer = (*Box)(nil)

// A key is 256 bits derived from a text, and an ID that reveals nothing about them.
type key struct {
	id   string
	aead cipher.AEAD
}

// New returns a box with the keys of a text: random characters, one key per line. Errors contain the number of a line,
// never a key.
func New(keys string) (*Box, error) {
	box := &Box{}
	for i, text := range strings.Fields(keys) {
		if len(text) < MinKey {
			return nil, fmt.Errorf("encryption key %d for tokens has %d characters; use at least %d random characters", i+1, len(text), MinKey)
		}
		k, err := newKey(text)
		if err != nil {
			return nil, err
		}
		box.keys = append(box.keys, k)
	}
	if len(box.keys) == 0 {
		return nil, fmt.Errorf("the encryption key for tokens is missing; add a line of at least %d random characters", MinKey)
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

// Derive returns 64 hexadecimal digits that are derived from the first of the keys of a text, and do not reveal it. Each purpose has others.
func Derive(keys, purpose string) (string, error) {
	if _, err := New(keys); err != nil {
		return "", err
	}
	digits, err := derive(strings.Fields(keys)[0], purpose, sha256.Size)
	return hex.EncodeToString(digits), err
}

func derive(text, purpose string, length int) ([]byte, error) {
	return hkdf.Key(sha256.New, []byte(text), nil, purpose, length)
}

// Seal encrypts a secret for the token with a hash. The result is <key ID>.<nonce and ciphertext>.
func (b *Box) Seal(secret, hash string) string {
	k := b.keys[0]
	sealed := k.aead.Seal(nil, nil, []byte(secret), []byte(hash)) //nolint:gosec // no nonce: this AEAD draws one and prepends it
	return k.id + "." + base64.RawURLEncoding.EncodeToString(sealed)
}

// IsCurrent reports whether an encrypted secret has the key that encrypts now.
func (b *Box) IsCurrent(sealed string) bool { return strings.HasPrefix(sealed, b.keys[0].id+".") }

// Open decrypts the secret of the token with a hash.
func (b *Box) Open(sealed, hash string) (string, error) {
	id, text, _ := strings.Cut(sealed, ".")
	for _, k := range b.keys {
		if k.id != id {
			continue
		}
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			return "", fmt.Errorf("decrypting a secret with key %s: the encrypted secret was altered: %w", id, err)
		}
		secret, err := k.aead.Open(nil, nil, raw, []byte(hash))
		if err != nil {
			return "", fmt.Errorf("decrypting a secret with key %s: the encrypted secret was altered: %w", id, err)
		}
		return string(secret), nil
	}
	return "", fmt.Errorf("decrypting a secret: there is no key %.8q; add the key that encrypted it", id)
}
