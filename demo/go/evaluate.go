package main

import (
	"slices"
	"strconv"
	"strings"

	unleash "github.com/Unleash/unleash-go-sdk/v6"
	"github.com/Unleash/unleash-go-sdk/v6/api"
	"github.com/Unleash/unleash-go-sdk/v6/context"
)

const (
	users    = 100
	maxFlags = 20
)

// An application is what one application evaluates.
type application struct {
	Language string `json:"language"`
	SDK      string `json:"sdk"`
	Flags    []flag `json:"flags"`
}

// A flag has the answer for each user: "" for off, "on", or the name of a variant.
type flag struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Answers     []string `json:"answers"`
}

// evaluate evaluates the first flags by name for user-1 to user-100.
func evaluate(client *unleash.Client) application {
	features := client.ListFeatures()
	slices.SortFunc(features, func(a, b api.Feature) int { return strings.Compare(a.Name, b.Name) })
	result := application{Language: "Go", SDK: "unleash-go-sdk", Flags: []flag{}}
	for _, feature := range features[:min(len(features), maxFlags)] {
		f := flag{Name: feature.Name, Type: feature.Type, Description: feature.Description}
		for i := range users {
			f.Answers = append(f.Answers, answer(client, feature.Name, "user-"+strconv.Itoa(i+1)))
		}
		result.Flags = append(result.Flags, f)
	}
	return result
}

func answer(client *unleash.Client, name, user string) string {
	in := context.Context{UserId: user}
	if !client.IsEnabled(name, unleash.FeatureOptions{Ctx: in}) {
		return ""
	}
	if variant := client.GetVariant(name, unleash.VariantOptions{Ctx: in}); variant.Enabled {
		return variant.Name
	}
	return "on"
}
