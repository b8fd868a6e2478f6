package dynamo

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
)

// A rowDocument is the stored form of a flag's list row. Its field names are short because a list reads thousands of rows.
type rowDocument struct {
	rowHead
	Environments map[string]rowStanding `json:"e,omitempty"`
}

// A rowHead is a row without its environments, which are the larger part of it, and which most searches do not compare.
//
// DynamoDB searches rows for texts in lower case, see mayHave. So a row with other letters in its name or tags has these once more, in
// lower case.
type rowHead struct {
	Format         int               `json:"f"`
	Lower          string            `json:"x,omitzero"`
	Name           string            `json:"n"`
	Project        string            `json:"p"`
	Type           flags.FeatureType `json:"t"`
	Description    *string           `json:"d,omitzero"`
	Stale          bool              `json:"s,omitzero"`
	ImpressionData bool              `json:"i,omitzero"`
	Archived       bool              `json:"a,omitzero"`
	CreatedAt      time.Time         `json:"c"`
	ArchivedAt     time.Time         `json:"ca,omitzero"`
	LastSeenAt     time.Time         `json:"l,omitzero"`
	Tags           []flags.Tag       `json:"g,omitempty"`
	Relation       flags.Relation    `json:"r,omitzero"`
	Entered        flags.Phase       `json:"y,omitzero"`
	Owner          string            `json:"o,omitzero"`
	ValueType      flags.ValueType   `json:"vt,omitzero"`
	DefaultValue   jsontext.Value    `json:"dv,omitzero"` // unless it is large, see flags.Feature.Summary
}

// A rowStanding is what a row has of the flag in one environment.
type rowStanding struct {
	Environment       string    `json:"u"`
	EnabledIn         string    `json:"on,omitzero"`
	Strategies        int       `json:"s,omitzero"`
	EnabledStrategies int       `json:"es,omitzero"`
	Segments          []int64   `json:"sg,omitempty"`
	Withheld          int       `json:"w,omitzero"`
	Targeted          bool      `json:"t,omitzero"`
	Variants          int       `json:"v,omitzero"`
	LastSeenAt        time.Time `json:"l,omitzero"`

	Plan *flags.PlanSummary `json:"p,omitzero"`
}

func storeRow(s flags.FeatureSummary) rowDocument {
	doc := rowDocument{rowHead: rowHead{
		Format: format, Lower: lowerOf(s), Name: s.Name, Project: s.Project, Type: s.Type, Description: s.Description, Stale: s.Stale,
		ImpressionData: s.ImpressionData, Archived: s.Archived,
		CreatedAt: s.CreatedAt, ArchivedAt: s.ArchivedAt, LastSeenAt: s.LastSeenAt,
		Tags: s.Tags, Relation: s.Relation, Entered: s.LastPhase, Owner: s.Owner,
		ValueType: s.ValueType, DefaultValue: s.DefaultValue,
	}, Environments: make(map[string]rowStanding, len(s.Environments))}
	for name, e := range s.Environments {
		doc.Environments[name] = rowStanding{
			Environment: e.EnvironmentUID, EnabledIn: e.EnabledIn, Strategies: e.Strategies,
			EnabledStrategies: e.EnabledStrategies, Segments: e.Segments, Withheld: e.Withheld, Targeted: e.Targeted,
			Variants: e.Variants, LastSeenAt: e.LastSeenAt, Plan: e.Plan,
		}
	}
	return doc
}

func (head *rowHead) summary() flags.FeatureSummary {
	return flags.FeatureSummary{
		Name: head.Name, Project: head.Project,
		Metadata: flags.Metadata{
			Type: head.Type, Description: head.Description, Stale: head.Stale, ImpressionData: head.ImpressionData, Owner: head.Owner,
			Typing: flags.Typing{ValueType: head.ValueType, DefaultValue: head.DefaultValue},
		},
		Archived: head.Archived, CreatedAt: head.CreatedAt, ArchivedAt: head.ArchivedAt, LastSeenAt: head.LastSeenAt,
		Tags: head.Tags, Relation: head.Relation, LastPhase: head.Entered,
	}
}

func (doc rowDocument) summary() flags.FeatureSummary {
	s := doc.rowHead.summary()
	s.Environments = make(map[string]flags.EnvironmentSummary, len(doc.Environments))
	for name, e := range doc.Environments {
		s.Environments[name] = e.summary()
	}
	return s
}

func (e rowStanding) summary() flags.EnvironmentSummary {
	return flags.EnvironmentSummary{
		EnvironmentState: flags.EnvironmentState{EnvironmentUID: e.Environment, EnabledIn: e.EnabledIn},
		Strategies:       e.Strategies, EnabledStrategies: e.EnabledStrategies, Segments: e.Segments,
		Withheld: e.Withheld, Targeted: e.Targeted, Variants: e.Variants, LastSeenAt: e.LastSeenAt, Plan: e.Plan,
	}
}

// lowerOf returns the name and the tags of a flag in lower case; "" if they have no other letters.
func lowerOf(s flags.FeatureSummary) string {
	text := s.Name
	for _, t := range s.Tags {
		text += " " + t.Type + " " + t.Value
	}
	if lower := strings.ToLower(text); lower != text {
		return lower
	}
	return ""
}

// mayHave is the condition that a row can have one of some texts in its name or a tag. They are in lower case and have only characters of
// names, which JSON does not escape.
func mayHave(texts []string) expression.ConditionBuilder {
	doc := expression.Name("doc")
	condition := doc.Contains(texts[0])
	for _, text := range texts[1:] {
		condition = condition.Or(doc.Contains(text))
	}
	return condition
}

// readRow decodes a list row.
func readRow(document string) (flags.FeatureSummary, error) {
	var doc rowDocument
	err := decode(document, &doc)
	return doc.summary(), err
}

// Listed looks for the list rows of flags in a project each, also those of archived flags: one call per 50 flags.
func (s *Store) Listed(ctx context.Context, projects map[string]string) (names []string, err error) {
	keys := make([]itemKey, 0, 2*len(projects))
	for name, uid := range projects {
		// Both in one call, so that no flag is missed that is archived or revived between two calls. It may be found twice.
		keys = append(keys, itemKey{projectPartition(uid), rowPrefix(false) + name}, itemKey{projectPartition(uid), rowPrefix(true) + name})
	}
	err = batchGet(ctx, s, keys, false, func(row envelope) error {
		_, name, _ := strings.Cut(row.SK, "#")
		names = append(names, name)
		return nil
	})
	slices.Sort(names)
	return slices.Compact(names), err
}
