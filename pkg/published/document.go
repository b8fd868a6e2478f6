// Package published has the form in which the state of an environment is published, so that Guidon Edge can serve it when the origin
// does not answer, also when the origin's whole region is gone. Package bucket keeps it in S3.
//
// There are two objects for each environment. A document is immutable: everything that the environment serves, as compressed JSON. The
// head is small and names the current document. Heads are ordered as the feed is: by epoch, and then by number. An operator can add
// revoked.json, with tokens that are no longer valid.
package published

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"guidon/pkg/access"
	"guidon/pkg/answers"
)

// Format is the version of the form of documents and heads. Increase it if earlier readers would misread a new document.
const Format = 1

// maxDocument bounds the JSON of a document that is read: 10,000 flags of 25 KB.
const maxDocument = 256 << 20

// A Document is everything that an environment serves.
type Document struct {
	Environment string                  `json:"environment"` // its name
	Features    []answers.ClientFeature `json:"features"`    // sorted by name
	Segments    []answers.ClientSegment `json:"segments"`    // sorted by ID
	Tokens      []Token                 `json:"tokens"`      // client and frontend tokens that may read the environment, sorted by hash
}

// A Token is a client or frontend token. Its secret is not here. Admin tokens and those of people never are.
type Token struct {
	Hash      string           `json:"hash"` // SHA-256 of the secret, in hexadecimal digits
	Type      access.TokenType `json:"type"`
	Projects  []string         `json:"projects"`           // IDs of those that exist, or only *
	ExpiresAt time.Time        `json:"expiresAt,omitzero"` // zero for never
}

// A Head names the current document of an environment.
type Head struct {
	Format      int       `json:"format"`
	Environment string    `json:"environment"`
	Epoch       string    `json:"epoch"`
	EpochAt     time.Time `json:"epochAt,omitzero"` // when the epoch began; zero for the first one of a table
	Number      int64     `json:"number"`           // of the newest entry of the feed that the document includes
	Revision    int64     `json:"revision"`         // the number that deltas of the same flags and segments have
	Document    string    `json:"document"`         // names the document
	Hash        string    `json:"hash"`             // SHA-256 of the document's JSON, in hexadecimal digits
	WrittenAt   time.Time `json:"writtenAt"`        // when the document was last known to be current
}

// Compare tells whether a head is older (-1) or newer (1) than another one, or of the same state (0). A later epoch is newer with any
// number: a restored table repeats numbers.
func (h Head) Compare(other Head) int {
	return cmp.Or(h.EpochAt.Compare(other.EpochAt), cmp.Compare(h.Epoch, other.Epoch), cmp.Compare(h.Number, other.Number))
}

// Encode returns the JSON of a document and its hash. Equal documents have equal JSON.
func (d *Document) Encode() (content []byte, hash string, err error) {
	content, err = json.Marshal(d, json.Deterministic(true))
	sum := sha256.Sum256(content)
	return content, hex.EncodeToString(sum[:]), err
}

// Compress returns the content of a document as it is stored.
func Compress(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}

// Decode returns the document with a hash, from its compressed content. Anything else, and what is larger than maxDocument, is an error.
func Decode(compressed io.Reader, hash string) (*Document, error) {
	plain, err := gzip.NewReader(compressed)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(plain, maxDocument+1))
	switch sum := sha256.Sum256(content); {
	case err != nil:
		return nil, err
	case len(content) > maxDocument:
		return nil, fmt.Errorf("the document is larger than %d MiB", maxDocument>>20)
	case hex.EncodeToString(sum[:]) != hash:
		return nil, fmt.Errorf("the document does not have the hash %s that its head names", hash)
	}
	d := &Document{}
	return d, json.Unmarshal(content, d)
}

// NewEpoch returns a name for an epoch of the feed that was never used, with eight random digits. It begins with the time, so that a later
// epoch can be told from an earlier one. It is in the ETags of deltas.
func NewEpoch(now time.Time, random string) string { return fmt.Sprintf("%08x%s", now.Unix(), random) }

// EpochTime returns when an epoch began; the zero time for one whose name does not tell it.
func EpochTime(epoch string) time.Time {
	const length, digits = 16, 8
	if len(epoch) != length {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(epoch[:digits], 16, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
