package webhook

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
)

// sampleEvent is an event as it is read from the store.
func sampleEvent() flags.Event {
	return flags.Event{
		ID: "0190a5c4-7c1e-7abc-8def-0123456789ab", Type: flags.FeatureStrategyAdd, CreatedAt: time.Date(2026, 11, 22, 14, 50, 1, 0, time.UTC),
		CreatedBy: "admin", UserID: flags.TokenUserID, Project: "default", Environment: "development", FeatureName: "fl1",
		Data: jsontext.Value(`{"name":"flexibleRollout","description":"a <b> & \"q\" 's'\n","sortOrder":0,"on":true,
			"constraints":[{"contextName":"userId","values":["1","2"]},{"contextName":"appName","values":[]}],"segments":[],"title":null}`),
	}
}

// body makes the message and returns its body.
func body(t *testing.T, provider string, parameters map[string]string, event flags.Event) string {
	t.Helper()
	m, err := MessageOf(provider, parameters, event, "")
	if err != nil {
		t.Fatal(err)
	}
	return string(m.Body)
}

func TestEventBody(t *testing.T) {
	var got map[string]any
	if err := json.Unmarshal([]byte(body(t, flags.AddonWebhook, nil, sampleEvent())), &got); err != nil {
		t.Fatal(err)
	}
	data, _ := got["data"].(map[string]any)
	if got["type"] != "feature-strategy-add" || got["featureName"] != "fl1" || got["environment"] != "development" || got["project"] != "default" ||
		got["createdBy"] != "admin" || got["createdAt"] != "2026-11-22T14:50:01.000Z" || got["preData"] != nil || data["name"] != "flexibleRollout" {
		t.Errorf("body %v", got)
	}
}

// The expected texts are what Unleash 5.12.8 sent for the same templates, except that Unleash escapes nothing in JSON, so
// that a quote breaks its body, and writes objects as "[object Object]".
func TestTemplates(t *testing.T) {
	for _, test := range []struct{ contentType, template, want string }{
		{"text/plain", "type={{event.type}} name={{ event.featureName }}", "type=feature-strategy-add name=fl1"},
		{"text/plain", "{{event.data.description}}", "a &lt;b&gt; &amp; &#34;q&#34; &#39;s&#39;\n"},
		{"text/plain", "{{{event.data.description}}}|{{&event.data.description}}", "a <b> & \"q\" 's'\n|a <b> & \"q\" 's'\n"},
		{"", `{"d":"{{event.data.description}}"}`, `{"d":"a <b> & \"q\" 's'\n"}`},
		{"", "{{missing}}{{event.missing.name}}{{event.preData}}{{event.data.title}}{{! a comment }}.", "."},
		{"", "{{event.data.sortOrder}} {{event.data.on}}", "0 true"},
		{"", "{{event.data.constraints.0.contextName}}", "userId"},
		{"", "{{#event.data.constraints}}[{{contextName}}:{{#values}}{{.}},{{/values}}]{{/event.data.constraints}}", "[userId:1,2,][appName:]"},
		{"", "{{^event.preData}}new{{/event.preData}}{{^event.data.on}}off{{/event.data.on}}{{#event.data.sortOrder}}x{{/event.data.sortOrder}}", "new"},
		{"", "{{#event.data.segments}}x{{/event.data.segments}}{{#event}}{{type}}{{/event}}", "feature-strategy-add"},
		{"", "{{{event.data.constraints.1}}}", `{"contextName":"appName","values":[]}`},
		{"", "{ {{event.type}} }}", "{ feature-strategy-add }}"},
		{"", " \n", body(t, flags.AddonWebhook, nil, sampleEvent())},
	} {
		got := body(t, flags.AddonWebhook, map[string]string{flags.AddonContentType: test.contentType, flags.AddonBodyTemplate: test.template}, sampleEvent())
		if got != test.want {
			t.Errorf("%q as %q: %q, want %q", test.template, test.contentType, got, test.want)
		}
	}
}

// TestLinks links to the page of the flag or change request, if the address of the console is known.
func TestLinks(t *testing.T) {
	const console = "https://flags.example.com"
	request := flags.Event{Type: flags.RequestApplied, CreatedBy: "ann", Project: "shop", Environment: "production", Data: jsontext.Value(`{"changeRequestId":7,"title":"a|b>"}`)}
	for _, test := range []struct {
		event                  flags.Event
		publicURL, text, plain string
	}{
		{request, console, "*ann* applied *<https://flags.example.com/projects/shop/change-requests/7|change request 7: a|b&gt;>* to the *production* environment in project *shop*",
			"https://flags.example.com/projects/shop/change-requests/7"},
		{request, "", "*ann* applied *change request 7: a|b&gt;* to the *production* environment in project *shop*", ""},
		{flags.Event{Type: flags.FeatureArchived, CreatedBy: "ann", Project: "shop", FeatureName: "f<>"}, console,
			"*ann* archived *<https://flags.example.com/projects/shop/flags/f%3C%3E|f&lt;&gt;>* in project *shop*", "https://flags.example.com/projects/shop/flags/f%3C%3E"},
		{flags.Event{Type: flags.SegmentCreated, CreatedBy: "ann", Data: jsontext.Value(`{"name":"s"}`)}, console, "*ann* created segment *s*", ""},
	} {
		m, err := MessageOf(flags.AddonSlack, nil, test.event, test.publicURL)
		var got struct {
			Text string `json:"text"`
		}
		if err := errors.Join(err, json.Unmarshal(m.Body, &got)); err != nil || got.Text != test.text {
			t.Errorf("%s: %q, %v; want %q", test.event.Type, got.Text, err, test.text)
		}
		m, err = MessageOf(flags.AddonWebhook, map[string]string{flags.AddonBodyTemplate: "{{{link}}}"}, test.event, test.publicURL)
		if err != nil || string(m.Body) != test.plain {
			t.Errorf("%s: %q, %v; want %q", test.event.Type, m.Body, err, test.plain)
		}
	}
}

// TestEventJSON checks that eventJson is the event as a JSON string, as in Unleash.
func TestEventJSON(t *testing.T) {
	for _, template := range []string{"{{{eventJson}}}", "{{eventJson}}"} {
		var text string
		if err := json.Unmarshal([]byte(body(t, flags.AddonWebhook, map[string]string{flags.AddonBodyTemplate: template}, sampleEvent())), &text); err != nil {
			t.Fatal(err)
		}
		if want := body(t, flags.AddonWebhook, nil, sampleEvent()); text != want {
			t.Errorf("%s has %s, want %s", template, text, want)
		}
	}
}

func TestInvalidTemplates(t *testing.T) {
	for _, template := range []string{
		"{{#event}} unclosed", "{{/event}}", "{{#a}}{{/b}}", "{{a", "{{{a}}", "{{}}", "{{ }}", "{{#}}x{{/}}", "{{a b}}", "{{> /etc/passwd}}", "{{=<% %>=}}",
		strings.Repeat("{{#a}}", maxDepth+1) + strings.Repeat("{{/a}}", maxDepth+1),
		strings.Repeat("{{#a}}", 1600), strings.Repeat("x", maxTemplate+1),
	} {
		if err := CheckTemplate(template); err == nil || flags.KindOf(err) != flags.Invalid || len(err.Error()) > 300 {
			t.Errorf("%.40q: %v, want a short error of kind Invalid", template, err)
		}
	}
}

// TestTemplatesAreBounded renders templates that repeat more and more, with and without text.
func TestTemplatesAreBounded(t *testing.T) {
	event := sampleEvent()
	event.Data = jsontext.Value(`{"l":[` + strings.Repeat("0,", 999) + `0],"s":"` + strings.Repeat("s", 100_000) + `"}`)
	for _, template := range []string{
		strings.Repeat("{{#event.data.l}}", 8) + strings.Repeat("{{/event.data.l}}", 8),
		strings.Repeat("{{#event.data.l}}", 8) + "x" + strings.Repeat("{{/event.data.l}}", 8),
		"{{#event.data.l}}{{event.data.s}}{{/event.data.l}}",
		"{{#event.data.l}}{{eventJson}}{{/event.data.l}}",
	} {
		began := time.Now()
		m, err := MessageOf(flags.AddonWebhook, map[string]string{flags.AddonBodyTemplate: template}, event, "")
		if err == nil || flags.KindOf(err) != flags.Invalid {
			t.Errorf("%.40q: a body of %d bytes, %v; want an error of kind Invalid", template, len(m.Body), err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%.40q took %v", template, took)
		}
	}
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"{{a}}", "{{#event}}{{type}}{{/event}}", "{{{event.data}}}", "{{! x }}{{^a}}b{{/a}}", "{{#.}}{{.}}{{/.}}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, template string) {
		m, err := MessageOf(flags.AddonWebhook, map[string]string{flags.AddonBodyTemplate: template}, sampleEvent(), "")
		if err != nil && flags.KindOf(err) != flags.Invalid {
			t.Errorf("%q: %v", template, err)
		}
		if len(m.Body) > 2*maxBody {
			t.Errorf("%q makes %d bytes", template, len(m.Body))
		}
	})
}

// The texts are those of Unleash 5.12.8, which has no change requests in its open edition.
func TestSlackTexts(t *testing.T) {
	for _, test := range []struct {
		event flags.Event
		want  string
	}{
		{flags.Event{Type: flags.FeatureCreated, FeatureName: "fl3", Project: "default"}, "*admin* created *fl3* in project *default*"},
		{flags.Event{Type: flags.FeatureEnvironmentEnabled, FeatureName: "fl3", Project: "default", Environment: "development"},
			"*admin* enabled *fl3* for the *development* environment in project *default*"},
		{flags.Event{Type: flags.FeatureStrategyAdd, FeatureName: "fl3", Project: "default", Environment: "development", Data: jsontext.Value(`{"name":"flexibleRollout"}`)},
			"*admin* added strategy *flexibleRollout* to *fl3* for the *development* environment in project *default*"},
		{flags.Event{Type: flags.FeatureStrategyRemove, FeatureName: "fl3", Project: "default", Environment: "development", PreData: jsontext.Value(`{"name":"flexibleRollout"}`)},
			"*admin* removed strategy *flexibleRollout* from *fl3* for the *development* environment in project *default*"},
		{flags.Event{Type: flags.FeatureTagged, FeatureName: "fl3", Project: "default", Data: jsontext.Value(`{"type":"simple","value":"chan"}`)},
			"*admin* tagged *fl3* with *simple:chan* in project *default*"},
		{flags.Event{Type: flags.SegmentCreated, Data: jsontext.Value(`{"name":"sg"}`)}, "*admin* created segment *sg*"},
		{flags.Event{Type: flags.ContextFieldCreated, Data: jsontext.Value(`{"name":"cx"}`)}, "*admin* created context field *cx*"},
		{flags.Event{Type: flags.FeatureDependencyAdded, FeatureName: "fl3", Project: "default", Data: jsontext.Value(`{"feature":"p"}`)},
			"*admin* added feature dependency of *fl3* in project *default*"},
		{flags.Event{Type: flags.RequestSent, Project: "default", Environment: "production", Data: jsontext.Value(`{"changeRequestId":7,"title":"Half of <all>"}`)},
			"*admin* sent *change request 7: Half of &lt;all&gt;* for the *production* environment in project *default* to review"},
		{flags.Event{Type: flags.RequestTitled, Project: "default", Environment: "production", Data: jsontext.Value(`{"changeRequestId":7}`)},
			"*admin* updated change request title of *change request 7* for the *production* environment in project *default*"},
		{flags.Event{Type: flags.RequestSent, Project: "default", Environment: "production", Data: jsontext.Value(`{"changeRequestId":7,"title":"Half*\r\n*bob* approved\u2028\u202eit"}`)},
			"*admin* sent *change request 7: Half∗  ∗bob∗ approved  it* for the *production* environment in project *default* to review"},
		{flags.Event{Type: flags.ReleasePlanStarted, FeatureName: "fl3", Project: "default", Environment: "production",
			Data: jsontext.Value(`{"name":"Canary","milestoneName":"50 %","cause":"The time of the milestone before is over."}`)},
			"*admin* started milestone *50 %* of *fl3* for the *production* environment in project *default*: The time of the milestone before is over."},
		{flags.Event{Type: flags.SafeguardTriggered, FeatureName: "fl3", Project: "default", Environment: "production",
			Data: jsontext.Value(`{"cause":"The signal \"errors\" fired.","safeguard":{"signal":{"name":"errors"},"action":{"type":"off"}}}`)},
			"*admin* switched *fl3* off for the *production* environment in project *default*: The signal \"errors\" fired."},
		{flags.Event{Type: flags.SafeguardTriggered, FeatureName: "fl3", Project: "default", Environment: "production",
			Data: jsontext.Value(`{"cause":"The signal \"errors\" fired.","safeguard":{"signal":{"name":"errors"},"action":{"type":"pause"}}}`)},
			"*admin* paused the release plan of *fl3* for the *production* environment in project *default*: The signal \"errors\" fired."},
		{flags.Event{Type: flags.ReleasePlanPaused, FeatureName: "fl3", Project: "default", Environment: "production", Data: jsontext.Value(`{"name":"Canary","milestoneName":"50 %"}`)},
			"*admin* paused the release plan of *fl3* for the *production* environment in project *default*"},
		{flags.Event{Type: flags.ReleasePlanRemoved, FeatureName: "fl3", Project: "default", Environment: "production",
			Data: jsontext.Value(`{"enabledInEnvironment":true,"strategies":[]}`), PreData: jsontext.Value(`{"name":"Canary"}`)},
			"*admin* removed release plan *Canary* from *fl3* for the *production* environment in project *default*"},
		{flags.Event{Type: flags.FeatureCreated, FeatureName: "<!channel>", Project: "a&b"}, "*admin* created *&lt;!channel&gt;* in project *a&amp;b*"},
	} {
		test.event.CreatedBy = "admin"
		var got map[string]string
		if err := json.Unmarshal([]byte(body(t, flags.AddonSlack, map[string]string{flags.AddonDefaultChannel: "#ops", flags.AddonUsername: "U"}, test.event)), &got); err != nil {
			t.Fatal(err)
		}
		if got["text"] != test.want || got["channel"] != "#ops" || got["username"] != "U" || got["icon_emoji"] == "" {
			t.Errorf("%s: %v, want the text %q", test.event.Type, got, test.want)
		}
	}
}
