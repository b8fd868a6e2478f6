// Command gosdk runs unleash-go-sdk. MODE=streaming gets changes as a stream.
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"

	unleash "github.com/Unleash/unleash-go-sdk/v6"
	"github.com/Unleash/unleash-go-sdk/v6/context"

	"clients/follow"
)

// log prints problems. The SDK needs a listener, or it blocks.
type log struct{}

func (log) OnError(err error)   { fmt.Fprintln(os.Stderr, "error", err) }
func (log) OnWarning(err error) { fmt.Fprintln(os.Stderr, "warning", err) }

func main() {
	client, err := unleash.NewClient(
		unleash.WithListener(log{}),
		unleash.WithUrl(follow.URL+"/api"),
		unleash.WithAppName(follow.AppName),
		unleash.WithCustomHeaders(http.Header{"Authorization": {follow.Token}}),
		unleash.WithRefreshInterval(time.Second),
		unleash.WithMetricsInterval(2*time.Second),
		unleash.WithExperimentalMode(map[string]string{"type": os.Getenv("MODE")}),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	client.WaitForReady()
	follow.Flags(func(flag follow.Flag, user follow.User) string {
		in := context.Context{UserId: user.UserID, Properties: map[string]string{"plan": user.Plan}}
		on := client.IsEnabled(flag.Name, unleash.FeatureOptions{Ctx: in})
		if variant := client.GetVariant(flag.Name, unleash.VariantOptions{Ctx: in}); variant.Enabled {
			return follow.Answer(on, variant.Name, variant.Payload.Value)
		}
		return follow.Answer(on)
	}, 100*time.Millisecond)
	if err := client.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
