package published

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"guidon/pkg/jsonbody"
)

// A Store is where states are published: a bucket, or a folder.
type Store interface {
	// Get returns an object of at most so many bytes, and its ETag. The error is ErrAbsent if there is no such object, and ErrSame if it
	// still has the ETag that the caller names.
	Get(ctx context.Context, name, etag string, most int64) (content []byte, newTag string, err error)
}

// Errors of Get, and of what calls it.
var (
	ErrAbsent = errors.New("nothing is published there")
	ErrSame   = errors.New("it is the same as before")
)

// The bounds of objects that are read.
const (
	maxHead       = 16 << 10
	maxRevoked    = 1 << 20
	maxCompressed = 64 << 20
)

// HeadName returns the name of the head of an environment. Names of environments have no characters that are special in it.
func HeadName(environment string) string { return environment + "/head.json" }

// DocumentName returns the name of the document of a head.
func DocumentName(h Head) string { return DocumentsOf(h.Environment) + h.Document + ".json.gz" }

// DocumentsOf returns how the names of all documents of an environment begin.
func DocumentsOf(environment string) string { return environment + "/documents/" }

// RevokedName is the name of the object with revoked tokens.
const RevokedName = "revoked.json"

// ReadHead returns the head of an environment and its ETag. The errors are those of Get.
func ReadHead(ctx context.Context, s Store, environment, etag string) (Head, string, error) {
	content, newTag, err := s.Get(ctx, HeadName(environment), etag, maxHead)
	if err != nil {
		return Head{}, "", err
	}
	var head Head
	if err := json.Unmarshal(jsonbody.WithoutMark(content), &head); err != nil {
		return Head{}, "", fmt.Errorf("the head of %s: %w", environment, err)
	}
	if head.Format != Format || head.Environment != environment {
		return Head{}, "", fmt.Errorf("the head of %s has format %d of environment %q; this version reads format %d", environment, head.Format, head.Environment, Format)
	}
	return head, newTag, nil
}

// ReadDocument returns the document of a head. It is whole, or there is an error.
func ReadDocument(ctx context.Context, s Store, head Head) (*Document, error) {
	content, _, err := s.Get(ctx, DocumentName(head), "", maxCompressed)
	if err != nil {
		return nil, fmt.Errorf("the document of %s: %w", head.Environment, err)
	}
	d, err := Decode(bytes.NewReader(content), head.Hash)
	if err == nil && d.Environment != head.Environment {
		err = fmt.Errorf("the document of %s is of %s", head.Environment, d.Environment)
	}
	return d, err
}

// ReadRevoked returns the hashes of revoked tokens, and the ETag of the list. The errors are those of Get.
func ReadRevoked(ctx context.Context, s Store, etag string) (hashes []string, newTag string, err error) {
	content, newTag, err := s.Get(ctx, RevokedName, etag, maxRevoked)
	if err != nil {
		return nil, "", err
	}
	var list struct {
		Tokens []string `json:"tokens"`
	}
	if err := json.Unmarshal(jsonbody.WithoutMark(content), &list); err != nil {
		return nil, "", fmt.Errorf("%s: %w", RevokedName, err)
	}
	return list.Tokens, newTag, nil
}

// A Folder is a folder with a copy of a bucket.
type Folder string

// Get reads a file.
func (f Folder) Get(_ context.Context, name, etag string, most int64) ([]byte, string, error) {
	if !filepath.IsLocal(name) {
		return nil, "", ErrAbsent
	}
	path := filepath.Join(string(f), filepath.FromSlash(name))
	if info, err := os.Stat(path); err == nil && info.Size() > most {
		return nil, "", fmt.Errorf("%s is larger than %d bytes", path, most)
	}
	content, err := os.ReadFile(path) //nolint:gosec // G304: the operator names the folder
	if errors.Is(err, os.ErrNotExist) {
		return nil, "", ErrAbsent
	}
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(content)
	if newTag := hex.EncodeToString(sum[:]); newTag != etag {
		return content, newTag, nil
	}
	return nil, "", ErrSame
}
