package oldapi

import (
	"net/http"
	"strconv"

	"guidon/pkg/flags"
)

// The names of path parameters, the same in every route.
const (
	projectParam         = "projectId"
	featureParam         = "featureName"
	environmentParam     = "environment"     // of a project
	environmentNameParam = "environmentName" // of the service
	strategyParam        = "strategyId"
	parentParam          = "parent" // of a flag
	userParam            = "userId"
	tagTypeParam         = "tagType"
	strategyTypeParam    = "strategyType"
	tokenParam           = "token" // a secret
	userTokenParam       = "tokenId"
	roleParam            = "roleId"
	fieldParam           = "contextField"
	segmentParam         = "id"
)

// keysOf names the aggregates that reads needs for a request. What cannot be a name is not there, and is not asked for:
// the store would refuse a key that is too long.
func keysOf(reads Reads) func(*http.Request) []flags.Key {
	return func(r *http.Request) []flags.Key {
		keys := make([]flags.Key, 0, 4) // room for the token too
		if id := r.PathValue(projectParam); reads.has(theProject) && flags.CheckName(id) == "" {
			keys = append(keys, flags.ProjectKey(id))
		}
		if name := r.PathValue(featureParam); reads.has(theFeature) && flags.CheckName(name) == "" {
			keys = append(keys, flags.FeatureKey(name))
		}
		if reads.has(theEnvironments) {
			keys = append(keys, flags.EnvironmentsKey())
		}
		if reads.has(theRoles) {
			keys = append(keys, flags.RolesKey())
		}
		if reads.has(theTagTypes) {
			keys = append(keys, flags.TagTypesKey())
		}
		if reads.has(theStrategyTypes) {
			keys = append(keys, flags.StrategyTypesKey())
		}
		if reads.has(theContextFields) {
			keys = append(keys, flags.ContextFieldsKey())
		}
		if id, err := intParam(r.PathValue, segmentParam); reads.has(theSegment) && err == nil {
			keys = append(keys, flags.SegmentKey(id), flags.UseCountKey(id))
		}
		if id, err := intParam(r.PathValue, userParam); reads.has(theUser) && err == nil {
			keys = append(keys, flags.UserKey(id))
		}
		if reads.has(theToken) {
			keys = append(keys, flags.TokenKey(flags.HashSecret(r.PathValue(tokenParam))))
		}
		if reads.has(theSignup) {
			keys = append(keys, flags.SignupTokenKey(flags.HashSecret(r.PathValue(tokenParam))))
		}
		return keys
	}
}

// find puts what the path names into the call. Every 404 about a path is made here: a project, flag or environment
// that is not there, a flag reached through another project, an archived flag.
func (c *call) find(reads Reads, view flags.View) error {
	for _, id := range []struct {
		read  Reads
		param string
	}{{theUser, userParam}, {theRole, roleParam}, {theSegment, segmentParam}} {
		if _, err := intParam(c.param, id.param); err != nil && reads.has(id.read) {
			return err // a 400, before any 404
		}
	}
	if reads.has(theEnvironments) {
		if c.registry = flags.Find[*flags.Environments](view, flags.EnvironmentsKey()); c.registry == nil {
			return flags.Errorf(flags.Internal, "the store has not been set up: it has no environments")
		}
	}
	if reads.has(theProject) {
		id := c.param(projectParam)
		if c.project = flags.Find[*flags.Project](view, flags.ProjectKey(id)); c.project == nil {
			return flags.Errorf(flags.NotFound, "there is no project %q", id)
		}
	}
	if reads.has(theUser) {
		if err := c.findUser(view); err != nil {
			return err
		}
	}
	if reads.has(theRole) {
		if err := c.findRole(); err != nil {
			return err
		}
	}
	if reads.has(theToken | theSignup) {
		if err := c.findToken(reads, view); err != nil {
			return err
		}
	}
	if err := c.findTypes(reads); err != nil {
		return err
	}
	if reads.has(theSegment) {
		if err := c.findSegment(view); err != nil {
			return err
		}
	}
	if reads.has(theFeature) {
		if err := c.findFeature(c.param(featureParam), reads, view); err != nil {
			return err
		}
	}
	if c.project != nil && c.registry != nil {
		c.environments = c.project.AvailableEnvironments(c.registry)
	}
	if name := c.param(environmentParam); name != "" {
		return c.findEnvironment(name)
	}
	return nil
}

// findRegistries finds the registries that were read. One that nobody has written to is empty.
func (c *call) findRegistries(view flags.View) {
	c.roles, c.tagTypes, c.types, c.fields = &flags.Roles{}, &flags.TagTypes{}, &flags.StrategyTypes{}, &flags.ContextFields{}
	if found := flags.Find[*flags.Roles](view, flags.RolesKey()); found != nil {
		c.roles = found
	}
	if found := flags.Find[*flags.TagTypes](view, flags.TagTypesKey()); found != nil {
		c.tagTypes = found
	}
	if found := flags.Find[*flags.StrategyTypes](view, flags.StrategyTypesKey()); found != nil {
		c.types = found
	}
	if found := flags.Find[*flags.ContextFields](view, flags.ContextFieldsKey()); found != nil {
		c.fields = found
	}
}

// findTypes finds the tag type, the strategy type and the context field that the path names.
func (c *call) findTypes(reads Reads) (err error) {
	if name := c.param(tagTypeParam); name != "" && reads.has(theTagTypes) {
		if c.tagType, err = c.tagTypes.Get(name); err != nil {
			return err
		}
	}
	if name := c.param(strategyTypeParam); name != "" {
		c.strategyType, err = c.types.Get(name)
	}
	if name := c.param(fieldParam); name != "" {
		c.field, err = c.fields.Get(name)
	}
	return err
}

func (c *call) findSegment(view flags.View) error {
	id, err := intParam(c.param, segmentParam)
	if err != nil {
		return err
	}
	if c.segment = flags.Find[*flags.Segment](view, flags.SegmentKey(id)); c.segment == nil {
		return flags.Errorf(flags.NotFound, "there is no segment %d", id)
	}
	if count := flags.Find[*flags.UseCount](view, flags.UseCountKey(id)); count != nil {
		c.segment.UseCount = count.Count
	}
	return nil
}

func (c *call) findUser(view flags.View) error {
	id, err := intParam(c.param, userParam)
	if err != nil {
		return err
	}
	if c.user = flags.Find[*flags.User](view, flags.UserKey(id)); c.user == nil {
		return flags.Errorf(flags.NotFound, "there is no user %d", id)
	}
	return nil
}

func (c *call) findRole() error {
	id, err := intParam(c.param, roleParam)
	if err != nil {
		return err
	}
	if c.role = c.roles.Find(id); c.role == nil {
		return flags.Errorf(flags.NotFound, "there is no role %d", id)
	}
	return nil
}

// findToken finds the API token or the public signup token whose secret the path holds. What it answers never repeats
// that: it may be a good secret of something else.
func (c *call) findToken(reads Reads, view flags.View) error {
	hash := flags.HashSecret(c.param(tokenParam))
	if reads.has(theSignup) {
		if c.signup = flags.Find[*flags.SignupToken](view, flags.SignupTokenKey(hash)); c.signup == nil {
			return flags.Errorf(flags.NotFound, "there is no public signup token with this secret")
		}
		return nil
	}
	c.token = flags.Find[*flags.Token](view, flags.TokenKey(hash))
	if c.token == nil || c.token.Deleted || c.token.Type == flags.PersonalToken {
		return noToken
	}
	return nil
}

// intParam is a path parameter that must be an integer. Invalid when it is none.
func intParam(param func(string) string, name string) (int64, error) {
	id, err := strconv.ParseInt(param(name), 10, 32)
	if err != nil {
		return 0, flags.Errorf(flags.Invalid, "%s in the path must be a whole number, not %q", name, shorten(param(name)))
	}
	return id, nil
}

func (c *call) findFeature(name string, reads Reads, view flags.View) error {
	f := flags.Find[*flags.Feature](view, flags.FeatureKey(name))
	switch {
	case f == nil:
		return flags.Errorf(flags.NotFound, "there is no flag %q", name)
	case c.project != nil && f.ProjectUID != c.project.UID:
		return flags.Errorf(flags.NotFound, "there is no flag %q in project %q", name, c.project.ID)
	case f.Archived && !reads.has(evenArchived):
		return flags.Errorf(flags.NotFound, "flag %q is archived; revive it first, by POST /api/admin/archive/revive/%s", name, name)
	}
	c.feature = f
	return nil
}

func (c *call) findEnvironment(name string) error {
	for _, env := range c.environments {
		if env.Name == name {
			c.environment = env
			return nil
		}
	}
	return flags.Errorf(flags.NotFound, "there is no environment %q in project %q", name, c.project.ID)
}
