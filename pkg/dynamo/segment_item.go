package dynamo

import "guidon/pkg/flags"

// A segmentDocument is a segment as it is stored.
type segmentDocument struct {
	Format      int                  `json:"format"`
	ID          int64                `json:"id"`
	Name        string               `json:"name"`
	Description *string              `json:"description,omitzero"`
	Project     string               `json:"project,omitzero"`
	ProjectUID  string               `json:"projectUid,omitzero"`
	Constraints []constraintDocument `json:"constraints,omitempty"`
	CreatedAt   stamp                `json:"createdAt"`
	CreatedBy   string               `json:"createdBy"`
}

func storeSegment(s *flags.Segment) segmentDocument {
	return segmentDocument{
		Format: format, ID: s.ID, Name: s.Name, Description: s.Description, Project: s.Project, ProjectUID: s.ProjectUID,
		Constraints: each(s.Constraints, func(c flags.Constraint) constraintDocument { return constraintDocument(c) }),
		CreatedAt:   s.CreatedAt, CreatedBy: s.CreatedBy,
	}
}

func (doc segmentDocument) segment(version int64) *flags.Segment {
	return &flags.Segment{
		Version: version, ID: doc.ID, Name: doc.Name, Description: doc.Description, Project: doc.Project, ProjectUID: doc.ProjectUID,
		Constraints: each(doc.Constraints, func(c constraintDocument) flags.Constraint { return flags.Constraint(c) }),
		CreatedAt:   doc.CreatedAt, CreatedBy: doc.CreatedBy,
	}
}

// A useDocument is what a flag uses, as it is stored. Its names are short: there is one for each strategy.
type useDocument struct {
	Format     int                   `json:"format"`
	Feature    string                `json:"feature"`
	Project    string                `json:"project"`
	ProjectUID string                `json:"projectUid,omitzero"`
	Archived   bool                  `json:"archived,omitzero"`
	Strategies []strategyUseDocument `json:"strategies"`
}

type strategyUseDocument struct {
	ID             string   `json:"id"`
	Name           string   `json:"name"`
	Environment    string   `json:"env"`
	EnvironmentUID string   `json:"envUid"`
	Segments       []int64  `json:"segments,omitempty"`
	ContextFields  []string `json:"fields,omitempty"`
}

func storeUse(u flags.FeatureUse) useDocument {
	return useDocument{format, u.Feature, u.Project, u.ProjectUID, u.Archived,
		each(u.Strategies, func(s flags.StrategyUse) strategyUseDocument { return strategyUseDocument(s) })}
}

func (doc useDocument) use() flags.FeatureUse {
	return flags.FeatureUse{Feature: doc.Feature, Project: doc.Project, ProjectUID: doc.ProjectUID, Archived: doc.Archived,
		Strategies: each(doc.Strategies, func(s strategyUseDocument) flags.StrategyUse { return flags.StrategyUse(s) })}
}

// A contextFieldsDocument is the registry of context fields as it is stored.
type contextFieldsDocument struct {
	Format int                    `json:"format"`
	List   []contextFieldDocument `json:"list"`
}

type contextFieldDocument struct {
	Name        string               `json:"name"`
	Description *string              `json:"description,omitzero"`
	Stickiness  bool                 `json:"stickiness,omitzero"`
	SortOrder   int64                `json:"sortOrder"`
	LegalValues []legalValueDocument `json:"legalValues,omitempty"`
	CreatedAt   stamp                `json:"createdAt"`
}

type legalValueDocument struct {
	Value       string  `json:"value"`
	Description *string `json:"description,omitzero"`
}

func storeContextFields(r *flags.ContextFields) contextFieldsDocument {
	return contextFieldsDocument{Format: format, List: each(r.List, func(f flags.ContextField) contextFieldDocument {
		return contextFieldDocument{f.Name, f.Description, f.Stickiness, f.SortOrder,
			each(f.LegalValues, func(v flags.LegalValue) legalValueDocument { return legalValueDocument(v) }), f.CreatedAt}
	})}
}

func (doc contextFieldsDocument) contextFields(version int64) *flags.ContextFields {
	return &flags.ContextFields{Version: version, List: each(doc.List, func(f contextFieldDocument) flags.ContextField {
		return flags.ContextField{Name: f.Name, Description: f.Description, Stickiness: f.Stickiness, SortOrder: f.SortOrder, CreatedAt: f.CreatedAt,
			LegalValues: each(f.LegalValues, func(v legalValueDocument) flags.LegalValue { return flags.LegalValue(v) })}
	})}
}
