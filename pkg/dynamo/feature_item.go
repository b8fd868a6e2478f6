package dynamo

import (
	"strconv"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

var featureEntity = entity{
	name:  flags.EntityFeature,
	key:   func(name string) itemKey { return itemKey{"FLAG#" + name, "FLAG"} },
	title: featureTitle,
	codec: jsonCodec(storeFeature, featureDocument.feature),
	exists: func(name string) conditionError {
		return permanent(flags.Errorf(flags.NameExists, "the flag name %q is taken; an archived flag keeps its name", name))
	},
	row: func(a flags.Aggregate) (string, itemKey, error) {
		f := a.(*flags.Feature)
		document, err := encode(storeRow(f.Summary()))
		return document, rowKey(f), err
	},
	dependents: func(s *Store, tx *transaction, before, after flags.Aggregate) error {
		old, _ := before.(*flags.Feature)
		f, _ := after.(*flags.Feature)
		tx.countFeature(old, f)
		tx.countSegments(old, f)
		return s.planUse(tx, old, f)
	},
}

func featureTitle(name string) string { return "the flag " + strconv.Quote(name) }

// A featureDocument is the stored form of a flag.
type featureDocument struct {
	Format         int                            `json:"format"`
	Name           string                         `json:"name"`
	Project        string                         `json:"project"`
	ProjectUID     string                         `json:"projectUid"`
	Type           flags.FeatureType              `json:"type"`
	Description    *string                        `json:"description"`
	Stale          bool                           `json:"stale,omitzero"`
	ImpressionData bool                           `json:"impressionData,omitzero"`
	Archived       bool                           `json:"archived,omitzero"`
	CreatedAt      time.Time                      `json:"createdAt"`
	CreatedBy      string                         `json:"createdBy"`
	ArchivedAt     time.Time                      `json:"archivedAt,omitzero"`
	LastSeenAt     time.Time                      `json:"lastSeenAt,omitzero"`
	Tags           []shape.Tag                    `json:"tags,omitempty"`
	Favorites      []string                       `json:"favorites,omitempty"`
	Dependencies   []dependencyDocument           `json:"dependencies,omitempty"`
	Children       []string                       `json:"children,omitempty"`
	Lifecycle      []phaseDocument                `json:"lifecycle,omitempty"`
	Environments   map[string]environmentDocument `json:"environments,omitzero"`
}

type environmentDocument struct {
	Environment string             `json:"environment"`
	EnabledIn   string             `json:"enabledIn,omitzero"`
	Strategies  []strategyDocument `json:"strategies,omitempty"`
	Variants    []shape.Variant    `json:"variants,omitempty"`
	LastSeenAt  time.Time          `json:"lastSeenAt,omitzero"`
}

type strategyDocument struct {
	ID          string               `json:"id"`
	Name        string               `json:"name"`
	Title       *string              `json:"title,omitzero"`
	Disabled    bool                 `json:"disabled,omitzero"`
	SortOrder   float64              `json:"sortOrder"`
	Segments    []int64              `json:"segments,omitempty"`
	Constraints []constraintDocument `json:"constraints,omitempty"`
	Parameters  map[string]string    `json:"parameters,omitempty"`
	Variants    []shape.Variant      `json:"variants,omitempty"`
}

// A constraintDocument leaves out false and empty values, unlike shape.Constraint: a flag can have thousands of constraints
// and must fit in an item.
type constraintDocument struct {
	ContextName     string         `json:"contextName"`
	Operator        flags.Operator `json:"operator"`
	Values          []string       `json:"values,omitempty"`
	Value           *string        `json:"value,omitzero"`
	CaseInsensitive bool           `json:"caseInsensitive,omitzero"`
	Inverted        bool           `json:"inverted,omitzero"`
}

// A dependencyDocument leaves out false and empty values, unlike shape.Dependency, for the same reason.
type dependencyDocument struct {
	Feature  string   `json:"feature"`
	Enabled  bool     `json:"enabled,omitzero"`
	Variants []string `json:"variants,omitempty"`
}

// A phaseDocument is a stage of a flag's lifecycle. Its field names are short because list rows have one too.
type phaseDocument struct {
	Stage     flags.Stage            `json:"s"`
	EnteredAt time.Time              `json:"at"`
	Status    flags.CompletionStatus `json:"st,omitzero"`
	Value     string                 `json:"v,omitzero"`
}

func storePhase(p flags.Phase) phaseDocument {
	return phaseDocument{p.Stage, p.EnteredAt, p.Status, p.Value}
}

func (doc phaseDocument) phase() flags.Phase {
	return flags.Phase{Stage: doc.Stage, EnteredAt: doc.EnteredAt, Completion: flags.Completion{Status: doc.Status, Value: doc.Value}}
}

func storeFeature(f *flags.Feature) featureDocument {
	doc := featureDocument{
		Format: format, Name: f.Name, Project: f.Project, ProjectUID: f.ProjectUID, Type: f.Type,
		Description: f.Description, Stale: f.Stale, ImpressionData: f.ImpressionData, Archived: f.Archived,
		CreatedAt: f.CreatedAt, CreatedBy: f.CreatedBy, ArchivedAt: f.ArchivedAt, LastSeenAt: f.LastSeenAt,
		Tags: shape.Tags(f.Tags), Favorites: f.Favorites,
		Dependencies: convert(f.Dependencies, func(d flags.Dependency) dependencyDocument { return dependencyDocument(d) }), Children: f.Children, Lifecycle: convert(f.Lifecycle, storePhase),
	}
	if len(f.Environments) > 0 {
		doc.Environments = make(map[string]environmentDocument, len(f.Environments))
	}
	for name, fe := range f.Environments {
		doc.Environments[name] = environmentDocument{
			Environment: fe.EnvironmentUID, EnabledIn: fe.EnabledIn, LastSeenAt: fe.LastSeenAt,
			Strategies: convert(fe.Strategies, storeStrategy), Variants: convert(fe.Variants, shape.VariantOf),
		}
	}
	return doc
}

func (doc featureDocument) feature(version int64) *flags.Feature {
	f := &flags.Feature{
		Version: version, Name: doc.Name, Project: doc.Project, ProjectUID: doc.ProjectUID,
		Metadata: flags.Metadata{Type: doc.Type, Description: doc.Description, Stale: doc.Stale, ImpressionData: doc.ImpressionData},
		Archived: doc.Archived, CreatedAt: doc.CreatedAt, CreatedBy: doc.CreatedBy,
		ArchivedAt: doc.ArchivedAt, LastSeenAt: doc.LastSeenAt,
		Tags: convert(doc.Tags, func(t shape.Tag) flags.Tag { return flags.Tag(t) }), Favorites: doc.Favorites,
		Dependencies: convert(doc.Dependencies, func(d dependencyDocument) flags.Dependency { return flags.Dependency(d) }), Children: doc.Children,
		Lifecycle:    convert(doc.Lifecycle, phaseDocument.phase),
		Environments: make(map[string]flags.FeatureEnvironment, len(doc.Environments)),
	}
	for name, fe := range doc.Environments {
		f.Environments[name] = flags.FeatureEnvironment{
			EnvironmentState: flags.EnvironmentState{EnvironmentUID: fe.Environment, EnabledIn: fe.EnabledIn},
			Strategies:       convert(fe.Strategies, strategyDocument.strategy), Variants: convert(fe.Variants, shape.Variant.Variant),
			LastSeenAt: fe.LastSeenAt,
		}
	}
	return f
}

func storeStrategy(s flags.Strategy) strategyDocument {
	return strategyDocument{
		ID: s.ID, Name: s.Name, Title: s.Title, Disabled: s.Disabled, SortOrder: s.SortOrder, Segments: s.Segments,
		Constraints: convert(s.Constraints, func(c flags.Constraint) constraintDocument { return constraintDocument(c) }),
		Parameters:  s.Parameters, Variants: convert(s.Variants, shape.VariantOf),
	}
}

func (doc strategyDocument) strategy() flags.Strategy {
	return flags.Strategy{
		ID: doc.ID, Name: doc.Name, Title: doc.Title, Disabled: doc.Disabled, SortOrder: doc.SortOrder, Segments: doc.Segments,
		Constraints: convert(doc.Constraints, func(c constraintDocument) flags.Constraint { return flags.Constraint(c) }),
		Parameters:  doc.Parameters, Variants: convert(doc.Variants, shape.Variant.Variant),
	}
}
