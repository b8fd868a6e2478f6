package seal

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// FromFile returns a box with the keys in a file. It creates a missing file with a new key that only its owner can read.
// Processes that start at the same time use the same key, and a killed process never leaves half a file. If other users
// can read an existing file, FromFile removes that permission.
func FromFile(path string) (*Box, error) {
	keys, err := os.ReadFile(path) //nolint:gosec // the operator chooses the file
	if errors.Is(err, fs.ErrNotExist) {
		if err := createFile(path); err != nil {
			return nil, fmt.Errorf("creating the key file: %w", err)
		}
		keys, err = os.ReadFile(path) //nolint:gosec // the same
	}
	if err != nil {
		return nil, fmt.Errorf("reading the key file: %w", err)
	}
	box, err := New(string(keys))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		_ = os.Chmod(path, 0o600) // fails where the file is mounted read-only, as the secrets of containers are
	}
	return box, nil
}

// createFile writes a new key to a temporary file and links it to path, unless another process was faster.
func createFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*") // readable by its owner only
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(newSecret() + "\n")
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// newSecret is 256 random bits.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
