package dynamo

import "guidon/pkg/access"

var rolesEntity = entity{
	name:   access.EntityRoles,
	key:    func(string) itemKey { return registryKey(access.EntityRoles) },
	title:  func(string) string { return "the list of roles" },
	exists: registryExists,
	codec:  jsonCodec(storeRoles, rolesDocument.roles),
	kept:   true,
}

// A rolesDocument is the stored form of the registry of custom roles.
type rolesDocument struct {
	Format int            `json:"format"`
	Custom []roleDocument `json:"custom"`
	NextID int64          `json:"nextId"`

	EnvironmentsDeleted int64 `json:"environmentsDeleted,omitzero"`
}

type roleDocument struct {
	ID          int64           `json:"id"`
	Type        access.RoleType `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitzero"`
	Permissions []grantDocument `json:"permissions,omitempty"`
}

type grantDocument struct {
	Permission  access.Permission `json:"permission"`
	Environment string            `json:"environment,omitzero"`
}

func storeRoles(r *access.Roles) rolesDocument {
	return rolesDocument{Format: format, NextID: r.NextID, EnvironmentsDeleted: r.EnvironmentsDeleted, Custom: convert(r.Custom, func(role access.Role) roleDocument {
		return roleDocument{role.ID, role.Type, role.Name, role.Description,
			convert(role.Permissions, func(g access.Grant) grantDocument { return grantDocument(g) })}
	})}
}

func (doc rolesDocument) roles(version int64) *access.Roles {
	return &access.Roles{Version: version, NextID: doc.NextID, EnvironmentsDeleted: doc.EnvironmentsDeleted, Custom: convert(doc.Custom, func(role roleDocument) access.Role {
		return access.Role{ID: role.ID, Type: role.Type, Name: role.Name, Description: role.Description,
			Permissions: convert(role.Permissions, func(g grantDocument) access.Grant { return access.Grant(g) })}
	})}
}
