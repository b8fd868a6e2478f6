// Command evaluate-ofrep evaluates the flags in FLAGS, a list of names, for every context of the standard input with the OFREP provider of
// OpenFeature, which sends a request for each, and prints an object: for each flag a list with one text for each context.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/open-feature/go-sdk-contrib/providers/ofrep"
	"github.com/open-feature/go-sdk/openfeature"
)

func main() {
	var contexts []map[string]any
	var flags []string
	must(json.NewDecoder(os.Stdin).Decode(&contexts))
	must(json.NewDecoder(strings.NewReader(os.Getenv("FLAGS"))).Decode(&flags))
	must(openfeature.SetProviderAndWait(ofrep.NewProvider(os.Getenv("GUIDON_URL"), ofrep.WithBearerToken(os.Getenv("TOKEN")))))
	client := openfeature.NewClient("evaluate")
	results := map[string][]string{}
	for _, c := range contexts {
		user, properties := c["userId"].(string), c["properties"].(map[string]any)
		delete(c, "userId")
		delete(c, "properties")
		maps.Copy(c, properties)
		for _, name := range flags {
			got, err := client.BooleanValueDetails(context.Background(), name, false, openfeature.NewEvaluationContext(user, c))
			must(err)
			result := fmt.Sprint(got.Value)
			if got.Variant != "enabled" && got.Variant != "disabled" {
				result += " " + got.Variant
			}
			results[name] = append(results[name], result)
		}
	}
	must(json.NewEncoder(os.Stdout).Encode(results))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
