package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// A lock is a file beside the data. It is held as long as this process uses the data, and it says which engine does
// the work, so that one whose parent was killed can be found. The methods of a nil one, in memory, do nothing.
type lock struct{ file *os.File }

// A holder is what the file says.
type holder struct {
	PID   int    `json:"pid"` // the engine
	URL   string `json:"url"` // where Owner serves it, with the secret
	Owner int    `json:"owner"`
}

// takeLock takes the lock of the data. An engine that was left behind is ended, never shared: it may
// be of another version, and its parent's last writes may still be on their way. mark is a word of its command line.
func takeLock(data, mark string, log io.Writer) (*lock, error) {
	f, err := os.OpenFile(data+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	l := &lock{f}
	if err := lockFile(f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s is in use by process %d: stop that, or choose another DATA_DIR", data, l.read(data).Owner)
	}
	if err := endLeftover(l.read(data), data, mark, log); err != nil {
		l.release()
		return nil, err
	}
	return l, nil
}

// read is what the file says; all zero when it is new, empty or was cut off while it was written.
func (l *lock) read(data string) (h holder) {
	raw, err := os.ReadFile(data + ".lock")
	if err != nil || json.Unmarshal(raw, &h) != nil {
		return holder{}
	}
	return h
}

// note writes down which engine has the data.
func (l *lock) note(pid int, url string) error {
	if l == nil {
		return nil
	}
	raw, err := json.Marshal(holder{PID: pid, URL: url, Owner: os.Getpid()})
	if err != nil {
		return err
	}
	return errors.Join(l.file.Truncate(0), writeAt(l.file, raw))
}

func writeAt(f *os.File, raw []byte) error {
	_, err := f.WriteAt(raw, 0)
	return err
}

// release empties the file and gives the lock free. The file stays: whoever waits for it must not lock a removed one.
func (l *lock) release() {
	if l == nil {
		return
	}
	_ = l.file.Truncate(0) // a note that stays is harmless: its process is looked at before it is ended
	_ = l.file.Close()
}

// endLeftover ends the engine that h names if it still is one: ids of processes are used again.
func endLeftover(h holder, data, mark string, log io.Writer) error {
	if h.PID == 0 || !isEngine(h.PID, data, mark) {
		return nil
	}
	_, _ = fmt.Fprintf(log, "ending the engine that an earlier run left behind (process %d)\n", h.PID)
	p, err := os.FindProcess(h.PID)
	if err != nil {
		return nil //nolint:nilerr // it is gone, which is what was wanted
	}
	_ = p.Kill()
	for deadline := time.Now().Add(stopTimeout); isEngine(h.PID, data, mark); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d, an engine that an earlier run left behind, does not end: end it by hand", h.PID)
		}
	}
	return nil
}

// isEngine tells whether a process is an engine over this data, as far as the system shows.
func isEngine(pid int, data, mark string) bool {
	line := commandLine(pid)
	return strings.Contains(line, mark) && (!showsArguments || strings.Contains(line, data))
}
