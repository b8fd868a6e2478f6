package webhook

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// The providers: the kinds of receivers.
const (
	ProviderWebhook = "webhook"
	ProviderSlack   = "slack"
)

// The parameters of the providers, named as Unleash names them. SigningSecret is Guidon's own.
const (
	ParamURL            = "url"
	ParamContentType    = "contentType"
	ParamAuthorization  = "authorization"
	ParamCustomHeaders  = "customHeaders"
	ParamBodyTemplate   = "bodyTemplate"
	ParamSigningSecret  = "signingSecret"
	ParamUsername       = "username"
	ParamEmojiIcon      = "emojiIcon"
	ParamDefaultChannel = "defaultChannel"
)

const jsonType = "application/json"

// MessageOf is what a receiver gets of an event that was read from the store. It returns the reason if the parameters are
// not valid.
func MessageOf(provider string, parameters map[string]string, event flags.Event) (Message, error) {
	for _, name := range []string{ParamContentType, ParamAuthorization} {
		if err := CheckHeaderValue(parameters[name]); err != nil {
			return Message{}, invalid("%s: %s", name, err.Error())
		}
	}
	headers, err := ParseHeaders(parameters[ParamCustomHeaders])
	if err != nil {
		return Message{}, err
	}
	m := Message{
		ID: event.ID, URL: parameters[ParamURL], ContentType: jsonType, Headers: headers,
		Authorization: parameters[ParamAuthorization], Secret: parameters[ParamSigningSecret],
	}
	if provider == ProviderSlack {
		m.Body, err = slackBody(parameters, event)
		return m, err
	}
	if contentType := parameters[ParamContentType]; contentType != "" {
		m.ContentType = contentType
	}
	m.Body, err = eventBody(parameters[ParamBodyTemplate], m.ContentType, event)
	return m, err
}

// eventBody is the event as GET /api/admin/events has it, or what the template makes of it.
func eventBody(template, contentType string, event flags.Event) ([]byte, error) {
	document, err := json.Marshal(shape.EventViewOf(event))
	if err != nil {
		return nil, fmt.Errorf("write event %s: %w", event.ID, err)
	}
	if strings.TrimSpace(template) == "" {
		return document, nil
	}
	parsed, err := parseTemplate(template)
	if err != nil {
		return nil, err
	}
	var values any
	if err := json.Unmarshal(document, &values); err != nil {
		return nil, fmt.Errorf("read event %s: %w", event.ID, err)
	}
	quoted, err := json.Marshal(string(document))
	if err != nil {
		return nil, fmt.Errorf("quote event %s: %w", event.ID, err)
	}
	return parsed.render(map[string]any{"event": values, "eventJson": literal(quoted)}, contentType)
}
