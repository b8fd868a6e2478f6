// Command evaluate evaluates the flags in FLAGS, a list of names, for every context of the standard input with unleash-go-sdk, and
// prints an object: for each flag a list with one text for each context.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	unleash "github.com/Unleash/unleash-go-sdk/v6"
	"github.com/Unleash/unleash-go-sdk/v6/context"
)

// log prints problems. The SDK needs a listener, or it blocks.
type log struct{}

func (log) OnError(err error)   { fmt.Fprintln(os.Stderr, "error", err) }
func (log) OnWarning(err error) { fmt.Fprintln(os.Stderr, "warning", err) }

func main() {
	var contexts []context.Context // its names differ from those of the input in case only
	var flags []string
	must(json.NewDecoder(os.Stdin).Decode(&contexts))
	must(json.NewDecoder(strings.NewReader(os.Getenv("FLAGS"))).Decode(&flags))
	client, err := unleash.NewClient(unleash.WithListener(log{}), unleash.WithUrl(os.Getenv("GUIDON_URL")+"/api"), unleash.WithAppName("evaluate"),
		unleash.WithCustomHeaders(http.Header{"Authorization": {os.Getenv("TOKEN")}}), unleash.WithDisableMetrics(true))
	must(err)
	client.WaitForReady()
	results := map[string][]string{}
	for _, name := range flags {
		for _, c := range contexts {
			result := fmt.Sprint(client.IsEnabled(name, unleash.FeatureOptions{Ctx: c}))
			if variant := client.GetVariant(name, unleash.VariantOptions{Ctx: c}); variant.Enabled {
				result += " " + variant.Name
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
