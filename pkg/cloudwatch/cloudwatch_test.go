package cloudwatch

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"

	"guidon/pkg/flags"
)

const prefix = "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:"

// TestAlarms reads alarms from a server that speaks CloudWatch's protocol. It checks the states, the number of calls, and that
// nothing is asked about alarms elsewhere, or with impossible names. `make test-deploy` does the same with an emulator of AWS.
func TestAlarms(t *testing.T) {
	var asked [][]string
	fails := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
		w.Header().Set("Content-Type", "application/cbor")
		if fails {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write(cbor.Encode(cbor.Map{"__type": cbor.String("AccessDenied")}))
			return
		}
		body, err := io.ReadAll(r.Body)
		in, decoded := cbor.Decode(body)
		if err != nil || decoded != nil {
			t.Error(err, decoded)
			return
		}
		names := texts(in.(cbor.Map)["AlarmNames"])
		if types := texts(in.(cbor.Map)["AlarmTypes"]); !slices.Equal(types, []string{"MetricAlarm", "CompositeAlarm"}) {
			t.Errorf("asked for %q", types)
		}
		asked = append(asked, names)
		out := cbor.Map{"MetricAlarms": cbor.List{}, "CompositeAlarms": cbor.List{}}
		for name, alarm := range alarms {
			if slices.Contains(names, name) {
				alarm["AlarmArn"] = cbor.String(prefix + name)
				out[kinds[name]] = append(out[kinds[name]].(cbor.List), alarm)
			}
		}
		_, _ = w.Write(cbor.Encode(out))
	}))
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL_CLOUDWATCH", server.URL)
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "a")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "b")
	read := Alarms(prefix).Read

	arns := []string{prefix + "errors", prefix + "slow", prefix + "either", prefix + "gone", "arn:aws:cloudwatch:us-east-1:123456789012:alarm:errors", prefix,
		prefix + strings.Repeat("a", 256), prefix + "a\nb"}
	states, err := read(t.Context(), arns)
	want := map[string]flags.AlarmState{
		prefix + "errors": {State: "ALARM", Since: time.Unix(1767614400, 0).UTC(), Reason: "3 of 3", MissingData: true},
		prefix + "slow":   {State: "OK"},
		prefix + "either": {State: "INSUFFICIENT_DATA", Reason: "new"},
	}
	if err != nil || !maps.Equal(states, want) {
		t.Errorf("%+v, %v; want %+v", states, err, want)
	}
	if len(asked) != 1 || !slices.Equal(asked[0], []string{"errors", "slow", "either", "gone"}) {
		t.Errorf("asked for %q", asked)
	}

	asked = nil
	for i := range 200 {
		arns = append(arns, fmt.Sprintf("%s%d", prefix, i))
	}
	if states, err := read(t.Context(), arns); err != nil || !maps.Equal(states, want) || len(asked) != 3 {
		t.Errorf("of 204 alarms: %+v, %v, %d calls; want %+v and 3", states, err, len(asked), want)
	}
	if states, err := read(t.Context(), nil); err != nil || len(states) > 0 || len(asked) != 3 {
		t.Errorf("of no alarms: %+v, %v, %d calls", states, err, len(asked)-3)
	}

	fails = true
	if states, err := read(t.Context(), arns); flags.KindOf(err) != flags.Unavailable || states != nil {
		t.Errorf("without the permission: %+v, %v; want an error", states, err)
	}
	if Alarms("") != nil {
		t.Error("alarms can be read without the setting")
	}
}

var (
	kinds  = map[string]string{"errors": "MetricAlarms", "slow": "MetricAlarms", "either": "CompositeAlarms"}
	alarms = map[string]cbor.Map{
		"errors": {"StateValue": cbor.String("ALARM"), "StateReason": cbor.String("3 of 3"), "StateTransitionedTimestamp": &cbor.Tag{ID: 1, Value: cbor.Uint(1767614400)}}, // without TreatMissingData, as a new alarm
		"slow":   {"StateValue": cbor.String("OK"), "TreatMissingData": cbor.String("notBreaching")},
		"either": {"StateValue": cbor.String("INSUFFICIENT_DATA"), "StateReason": cbor.String("new")},
	}
)

func texts(value cbor.Value) (list []string) {
	for _, text := range value.(cbor.List) {
		list = append(list, string(text.(cbor.String)))
	}
	return list
}
