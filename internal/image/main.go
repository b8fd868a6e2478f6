// Command image writes the folder from which `make image` builds the container image of Guidon: the Dockerfile, and a tar
// file with everything that the image contains. Owners, modes and times in the tar file are fixed, so the same programs make
// the same layer on every machine. With -edge it writes the image of Guidon Edge, as one file.
package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/crypto/x509roots/fallback/bundle"

	"guidon/internal/engine"
)

// user is the id of the user and group that the server runs as. The Dockerfile has it too.
const user = 65532

// An entry is a file of the image, or a folder, whose name ends in a slash.
type entry struct {
	name    string
	mode    int64
	owner   int
	file    string // has the content
	content []byte // if there is no such file
}

func main() {
	guidon := flag.String("guidon", "", "the program guidon for Linux, as a `file`")
	edge := flag.String("edge", "", "the program guidon-edge for Linux, as a `file`: writes its image instead, into the file out")
	version := flag.String("version", "", "the `version` of that program")
	arch := flag.String("arch", runtime.GOARCH, "its `architecture`: amd64 or arm64")
	out := flag.String("out", "", "the `folder` to write")
	flag.Parse()
	var err error
	if *edge != "" {
		err = writeEdge(*edge, *arch, *version, *out)
	} else {
		err = write(context.Background(), *guidon, *arch, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func write(ctx context.Context, guidon, arch, out string) error {
	if guidon == "" || out == "" {
		return errors.New("-guidon and -out are required")
	}
	root, err := engine.Root()
	if err != nil {
		return err
	}
	dynoxide, err := engine.Dynoxide(ctx, "linux", arch, os.Stderr)
	if err != nil {
		return err
	}
	entries := []entry{
		{name: "LICENSE", mode: 0o644, file: filepath.Join(root, "LICENSE")},
		{name: "data/", mode: 0o700, owner: user},
		{name: "dynoxide", mode: 0o755, file: dynoxide},
	}
	entries = append(entries, trust()...)
	layer, err := archive(append(entries, entry{name: "guidon", mode: 0o755, file: guidon}, entry{name: "tmp/", mode: 0o1777}))
	if err != nil {
		return err
	}
	dockerfile, err := os.ReadFile(filepath.Join(root, "infra", "image", "Dockerfile"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "Dockerfile"), dockerfile, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "root.tar"), layer, 0o644)
}

// trust returns the folder with root certificates, where Go looks for them.
func trust() []entry {
	return []entry{
		{name: "etc/", mode: 0o755}, {name: "etc/ssl/", mode: 0o755}, {name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: certificates()},
	}
}

// certificates returns Mozilla's root certificates, by which webhooks and OpenID Connect check servers. It leaves out those
// that Mozilla trusts with conditions, which a file cannot express.
func certificates() []byte {
	var file bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			file.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return file.Bytes()
}

// archive returns a tar file with the entries, without times.
func archive(entries []entry) ([]byte, error) {
	var file bytes.Buffer
	w := tar.NewWriter(&file)
	for _, e := range entries {
		if e.file != "" {
			var err error
			if e.content, err = os.ReadFile(e.file); err != nil {
				return nil, err
			}
		}
		header := &tar.Header{Name: e.name, Mode: e.mode, Uid: e.owner, Gid: e.owner, Size: int64(len(e.content)), Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return file.Bytes(), err
}
