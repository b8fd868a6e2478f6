package evaluate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	unleash "github.com/Unleash/unleash-client-go/v4"
	"github.com/Unleash/unleash-client-go/v4/api"
	sdkcontext "github.com/Unleash/unleash-client-go/v4/context"

	"guidon/pkg/evaluate"
)

// sdkHost is the host name that the Go SDK finds when it starts.
var sdkHost = func() string {
	if name := os.Getenv("HOSTNAME"); name != "" {
		return name
	}
	name, err := os.Hostname()
	if err != nil {
		return "undefined"
	}
	return name
}()

// newGoSDK starts Unleash's Go SDK with flags that it gets without a network.
func newGoSDK(t *testing.T, flags []evaluate.Flag, segments []evaluate.Segment) *unleash.Client {
	t.Helper()
	body, err := json.Marshal(map[string]any{"version": 2, "features": flags, "segments": segments})
	if err != nil {
		t.Fatal(err)
	}
	client, err := unleash.NewClient(unleash.WithUrl("http://unleash.invalid/api"), unleash.WithAppName(sdkApp), unleash.WithDisableMetrics(true),
		unleash.WithRefreshInterval(time.Hour), unleash.WithStorage(&sdkStorage{}), unleash.WithHttpClient(&http.Client{Transport: sdkServer(body)}))
	if err != nil {
		t.Fatal(err)
	}
	client.WaitForReady()
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

// sdkServer answers every request with the same body.
type sdkServer []byte

func (s sdkServer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(s)), Header: http.Header{}, Request: r}, nil
}

// sdkStorage keeps the flags of the SDK in memory rather than in a file.
type sdkStorage struct{ flags map[string]any }

func (s *sdkStorage) Init(string, string) {}
func (s *sdkStorage) Reset(flags map[string]any, _ bool) error {
	s.flags = flags
	return nil
}
func (s *sdkStorage) Load() error    { return nil }
func (s *sdkStorage) Persist() error { return nil }
func (s *sdkStorage) Get(name string) (any, bool) {
	flag, found := s.flags[name]
	return flag, found
}
func (s *sdkStorage) List() []any { return nil }

// The SDK uses its own environment and application if the context has none.
const (
	sdkApp         = "sdk-app"
	sdkEnvironment = "default"
)

func forSDK(c evaluate.Context) sdkcontext.Context {
	return sdkcontext.Context{UserId: c.UserID, SessionId: c.SessionID, RemoteAddress: c.RemoteAddress, Environment: c.Environment,
		AppName: c.AppName, CurrentTime: c.CurrentTime, Properties: c.Properties}
}

// askSDK returns what the SDK says about a flag, in the form of an evaluation.
func askSDK(client *unleash.Client, flag string, c evaluate.Context) (enabled bool, variant variantResult) {
	enabled = client.IsEnabled(flag, unleash.WithContext(forSDK(c)))
	v := client.GetVariant(flag, unleash.WithVariantContext(forSDK(c)))
	variant = variantResult{Name: v.Name, Enabled: v.Enabled, FeatureEnabled: v.FeatureEnabled}
	if v.Payload != (api.Payload{}) {
		variant.Payload = &evaluate.Payload{Type: v.Payload.Type, Value: v.Payload.Value}
	}
	return enabled, variant
}

// askGuidon returns the same of a Set. random is true if chance decided.
func askGuidon(set *evaluate.Set, flag string, c evaluate.Context) (enabled bool, variant variantResult, random bool) {
	c.Hostname, c.Now = sdkHost, time.Now()
	c.Random = func(n uint32) uint32 {
		random = true
		return n / 2
	}
	if c.Environment == "" {
		c.Environment = sdkEnvironment
	}
	if c.AppName == "" {
		c.AppName = sdkApp
	}
	result := set.Evaluate(flag, &c)
	return result.Enabled, newVariantResult(result), random
}

// TestSameAsGoSDK compares random flags and contexts with unleash-client-go.
func TestSameAsGoSDK(t *testing.T) {
	evaluations := 10_000
	if os.Getenv("TRUST") == "long" {
		evaluations = 1_000_000
	}
	const flags, contexts = 50, 40 // of one client
	compared, on, withVariant := 0, 0, 0
	for seed := uint64(0); compared < evaluations; seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			g := newGenerator(seed)
			flags, segments := g.flags(flags), g.segments()
			client, set := newGoSDK(t, flags, segments), evaluate.NewSet(flags, segments)
			for range contexts {
				c := g.context()
				for _, f := range flags {
					enabled, variant, random := askGuidon(set, f.Name, c)
					if random {
						continue
					}
					sdkEnabled, sdkVariant := askSDK(client, f.Name, c)
					if enabled != sdkEnabled || !sameVariant(variant, sdkVariant) {
						t.Fatalf("got %t %+v, the Go SDK has %t %+v\nflag %s\nsegments %s\ncontext %s", enabled, variant, sdkEnabled, sdkVariant,
							asJSON(f), asJSON(segments), asJSON(c))
					}
					compared++
					if enabled {
						on++
					}
					if variant.Enabled {
						withVariant++
					}
				}
			}
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d evaluations compared: %d on, %d with a variant", compared, on, withVariant)
	if on < compared/10 || on > compared*9/10 || withVariant < compared/20 {
		t.Error("the generator is one-sided")
	}
}

func sameVariant(a, b variantResult) bool {
	samePayload := a.Payload == b.Payload || a.Payload != nil && b.Payload != nil && *a.Payload == *b.Payload
	a.Payload, b.Payload = nil, nil
	return samePayload && a == b
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
