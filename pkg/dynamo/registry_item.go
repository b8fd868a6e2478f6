package dynamo

import "guidon/pkg/flags"

// A rolesDocument is the registry of custom roles as it is stored.
type rolesDocument struct {
	Format int            `json:"format"`
	Custom []roleDocument `json:"custom"`
	NextID int64          `json:"nextId"`

	EnvironmentsDeleted int64 `json:"environmentsDeleted,omitzero"`
}

type roleDocument struct {
	ID          int64           `json:"id"`
	Type        flags.RoleType  `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitzero"`
	Permissions []grantDocument `json:"permissions,omitempty"`
}

type grantDocument struct {
	Permission  flags.Permission `json:"permission"`
	Environment string           `json:"environment,omitzero"`
}

func storeRoles(r *flags.Roles) rolesDocument {
	return rolesDocument{Format: format, NextID: r.NextID, EnvironmentsDeleted: r.EnvironmentsDeleted, Custom: each(r.Custom, func(role flags.Role) roleDocument {
		return roleDocument{role.ID, role.Type, role.Name, role.Description,
			each(role.Permissions, func(g flags.Grant) grantDocument { return grantDocument(g) })}
	})}
}

func (doc rolesDocument) roles(version int64) *flags.Roles {
	return &flags.Roles{Version: version, NextID: doc.NextID, EnvironmentsDeleted: doc.EnvironmentsDeleted, Custom: each(doc.Custom, func(role roleDocument) flags.Role {
		return flags.Role{ID: role.ID, Type: role.Type, Name: role.Name, Description: role.Description,
			Permissions: each(role.Permissions, func(g grantDocument) flags.Grant { return flags.Grant(g) })}
	})}
}

// A tagTypesDocument is the registry of tag types as it is stored.
type tagTypesDocument struct {
	Format int               `json:"format"`
	List   []tagTypeDocument `json:"list"`
}

type tagTypeDocument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
	Icon        string `json:"icon,omitzero"`
}

func storeTagTypes(t *flags.TagTypes) tagTypesDocument {
	return tagTypesDocument{Format: format, List: each(t.List, func(tt flags.TagType) tagTypeDocument { return tagTypeDocument(tt) })}
}

func (doc tagTypesDocument) tagTypes(version int64) *flags.TagTypes {
	return &flags.TagTypes{Version: version, List: each(doc.List, func(tt tagTypeDocument) flags.TagType { return flags.TagType(tt) })}
}

// A strategyTypesDocument is the registry of strategy types as it is stored.
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
	return strategyTypesDocument{Format: format, List: each(s.List, func(t flags.StrategyType) strategyTypeDocument {
		return strategyTypeDocument{t.Name, t.Title, t.Description, t.Deprecated,
			each(t.Parameters, func(p flags.StrategyParameter) strategyParameterDocument { return strategyParameterDocument(p) })}
	})}
}

func (doc strategyTypesDocument) strategyTypes(version int64) *flags.StrategyTypes {
	return &flags.StrategyTypes{Version: version, List: each(doc.List, func(t strategyTypeDocument) flags.StrategyType {
		return flags.StrategyType{Name: t.Name, Title: t.Title, Description: t.Description, Deprecated: t.Deprecated,
			Parameters: each(t.Parameters, func(p strategyParameterDocument) flags.StrategyParameter { return flags.StrategyParameter(p) })}
	})}
}
