package users

import (
	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// A heldRoleBody can repeat the parameters of the path (contract: Project users), and nothing else.
type heldRoleBody struct {
	UserID    jsonbody.Maybe[int64]  `json:"userId"`
	ProjectID jsonbody.Maybe[string] `json:"projectId"`
	RoleID    jsonbody.Maybe[int64]  `json:"roleId"`
}

// checkPath returns Invalid if the body contradicts the path.
func (b heldRoleBody) checkPath(at inMemberRole) error {
	const message = "must be the same as in the path, %v, or absent"
	var problems flags.Problems
	if b.UserID.Or(at.UserID) != at.UserID {
		problems.Add("/userId", message, at.UserID)
	}
	if b.ProjectID.Or(at.ProjectID) != at.ProjectID {
		problems.Add("/projectId", message, jsonbody.Shorten(at.ProjectID))
	}
	if b.RoleID.Or(at.RoleID) != at.RoleID {
		problems.Add("/roleId", message, at.RoleID)
	}
	return problems.Err()
}

// addProjectRole gives a user a role in the project, in addition to other roles there.
func addProjectRole(tx *httpapi.Tx, at inMemberRole, in heldRoleBody) error {
	if err := in.checkPath(at); err != nil {
		return err
	}
	project, user, role := at.find(tx)
	if err := authorizeGrant(tx.Caller, role, project); err != nil {
		return err
	}
	if err := user.AddRole(project, role.ID); err != nil {
		return err
	}
	tx.Save(events.ProjectUserAdded(httpapi.Was(tx, project), project, user.ID), project, user)
	return nil
}

// replaceProjectRoles gives a member of the project one role instead of all others there. A user who is no member stays
// none.
func replaceProjectRoles(tx *httpapi.Tx, at inMemberRole, in heldRoleBody) error {
	if err := in.checkPath(at); err != nil {
		return err
	}
	project, user, role := at.find(tx)
	if err := authorizeGrant(tx.Caller, role, project); err != nil {
		return err
	}
	if len(project.RolesOf(user.ID)) == 0 {
		return nil
	}
	user.SetRoles(project, []int64{role.ID})
	tx.Save(events.ProjectUserRoleChanged(httpapi.Was(tx, project), project, user.ID), project, user)
	return nil
}

// removeProjectRole removes a role in the project from a user. A user without roles leaves the project.
func removeProjectRole(tx *httpapi.Tx, at inMemberRole, in heldRoleBody) error {
	if err := in.checkPath(at); err != nil {
		return err
	}
	project, user, role := at.find(tx)
	if err := user.RemoveRole(project, role.ID); err != nil {
		return err
	}
	tx.Save(events.ProjectUserRemoved(httpapi.Was(tx, project), project, user.ID), project, user)
	return nil
}

// authorizeGrant returns Invalid if the role cannot be held in a project, and Forbidden if the caller must not give it.
func authorizeGrant(caller access.Caller, role access.Role, project *flags.Project) error {
	if !role.Type.IsProjectRole() {
		return flags.Errorf(flags.Invalid, "role %d (%q) is held in the whole service and cannot be given in a project", role.ID, role.Name)
	}
	return caller.AuthorizeGrant(role, project)
}
