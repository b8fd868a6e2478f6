package webhook

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
)

// A slackMessage is what Slack's incoming webhooks take.
type slackMessage struct {
	Username  string `json:"username"`
	IconEmoji string `json:"icon_emoji"`
	Text      string `json:"text"`
	Channel   string `json:"channel,omitzero"`
}

func slackBody(parameters map[string]string, event flags.Event, publicURL string) ([]byte, error) {
	message := slackMessage{Username: "Guidon", IconEmoji: ":triangular_flag_on_post:", Text: slackText(event, publicURL)}
	if name := parameters[flags.AddonUsername]; name != "" {
		message.Username = name
	}
	if icon := parameters[flags.AddonEmoji]; icon != "" {
		message.IconEmoji = icon
	}
	if channel := strings.TrimPrefix(parameters[flags.AddonDefaultChannel], "#"); channel != "" {
		message.Channel = "#" + channel
	}
	body, err := json.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("write the message of event %s: %w", event.ID, err)
	}
	return body, nil
}

// maxChannels bounds the channels of a flag.
const maxChannels = 5

// slackChannels are the channels that the flag's tags of the type slack name, or else the default channel.
func slackChannels(f *flags.Feature, otherwise string) []string {
	var channels []string
	if f != nil {
		for _, tag := range f.Tags {
			if tag.Type == flags.AddonSlack && len(channels) < maxChannels {
				channels = append(channels, tag.Value)
			}
		}
	}
	if len(channels) == 0 {
		return []string{otherwise}
	}
	return channels
}

// slackTexts are what happened, in Unleash's words. F is the flag, E the environment, P the project, S the strategy, T the tag, R the
// change request, N the release plan, and M its milestone.
var slackTexts = map[flags.EventType]string{
	flags.FeatureCreated:             "created F in project P",
	flags.FeatureUpdated:             "updated F in project P",
	flags.FeatureMetadataUpdated:     "updated F metadata in project P",
	flags.FeatureArchived:            "archived F in project P",
	flags.FeatureRevived:             "revived F in project P",
	flags.FeatureMoved:               "moved F to project P",
	flags.FeatureStaleOn:             "marked F as stale in project P",
	flags.FeatureStaleOff:            "removed the stale marking on F in project P",
	flags.FeatureEnvironmentEnabled:  "enabled F for the E environment in project P",
	flags.FeatureEnvironmentDisabled: "disabled F for the E environment in project P",
	flags.FeatureStrategyAdd:         "added strategy S to F for the E environment in project P",
	flags.FeatureStrategyUpdate:      "updated strategy S of F for the E environment in project P",
	flags.FeatureStrategyRemove:      "removed strategy S from F for the E environment in project P",
	flags.FeatureVariantsUpdated:     "updated variants for F for the E environment in project P",
	flags.FeatureAllVariantsUpdated:  "updated variants for F in project P",
	flags.FeatureTagged:              "tagged F with T in project P",
	flags.FeatureUntagged:            "untagged F with T in project P",
	flags.FeatureLinkAdded:           "added a link to F in project P",
	flags.FeatureLinkUpdated:         "updated a link of F in project P",
	flags.FeatureLinkRemoved:         "removed a link from F in project P",
	flags.FeatureCommented:           "commented on F in project P",
	flags.ReleasePlanAdded:           "added release plan N to F for the E environment in project P",
	flags.ReleasePlanRemoved:         "removed release plan N from F for the E environment in project P",
	flags.ReleasePlanStarted:         "started milestone M of F for the E environment in project P",
	flags.ReleasePlanPaused:          "paused the release plan of F for the E environment in project P",
	flags.ReleasePlanResumed:         "resumed the release plan of F for the E environment in project P",
	flags.SafeguardTriggered:         "switched F off for the E environment in project P",
	flags.RequestCreated:             "began R for the E environment in project P",
	flags.RequestDiscarded:           "discarded R for the E environment in project P",
	flags.RequestRebased:             "re-based R for the E environment in project P",
	flags.RequestSent:                "sent R for the E environment in project P to review",
	flags.RequestApprovalAdded:       "approved R for the E environment in project P",
	flags.RequestApproved:            "gave R the last approval that it needs for the E environment in project P",
	flags.RequestRejected:            "rejected R for the E environment in project P",
	flags.RequestCancelled:           "cancelled R for the E environment in project P",
	flags.RequestApplied:             "applied R to the E environment in project P",
	flags.RequestScheduled:           "scheduled R for the E environment in project P",
	flags.RequestScheduleApplied:     "scheduled R, which is applied to the E environment in project P now",
	flags.RequestScheduleFailed:      "scheduled R, which could not be applied to the E environment in project P",
	flags.RequestScheduleSuspended:   "scheduled R, which is suspended for the E environment in project P",
	flags.RequestCommented:           "commented on R for the E environment in project P",
}

// A slackSubject is what the texts name of the state before or after a change.
type slackSubject struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"value"`

	Request int64  `json:"changeRequestId"`
	Title   string `json:"title"` // of a change request or strategy

	Milestone string `json:"milestoneName"`
	Cause     string `json:"cause"` // of what a release plan did by itself, or in spite of a signal
	Safeguard struct {
		Action struct {
			Type flags.SafeguardAction `json:"type"`
		} `json:"action"`
	} `json:"safeguard"`
}

// slackText says who did what. The change request or the flag links to its page.
func slackText(event flags.Event, publicURL string) string {
	subject := subjectOf(event)
	words, known := slackTexts[event.Type]
	switch {
	case event.Type == flags.SafeguardTriggered && subject.Safeguard.Action.Type == flags.SafeguardPause:
		words = slackTexts[flags.ReleasePlanPaused]
	case !known:
		words = otherWords(event, subject)
	}
	request := strings.TrimSuffix(fmt.Sprintf("change request %d: %s", subject.Request, subject.Title), ": ")
	values := map[string]string{
		"F": event.FeatureName, "E": event.Environment, "P": event.Project, "R": request,
		"S": subject.Name, "N": subject.Name, "M": subject.Milestone, "T": strings.Trim(subject.Type+":"+subject.Value, ":"),
	}
	link := linkOf(publicURL, event, subject)
	parts := strings.Fields(words)
	for i, part := range parts {
		value, found := values[part]
		switch {
		case found && link != "" && (part == "R" || part == "F" && subject.Request == 0):
			parts[i] = "*<" + escaped(link) + "|" + escaped(value) + ">*"
		case found:
			parts[i] = bold(value)
		}
	}
	text := bold(event.CreatedBy) + " " + strings.Join(parts, " ")
	if subject.Cause != "" {
		text += ": " + escaped(subject.Cause)
	}
	return text
}

// otherWords are the words for a type that has none of its own: "created segment N" for segment-created.
func otherWords(event flags.Event, subject slackSubject) string {
	words := "caused " + string(event.Type)
	if i := strings.LastIndexByte(string(event.Type), '-'); i > 0 {
		words = string(event.Type[i+1:]) + " " + strings.ReplaceAll(string(event.Type[:i]), "-", " ")
	}
	switch {
	case subject.Request != 0:
		words += " of R"
	case event.FeatureName != "":
		words += " of F"
	case subject.Name != "":
		words += " N"
	}
	if event.Environment != "" {
		words += " for the E environment"
	}
	if event.Project != "" {
		words += " in project P"
	}
	return words
}

// subjectOf reads the state after the change, or before it if nothing is left.
func subjectOf(event flags.Event) slackSubject {
	for _, state := range []any{event.Data, event.PreData} {
		document, _ := state.(jsontext.Value)
		var subject slackSubject
		if json.Unmarshal(document, &subject) == nil && subject != (slackSubject{}) {
			return subject
		}
	}
	return slackSubject{}
}

// bold marks a name.
func bold(name string) string {
	if name == "" {
		return "?"
	}
	return "*" + escaped(name) + "*"
}

// escaped is a text as Slack asks for it, so that it cannot mention anyone, link anywhere, end a bold name, or begin a line.
func escaped(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control):
			return ' '
		case r == '*':
			return '∗' // looks the same, and is no markup
		}
		return r
	}, text)
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}
