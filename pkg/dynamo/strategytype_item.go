package dynamo

import "guidon/pkg/flags"

var strategyTypesEntity = entity{
	name:   flags.EntityStrategyTypes,
	key:    func(string) itemKey { return registryKey(flags.EntityStrategyTypes) },
	title:  func(string) string { return "the list of strategy types" },
	exists: registryExists,
	codec:  jsonCodec(storeStrategyTypes, strategyTypesDocument.strategyTypes),
}

// A strategyTypesDocument is the stored form of the registry of strategy types.
type strategyTypesDocument struct {
	Format int                    `json:"format"`
	List   []strategyTypeDocument `json:"list"`
}

type strategyTypeDocument struct {
	Name        string                      `json:"name"`
	Title       string                      `json:"title,omitzero"`
	Description string                      `json:"description,omitzero"`
	Deprecated  bool                        `json:"deprecated,omitzero"`
	Parameters  []strategyParameterDocument `json:"parameters,omitempty"`
}

type strategyParameterDocument struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description,omitzero"`
	Required    bool   `json:"required,omitzero"`
}

func storeStrategyTypes(s *flags.StrategyTypes) strategyTypesDocument {
	return strategyTypesDocument{Format: format, List: convert(s.List, func(t flags.StrategyType) strategyTypeDocument {
		return strategyTypeDocument{t.Name, t.Title, t.Description, t.Deprecated,
			convert(t.Parameters, func(p flags.StrategyParameter) strategyParameterDocument { return strategyParameterDocument(p) })}
	})}
}

func (doc strategyTypesDocument) strategyTypes(version int64) *flags.StrategyTypes {
	return &flags.StrategyTypes{Version: version, List: convert(doc.List, func(t strategyTypeDocument) flags.StrategyType {
		return flags.StrategyType{Name: t.Name, Title: t.Title, Description: t.Description, Deprecated: t.Deprecated,
			Parameters: convert(t.Parameters, func(p strategyParameterDocument) flags.StrategyParameter { return flags.StrategyParameter(p) })}
	})}
}
