package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// The structures below are the part of CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/) that the list needs. The serial number and
// the time are left out: both are optional, and would differ in each build.

type bom struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Ref        string     `json:"bom-ref"`
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licenses   []license  `json:"licenses,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// addComponents adds the list of all modules in the programs: the SBOM.
func (r *release) addComponents() error {
	modules, err := r.modules()
	if err != nil {
		return err
	}
	guidon := component{Ref: "guidon@" + r.version, Type: "application", Name: "guidon", Version: r.version, Licenses: licensed("Apache-2.0")}
	list := bom{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata: metadata{guidon}, Dependencies: []dependency{{Ref: guidon.Ref}},
	}
	for _, m := range modules {
		c, err := componentOf(m)
		if err != nil {
			return err
		}
		list.Components = append(list.Components, c)
		list.Dependencies[0].DependsOn = append(list.Dependencies[0].DependsOn, c.Ref)
	}
	content, err := json.MarshalIndent(list, "", "  ")
	r.files["guidon-"+r.version+"-sbom.cdx.json"] = append(content, '\n')
	return err
}

func componentOf(m module) (component, error) {
	hashes, err := hashesOf(m.sum)
	if err != nil {
		return component{}, fmt.Errorf("%s %s: %w", m.name, m.version, err)
	}
	url := packageURL(m)
	return component{
		Ref: url, Type: "library", Name: m.name, Version: m.version, Hashes: hashes, Licenses: licensed(m.license), PURL: url,
		Properties: []property{{"guidon:part", strings.Join(m.in, ", ")}},
	}, nil
}

func licensed(id string) []license {
	if id == "" {
		return nil
	}
	var l license
	l.License.ID = id
	return []license{l}
}

// packageURL returns the name of a module in all systems: https://github.com/package-url/purl-spec.
func packageURL(m module) string {
	kind := map[string]string{"go": "golang", "npm": "npm"}[m.system]
	return "pkg:" + kind + "/" + strings.Replace(m.name, "@", "%40", 1) + "@" + strings.ReplaceAll(m.version, "+", "%2B")
}

// hashesOf converts the checksum of a module. That of Go is a SHA-256 of the checksums of all its files.
func hashesOf(sum string) ([]hash, error) {
	if sum == "" {
		return nil, nil
	}
	for prefix, algorithm := range map[string]string{"h1:": "SHA-256", "sha512-": "SHA-512"} {
		encoded, ok := strings.CutPrefix(sum, prefix)
		if !ok {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(encoded)
		return []hash{{algorithm, hex.EncodeToString(raw)}}, err
	}
	return nil, fmt.Errorf("the checksum %q is of an unknown kind", sum)
}
