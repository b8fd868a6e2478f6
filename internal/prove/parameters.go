package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// A parameter of template.yaml. Everywhere says that its value is part of the configuration of every function.
type parameter struct {
	Type           string `yaml:"Type"`
	Default        any    `yaml:"Default"`
	AllowedValues  []any  `yaml:"AllowedValues"`
	AllowedPattern string `yaml:"AllowedPattern"`
	Everywhere     bool   `yaml:"-"`
}

// values are other values of texts that can have any.
var values = map[string]string{
	"CorsOrigins": "https://a.example", "PublicUrl": "https://a.example", "FrontendOrigins": "https://a.example",
	"Limits": "tags=31", "WebhookPrivateNetworks": "10.1.0.0/16", "FrontSecretHash": strings.Repeat("0", 64),
}

// reasons say why a parameter is not updated.
var reasons = map[string]string{
	"Architecture":        "it needs another build",
	"DomainName":          "it needs a domain and a certificate",
	"CertificateArn":      "it needs a domain and a certificate",
	"ExecuteApi":          "it needs a domain and a certificate",
	"RolePath":            "it must not change after the first deployment",
	"KeyArn":              "it must not change after the first deployment",
	"PermissionsBoundary": "it needs a policy of the account",
	"LogKeyArn":           "it needs a key of the account",
	"BackupVaultArn":      "it needs a vault in another account",
	"Alarms":              "it needs a topic of the account",
	"PublishBucket":       "it needs a bucket of the account",
	"SecondPublishBucket": "it needs a bucket of the account",
	"SecondPublishRegion": "it needs a bucket of the account",
	"Deployment":          "the steps with broken versions change it",
	"Paused":              "the step that restores changes it",
	"RestoredTable":       "the step that restores changes it",
}

var word = regexp.MustCompile(`\w+`)

// parameters reads the parameters of template.yaml.
func parameters(root string) (map[string]*parameter, error) {
	source, err := os.ReadFile(filepath.Join(root, "template.yaml"))
	if err != nil {
		return nil, err
	}
	var template struct {
		Parameters map[string]*parameter `yaml:"Parameters"`
		Globals    any                   `yaml:"Globals"`
		Resources  struct {
			Settings any `yaml:"Settings"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(source, &template); err != nil {
		return nil, err
	}
	configuration := word.FindAllString(fmt.Sprint(template.Globals, template.Resources.Settings), -1)
	for name, p := range template.Parameters {
		p.Everywhere = slices.Contains(configuration, name)
	}
	return template.Parameters, nil
}

// names returns the names of parameters in order.
func names(parameters map[string]*parameter) []string { return slices.Sorted(maps.Keys(parameters)) }

// other returns a value of a parameter that is not its default, or the reason why it gets none.
func (p *parameter) other(name string) (value, reason string) {
	switch {
	case reasons[name] != "":
		return "", reasons[name]
	case values[name] != "":
		return values[name], ""
	case len(p.AllowedValues) > 1:
		if i := slices.Index(p.AllowedValues, p.Default); i == 0 {
			return fmt.Sprint(p.AllowedValues[1]), ""
		}
		return fmt.Sprint(p.AllowedValues[0]), ""
	case p.Type == "Number":
		var n int
		_, _ = fmt.Sscan(fmt.Sprint(p.Default), &n)
		return fmt.Sprint(n + 1), ""
	}
	return "", "no other value is known: add one to internal/prove/parameters.go"
}

// reset returns the assignment of the default value.
func (p *parameter) reset(name string) string {
	if p.Default == nil || p.Default == "" {
		return name + `=""`
	}
	return fmt.Sprintf("%s=%v", name, p.Default)
}
