package webhook

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

const jsonType = "application/json"

// MessageOf is what a receiver gets of an event that was read from the store, with links to the console at publicURL, or without links if
// that is "". It returns the reason if the parameters are not valid.
func MessageOf(provider string, parameters map[string]string, event flags.Event, publicURL string) (Message, error) {
	for _, name := range []string{flags.AddonContentType, flags.AddonAuthorization} {
		if err := CheckHeaderValue(parameters[name]); err != nil {
			return Message{}, invalid("%s: %s", name, err.Error())
		}
	}
	headers, err := ParseHeaders(parameters[flags.AddonHeaders])
	if err != nil {
		return Message{}, err
	}
	m := Message{
		ID: event.ID, URL: parameters[flags.AddonURL], ContentType: jsonType, Headers: headers,
		Authorization: parameters[flags.AddonAuthorization], Secret: parameters[flags.AddonSecretKey],
	}
	if provider == flags.AddonSlack {
		m.Body, err = slackBody(parameters, event, publicURL)
		return m, err
	}
	if contentType := parameters[flags.AddonContentType]; contentType != "" {
		m.ContentType = contentType
	}
	m.Body, err = eventBody(parameters[flags.AddonBodyTemplate], m.ContentType, event, publicURL)
	return m, err
}

// linkOf is the page of the console about the change request or flag of an event; "" if there is none.
func linkOf(publicURL string, event flags.Event, subject slackSubject) string {
	page := publicURL + "/projects/" + url.PathEscape(event.Project)
	switch id := subject.Request; {
	case publicURL == "" || event.Project == "":
		return ""
	case id != 0:
		return page + "/change-requests/" + strconv.FormatInt(id, 10)
	case event.FeatureName != "":
		return page + "/flags/" + url.PathEscape(event.FeatureName)
	}
	return ""
}

// eventBody is the event as GET /api/admin/events has it, or what the template makes of it.
func eventBody(template, contentType string, event flags.Event, publicURL string) ([]byte, error) {
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
	return parsed.render(map[string]any{"event": values, "eventJson": literal(quoted), "link": linkOf(publicURL, event, subjectOf(event))}, contentType)
}
