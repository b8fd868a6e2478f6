package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// A lock reserves data for one server. It consists of two files beside the data: data.lock, which is locked while the data
// is in use, and data.engine, a note that says which engine serves the data and at which address.
type lock struct {
	data string
	file *flock.Flock
}

// A note is the content of data.engine.
type note struct {
	PID   int    `json:"pid"` // of the engine
	URL   string `json:"url"` // with the secret
	Owner int    `json:"owner"`
}

func lockData(data string) (*lock, error) {
	l := &lock{data, flock.New(data+".lock", flock.SetPermissions(0o600))}
	locked, err := l.file.TryLock()
	if err != nil {
		return nil, fmt.Errorf("locking %s.lock: %w", data, err)
	}
	if !locked {
		return nil, fmt.Errorf("%s is in use by process %d: stop it, or set another DATA_DIR", data, l.readNote().Owner)
	}
	return l, nil
}

// readNote returns the note, or zeros when there is none that can be read.
func (l *lock) readNote() (n note) {
	raw, err := os.ReadFile(l.data + ".engine")
	if err != nil || json.Unmarshal(raw, &n) != nil {
		return note{}
	}
	return n
}

func (l *lock) writeNote(pid int, url string) error {
	raw, err := json.Marshal(note{PID: pid, URL: url, Owner: os.Getpid()})
	if err != nil {
		return err
	}
	return os.WriteFile(l.data+".engine", raw, 0o600)
}

// release removes the note and the lock. The file data.lock stays: another process may be waiting for it.
func (l *lock) release() error {
	err := os.Remove(l.data + ".engine")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, l.file.Unlock())
}
