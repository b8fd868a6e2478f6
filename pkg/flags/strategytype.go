package flags

import "slices"

// A StrategyType is a sort of strategy that somebody defined beside the built-in ones; SDKs bring what it does.
type StrategyType struct {
	Name        string
	Title       string
	Description string
	Deprecated  bool
	Parameters  []StrategyParameter
}

// A StrategyParameter is a parameter that strategies of a type have.
type StrategyParameter struct {
	Name        string
	Type        string // string, percentage, list, number or boolean
	Description string
	Required    bool
}

// StrategyTypes is the registry of the strategy types that are not built in, one aggregate.
type StrategyTypes struct {
	Version int64
	List    []StrategyType
}

// Key names the registry.
func (s *StrategyTypes) Key() Key { return StrategyTypesKey() }

func (s *StrategyTypes) version() int64 { return s.Version }

// Clone is a copy to change.
func (s *StrategyTypes) Clone() *StrategyTypes {
	c := *s
	c.List = slices.Clone(s.List)
	return &c
}
