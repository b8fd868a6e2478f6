package engine

import (
	"errors"
	"io/fs"
	"os"
)

// A process that is killed while it creates the table may leave data that the engine cannot use: dynoxide creates a table and
// its indexes one after another. Such data contains nothing of value yet. So new data has a marker file until Finish is
// called, and a start deletes data with a marker.

// javaFolder is the suffix of the folder in which DynamoDB Local stores the data.
const javaFolder = ".dynamodb-local"

func markerOf(data string) string { return data + ".unfinished" }

// begin deletes unfinished data, and creates the marker of new data.
func begin(data string) error {
	switch _, err := os.Stat(markerOf(data)); {
	case err == nil:
		for _, file := range []string{data, data + "-wal", data + "-shm", data + "-journal", data + javaFolder} {
			if err := os.RemoveAll(file); err != nil {
				return err
			}
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	for _, kept := range []string{data, data + javaFolder} {
		if _, err := os.Stat(kept); !errors.Is(err, fs.ErrNotExist) {
			return err // nil where there is data
		}
	}
	return os.WriteFile(markerOf(data), nil, 0o600)
}

// Finish removes the marker: the initial data is complete, and later starts keep it.
func (e *Engine) Finish() error {
	if err := os.Remove(markerOf(e.data)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
