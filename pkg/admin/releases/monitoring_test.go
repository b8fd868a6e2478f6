package releases_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"guidon/pkg/apitest"
)

// Alertmanager sends this in version 4: https://prometheus.io/docs/alerting/latest/configuration/#webhook_config.
const alertmanagerBody = `{"version":"4","groupKey":"{}/{alertname=\"CheckoutErrors\"}:{alertname=\"CheckoutErrors\"}","truncatedAlerts":2,"status":"STATUS",
	"receiver":"guidon","groupLabels":{"alertname":"CheckoutErrors"},"commonLabels":{"alertname":"CheckoutErrors","job":"checkout"},"commonAnnotations":{},
	"externalURL":"http://alertmanager:9093","alerts":[{"status":"firing","labels":{"alertname":"CheckoutErrors","job":"checkout"},
	"annotations":{"summary":"5 % of the orders fail"},"startsAt":"2026-11-29T04:00:00.153Z","endsAt":"0001-01-01T00:00:00Z",
	"generatorURL":"http://prometheus:9090/graph","fingerprint":"c6eadffa33fcdf37"}]}`

// Grafana sends this: https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/.
const grafanaBody = `{"receiver":"guidon","status":"STATUS","orgId":1,"alerts":[{"status":"firing","labels":{"alertname":"CheckoutErrors"},
	"annotations":{"summary":"5 % of the orders fail"},"startsAt":"2026-11-29T04:00:00.157076+02:00","endsAt":"0001-01-01T00:00:00Z","values":{"B":44.239437375,"C":1},
	"generatorURL":"https://grafana.example.com/alerting/1/edit","fingerprint":"c6eadffa33fcdf37","silenceURL":"","dashboardURL":"","panelURL":"","imageURL":""}],
	"groupLabels":{},"commonLabels":{"alertname":"CheckoutErrors"},"commonAnnotations":{},"externalURL":"https://grafana.example.com/","version":"1",
	"groupKey":"{}:{}","truncatedAlerts":0,"title":"[FIRING:1] CheckoutErrors","state":"alerting","message":"**Firing**"}`

// TestMonitoringSystems posts what the monitoring systems of docs/how-to/roll-out.md send. The bodies of Datadog are those of the page.
func TestMonitoringSystems(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	secret := newSignal(t, s, signalsPath, "errors")
	page, err := os.ReadFile("../../../docs/how-to/roll-out.md")
	if err != nil {
		t.Fatal(err)
	}
	payloads := regexp.MustCompile("(?m)^\\| `guidon-[a-z]+` \\| `(.*)` \\|$").FindAllSubmatch(page, -1)
	if len(payloads) != 2 {
		t.Fatalf("the page has %d payloads, want one for firing and one for resolved", len(payloads))
	}
	for _, bodies := range [][2]string{
		{strings.Replace(alertmanagerBody, "STATUS", "firing", 1), strings.Replace(alertmanagerBody, "STATUS", "resolved", 1)},
		{strings.Replace(grafanaBody, "STATUS", "firing", 1), strings.Replace(grafanaBody, "STATUS", "resolved", 1)},
		{string(payloads[0][1]), string(payloads[1][1])},
	} {
		for i, want := range []string{"firing", "resolved"} {
			if got := post(t, s, "errors", secret, bodies[i]); got != 204 {
				t.Errorf("status %d for %s", got, bodies[i])
			}
			s.Check(t, apitest.Call{"the list", "GET", signalsPath, "", 200, `[{"...":0,"name":"errors","status":"` + want + `"}]`})
		}
	}
}
