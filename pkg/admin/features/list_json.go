package features

import (
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/shape"
)

// chunk is about how much of a list is written at once, in bytes.
const chunk = 32 << 10

// SizeHint is about the length of the list as JSON, in bytes.
func (l featureList) SizeHint() int {
	if len(l.Features) == 0 {
		return chunk
	}
	return len(l.Features)*(len(l.Features[0].appendJSON(nil))+16) + chunk/8
}

// WriteJSON writes the list as JSON: the same bytes as package json, which takes six times as long for each flag, because it finds
// fields by reflection. A list can have thousands of flags.
func (l featureList) WriteJSON(out io.Writer) error {
	b := strconv.AppendInt(append(make([]byte, 0, chunk+chunk/8), `{"version":`...), int64(l.Version), 10)
	b = append(b, `,"features":[`...)
	for i, f := range l.Features {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(f.appendJSON(b), '}')
		if len(b) < chunk {
			continue
		}
		if _, err := out.Write(b); err != nil {
			return err
		}
		b = b[:0]
	}
	b = append(b, ']')
	if l.Next != "" {
		b = appendText(append(b, `,"next":`...), l.Next)
	}
	_, err := out.Write(append(b, '}'))
	return err
}

// appendJSON appends a flag without the brace at its end.
func (f *listedFeature) appendJSON(b []byte) []byte {
	b = appendText(append(b, `{"name":`...), f.Name)
	b = appendText(append(b, `,"type":`...), string(f.Type))
	b = appendOptional(append(b, `,"description":`...), f.Description)
	b = strconv.AppendBool(append(b, `,"stale":`...), f.Stale)
	b = strconv.AppendBool(append(b, `,"impressionData":`...), f.ImpressionData)
	b = appendTime(append(b, `,"createdAt":`...), &f.CreatedAt)
	b = appendTime(append(b, `,"lastSeenAt":`...), f.LastSeenAt)
	b = strconv.AppendBool(append(b, `,"favorite":`...), f.Favorite)
	b = append(b, `,"environments":[`...)
	for i := range f.Environments {
		if i > 0 {
			b = append(b, ',')
		}
		e := &f.Environments[i]
		b = appendText(append(b, `{"name":`...), e.Name)
		b = appendText(append(b, `,"displayName":`...), e.DisplayName)
		b = strconv.AppendBool(append(b, `,"enabled":`...), e.Enabled)
		b = appendText(append(b, `,"type":`...), e.Type)
		b = strconv.AppendInt(append(b, `,"sortOrder":`...), e.SortOrder, 10)
		b = strconv.AppendInt(append(b, `,"variantCount":`...), int64(e.VariantCount), 10)
		b = strconv.AppendBool(append(b, `,"hasStrategies":`...), e.HasStrategies)
		b = strconv.AppendBool(append(b, `,"hasEnabledStrategies":`...), e.HasEnabledStrategies)
		b = append(appendTime(append(b, `,"lastSeenAt":`...), e.LastSeenAt), '}')
	}
	b = append(b, ']')
	if len(f.Tags) > 0 {
		b = append(b, `,"tags":[`...)
		for i, tag := range f.Tags {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(append(b, `{"type":`...), tag.Type)
			b = append(appendText(append(b, `,"value":`...), tag.Value), '}')
		}
		b = append(b, ']')
	}
	b = appendText(append(b, `,"lifecycle":{"stage":`...), string(f.Lifecycle.Stage))
	b = appendTime(append(b, `,"enteredStageAt":`...), &f.Lifecycle.EnteredAt)
	if f.Lifecycle.Status != "" {
		b = appendText(append(b, `,"status":`...), string(f.Lifecycle.Status))
	}
	if f.Lifecycle.StatusValue != "" {
		b = appendText(append(b, `,"statusValue":`...), f.Lifecycle.StatusValue)
	}
	return append(b, '}')
}

func appendText(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text) // fails for invalid UTF-8, which it has replaced
	return b
}

func appendOptional(b []byte, text *string) []byte {
	if text == nil {
		return append(b, "null"...)
	}
	return appendText(b, *text)
}

func appendTime(b []byte, t *shape.Time) []byte {
	if t == nil {
		return append(b, "null"...)
	}
	b, _ = t.AppendText(append(b, '"')) // never fails
	return append(b, '"')
}
