package httpapi

import (
	"unicode/utf8"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// InService is the place of an operation on the whole service: its path names nothing.
type InService struct{}

// Keys are none.
func (*InService) Keys() []flags.Key { return nil }

// Authorize asks for the permission in the whole service.
func (*InService) Authorize(tx *Tx, p access.Permission) error {
	return tx.Caller.Authorize(p, nil, "")
}

// InProject is the place of an operation on a project.
type InProject struct {
	ProjectID string `path:"projectId"`
}

// Keys names the project.
func (at *InProject) Keys() []flags.Key { return ProjectKeys(at.ProjectID) }

// Authorize asks for the permission in the project. A caller who may not see a project gets the same response whether it
// exists or not.
func (at *InProject) Authorize(tx *Tx, p access.Permission) error {
	return tx.Caller.Authorize(p, tx.FindProject(at.ProjectID), "")
}

// Project is the project of the path. NotFound when it does not exist.
func (at InProject) Project(tx *Tx) *flags.Project { return tx.Project(at.ProjectID) }

// InProjectEnvironment is the place of an operation on an environment of a project.
type InProjectEnvironment struct {
	InProject
	Environment string `path:"environment"`
}

// Keys names the project and the registry of environments.
func (at *InProjectEnvironment) Keys() []flags.Key {
	return append(at.InProject.Keys(), flags.EnvironmentsKey())
}

// Authorize asks for the permission in the environment of the project.
func (at *InProjectEnvironment) Authorize(tx *Tx, p access.Permission) error {
	return tx.Caller.Authorize(p, tx.FindProject(at.ProjectID), at.Environment)
}

// Find is the project of the path and its environment. NotFound when one of them does not exist.
func (at InProjectEnvironment) Find(tx *Tx) (*flags.Project, flags.ProjectEnvironment) {
	p := tx.Project(at.ProjectID)
	return p, tx.ProjectEnvironment(p, at.Environment)
}

// InFeature is the place of an operation on a flag of a project.
type InFeature struct {
	InProject
	FeatureName string `path:"featureName"`
}

// Keys names the project and the flag.
func (at *InFeature) Keys() []flags.Key {
	return append(ProjectKeys(at.ProjectID), FeatureKeys(at.FeatureName)...)
}

// Feature is the flag of the path. NotFound when the project or the flag does not exist, when the flag is in another
// project, or when it is archived.
func (at InFeature) Feature(tx *Tx) *flags.Feature {
	return tx.FeatureOf(tx.Project(at.ProjectID), at.FeatureName)
}

// FeatureOrArchived is the flag of the path, active or archived.
func (at InFeature) FeatureOrArchived(tx *Tx) *flags.Feature {
	return tx.FeatureOrArchivedOf(tx.Project(at.ProjectID), at.FeatureName)
}

// InFeatureEnvironment is the place of an operation on a flag in an environment.
type InFeatureEnvironment struct {
	InFeature
	Environment string `path:"environment"`
}

// Keys names the project, the flag and the registry of environments.
func (at *InFeatureEnvironment) Keys() []flags.Key {
	return append(at.InFeature.Keys(), flags.EnvironmentsKey())
}

// Authorize asks for the permission in the environment of the project.
func (at *InFeatureEnvironment) Authorize(tx *Tx, p access.Permission) error {
	return tx.Caller.Authorize(p, tx.FindProject(at.ProjectID), at.Environment)
}

// Find is the flag of the path and the environment. NotFound when the project, the flag or the environment does not exist,
// or when the flag is archived.
func (at InFeatureEnvironment) Find(tx *Tx) (*flags.Feature, flags.ProjectEnvironment) {
	p := tx.Project(at.ProjectID)
	f := tx.FeatureOf(p, at.FeatureName)
	return f, tx.ProjectEnvironment(p, at.Environment)
}

// InFeatureAlone is the place of an operation on a flag whose path names no project: permissions are asked for in the
// flag's own project.
type InFeatureAlone struct {
	FeatureName string `path:"featureName"`
}

// Keys names the flag.
func (at *InFeatureAlone) Keys() []flags.Key { return FeatureKeys(at.FeatureName) }

// MoreKeys names the flag's project, which decides what a user may do.
func (at *InFeatureAlone) MoreKeys(tx *Tx) []flags.Key {
	if f := tx.FindFeature(at.FeatureName); f != nil {
		return []flags.Key{flags.ProjectKey(f.Project)}
	}
	return nil
}

// Authorize requires the permission in the flag's project. Everyone with read access learns that a flag does not exist.
func (at *InFeatureAlone) Authorize(tx *Tx, p access.Permission) error {
	f := tx.FindFeature(at.FeatureName)
	switch {
	case f == nil:
		return tx.Caller.Authorize(access.Read, nil, "")
	case tx.Caller.User == nil:
		return tx.Caller.Authorize(p, nil, "") // an API token: it holds the permission everywhere or nowhere
	}
	project := tx.FindProject(f.Project)
	if project != nil && project.UID != f.ProjectUID {
		project = nil // a later project with the same id
	}
	return tx.Caller.Authorize(p, project, "")
}

// Feature is the flag of the path. NotFound when it does not exist or is archived.
func (at InFeatureAlone) Feature(tx *Tx) *flags.Feature { return tx.FeatureOf(nil, at.FeatureName) }

// FeatureOrArchived is the flag of the path, active or archived.
func (at InFeatureAlone) FeatureOrArchived(tx *Tx) *flags.Feature {
	return tx.FeatureOrArchivedOf(nil, at.FeatureName)
}

// ProjectKeys are the keys of projects. What cannot be an id is left out: the store would refuse a key that is too long.
func ProjectKeys(ids ...string) []flags.Key { return keysOf(ids, flags.ProjectKey) }

// FeatureKeys are the keys of flags. What cannot be a name is left out.
func FeatureKeys(names ...string) []flags.Key { return keysOf(names, flags.FeatureKey) }

func keysOf(names []string, key func(string) flags.Key) []flags.Key {
	keys := make([]flags.Key, 0, len(names)+3) // room for the token, its use and a registry
	for _, name := range names {
		if flags.CheckName(name) == "" {
			keys = append(keys, key(name))
		}
	}
	return keys
}

// ApplicationKeys are the keys of applications and of the names of their flags. What cannot be a name is left out.
func ApplicationKeys(names ...string) []flags.Key {
	var keys []flags.Key
	for _, name := range names {
		if canBeReported(name) {
			keys = append(keys, usage.ApplicationKey(name), usage.ApplicationNamesKey(name))
		}
	}
	return keys
}

// InstancesKeys are the keys of the instances of an application in an environment. What cannot be a name is left out.
func InstancesKeys(application, environment string) []flags.Key {
	if !canBeReported(application) || flags.CheckName(environment) != "" {
		return nil
	}
	return []flags.Key{usage.InstancesKey(application, environment)}
}

// canBeReported reports whether an application can have a name. Applications choose their names, so nearly all texts are names.
func canBeReported(name string) bool {
	const longest = 255 * utf8.UTFMax // bytes
	return name != "" && len(name) <= longest && utf8.ValidString(name)
}
