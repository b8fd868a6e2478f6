package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"
)

// epoch is the time of every file in an archive: the earliest that the format has.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// A file is a file of an archive.
type file struct {
	content    []byte
	executable bool
}

// zipOf returns an archive of files by path. The same files give the same bytes: they are sorted, and have a fixed time.
func zipOf(files map[string]file) ([]byte, error) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: epoch}
		if path.Ext(name) == ".zip" {
			header.Method = zip.Store // it is compressed already
		}
		mode := fs.FileMode(0o644)
		if files[name].executable {
			mode = 0o755
		}
		header.SetMode(mode)
		entry, err := w.CreateHeader(header)
		if err == nil {
			_, err = entry.Write(files[name].content)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return archive.Bytes(), nil
}
