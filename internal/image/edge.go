package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"guidon/internal/engine"
)

// writeEdge writes the image of Guidon Edge as a file for docker load. Its only layer has the program, root certificates, /tmp and
// /data. It needs neither Docker nor a base image, so each architecture can be made on any machine.
func writeEdge(program, arch, version, out string) error {
	root, err := engine.Root()
	if err != nil {
		return err
	}
	entries := []entry{{name: "LICENSE", mode: 0o644, file: filepath.Join(root, "LICENSE")}, {name: "data/", mode: 0o700, owner: user}}
	entries = append(entries, trust()...)
	layer, err := archive(append(entries, entry{name: "guidon-edge", mode: 0o755, file: program}, entry{name: "tmp/", mode: 0o1777}))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(layer)
	config, err := json.Marshal(map[string]any{
		"architecture": arch, "os": "linux", "created": "1980-01-01T00:00:00Z",
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(sum[:])}},
		"config": map[string]any{
			"User": "65532:65532", "Env": []string{"PATH=/"}, "Entrypoint": []string{"/guidon-edge"}, "Cmd": []string{"edge"},
			"ExposedPorts": map[string]any{"3063/tcp": struct{}{}},
			"Healthcheck":  map[string]any{"Test": []string{"CMD", "/guidon-edge", "health"}, "Interval": 10e9, "Timeout": 6e9, "StartPeriod": 5e9},
			"Labels": map[string]string{
				"org.opencontainers.image.title":       "Guidon Edge",
				"org.opencontainers.image.description": "Answers applications close to them, with the flags of a Guidon or an Unleash",
				"org.opencontainers.image.version":     version,
				"org.opencontainers.image.licenses":    "Apache-2.0",
			},
		},
	})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]map[string]any{{
		"Config": "config.json", "Layers": []string{"layer.tar"}, "RepoTags": []string{"guidon-edge:" + version, "guidon-edge:latest"},
	}})
	if err != nil {
		return err
	}
	image, err := archive([]entry{
		{name: "config.json", mode: 0o644, content: config}, {name: "layer.tar", mode: 0o644, content: layer}, {name: "manifest.json", mode: 0o644, content: manifest},
	})
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(image); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	return os.WriteFile(out, packed.Bytes(), 0o644)
}
