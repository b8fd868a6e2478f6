package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"

	"golang.org/x/crypto/x509roots/fallback/bundle"

	"guidon/internal/engine"
)

// An entry is a file of an image, or a folder, whose name ends in a slash.
type entry struct {
	name    string
	mode    int64
	owner   int
	content []byte
}

// user is the id of the user and group that the programs run as.
const user = 65532

// writeImage writes a container image, of guidon or guidon-edge, as a file for docker load. It needs neither Docker nor a base image, so
// each architecture can be made on any machine. Its only layer has the program, root certificates, /tmp and /data, with fixed owners,
// modes and times.
func writeImage(name, program, arch, version, out string) error {
	engineProgram := "" // for guidon
	config := map[string]any{
		"User": fmt.Sprintf("%d:%d", user, user), "Env": []string{"PATH=/"}, "Entrypoint": []string{"/" + name}, "Cmd": []string{"edge"},
		"ExposedPorts": map[string]any{"3063/tcp": struct{}{}},
		"Healthcheck":  map[string]any{"Test": []string{"CMD", "/" + name, "health"}, "Interval": 10e9, "Timeout": 6e9, "StartPeriod": 30e9},
	}
	labels := map[string]string{
		"title": "Guidon Edge", "description": "Answers applications close to them, with the flags of a Guidon or an Unleash",
		"version": version, "licenses": "Apache-2.0",
	}
	if name == "guidon" {
		var err error
		if engineProgram, err = engine.Dynoxide(context.Background(), "linux", arch, os.Stderr); err != nil {
			return err
		}
		config["Env"] = []string{"PATH=/", "HOST=0.0.0.0", "PORT=4242", "DATA_DIR=/data", "ENGINE=/dynoxide"}
		config["Cmd"], config["Volumes"] = []string{"serve"}, map[string]any{"/data": struct{}{}}
		config["ExposedPorts"] = map[string]any{"4242/tcp": struct{}{}}
		labels["title"], labels["licenses"] = "Guidon", "Apache-2.0 AND (MIT OR Apache-2.0)"
		labels["description"] = "Feature flags with the API of Unleash: the server, its database and its console"
	}
	prefixed := map[string]string{}
	for label, value := range labels {
		prefixed["org.opencontainers.image."+label] = value
	}
	config["Labels"] = prefixed

	entries := []entry{
		{name: "data/", mode: 0o700, owner: user}, {name: "tmp/", mode: 0o1777},
		{name: "etc/", mode: 0o755}, {name: "etc/ssl/", mode: 0o755}, {name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: certificates()}, // where Go looks for them
	}
	for _, f := range []struct {
		path, name string
		mode       int64
	}{{"LICENSE", "LICENSE", 0o644}, {program, name, 0o755}, {engineProgram, "dynoxide", 0o755}} {
		if f.path == "" {
			continue
		}
		content, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		entries = append(entries, entry{name: f.name, mode: f.mode, content: content})
	}
	layer, err := archive(entries)
	if err != nil {
		return err
	}
	described, err := json.Marshal(map[string]any{
		"architecture": arch, "os": "linux", "created": "1980-01-01T00:00:00Z", "config": config,
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
	})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]map[string]any{{"Config": "config.json", "Layers": []string{"layer.tar"}, "RepoTags": []string{name + ":" + version, name + ":latest"}}})
	if err != nil {
		return err
	}
	image, err := archive([]entry{
		{name: "config.json", mode: 0o644, content: described}, {name: "layer.tar", mode: 0o644, content: layer}, {name: "manifest.json", mode: 0o644, content: manifest},
	})
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err = w.Write(image); err == nil {
		err = w.Close()
	}
	if err != nil {
		return err
	}
	return os.WriteFile(out, packed.Bytes(), 0o644)
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
