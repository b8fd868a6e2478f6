package engine

import (
	"errors"
	"io/fs"
	"os"
)

// A process that is killed while it makes its first table may leave an engine's data in a state that the engine itself
// cannot go on from: dynoxide makes a table and its indexes one after another. Nothing has been kept in it by then. So new
// data has a mark beside it until the one who makes it says that it is finished, and data with a mark is begun again.

// javaFolder follows the name of the data where DynamoDB Local keeps it.
const javaFolder = ".dynamodb-local"

func markOf(data string) string { return data + ".unfinished" }

// begin has data that was never finished removed, and marks new data.
func begin(data string) error {
	switch _, err := os.Stat(markOf(data)); {
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
	return os.WriteFile(markOf(data), nil, 0o600)
}

// Finish says that what is to be there from the start is there: from now on the data is kept, whatever happens.
func (e *Engine) Finish() error {
	if err := os.Remove(markOf(e.data)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
