package httpapi

// Users serves users, service accounts, roles, and who holds which role in a project (contract: Project users).
func Users() Group {
	return Group{Name: "users", Operations: []Operation{}}
}
