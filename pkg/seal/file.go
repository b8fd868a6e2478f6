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

// FromFile makes a box of the keys in a file. A file that is not there is made, with a new key that only its owner can
// read: processes that start at once all end up with the same one, and one that is killed leaves a whole file or none.
// If other users can read a file that is there, FromFile takes that away.
func FromFile(path string) (*Box, error) {
	keys, err := os.ReadFile(path) //nolint:gosec // whoever runs this names the file
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeFile(path); err != nil {
			return nil, fmt.Errorf("making the key file: %w", err)
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

// makeFile writes a new key beside path and then gives it the name, unless another process was first.
func makeFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*") // for its owner only
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
