package features

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// ManifestGroup has the operations of the OpenFeature manifest: the flags of a project as the OpenFeature CLI pulls and pushes them. Its paths
// lie below the provider URL that the CLI gets, /api/openfeature/projects/{projectId}.
func ManifestGroup() httpapi.Group {
	const manifest = "/api/openfeature/projects/{projectId}/openfeature/v0/manifest"
	const one = manifest + "/flags/{featureName}"
	return httpapi.Group{Name: "openfeature", Function: "features", Operations: []httpapi.Operation{
		{Route: "GET " + manifest, Permission: access.Read, Handle: httpapi.Handle(readManifest), OpenFeature: true},
		{Route: "POST " + manifest + "/flags", Permission: access.CreateFeature, Ahead: environments, Status: http.StatusCreated, Handle: httpapi.HandleBody(addToManifest), OpenFeature: true},
		{Route: "PUT " + one, Permission: access.UpdateFeature, Ahead: environments, Handle: httpapi.HandleBody(updateInManifest), OpenFeature: true},
		{Route: "DELETE " + one, Permission: access.DeleteFeature, Ahead: environments, Handle: httpapi.Handle(archiveInManifest), OpenFeature: true},
	}}
}

// A manifestView is the manifest of a project.
type manifestView struct {
	Flags []manifestFlag `json:"flags"`
}

// A manifestFlag is a flag in the manifest. The CLI asks people for a default value that is missing, so each has one.
type manifestFlag struct {
	Key          string         `json:"key"`
	Type         string         `json:"type"`
	DefaultValue jsontext.Value `json:"defaultValue"`
	Description  *string        `json:"description"`
}

// A savedManifestFlag is a flag that was created or updated.
type savedManifestFlag struct {
	Flag      manifestFlag `json:"flag"`
	UpdatedAt shape.Time   `json:"updatedAt"`
}

// An archivedManifestFlag is the response to an archived flag.
type archivedManifestFlag struct {
	Message    string     `json:"message"`
	ArchivedAt shape.Time `json:"archivedAt"`
}

// A manifestBody is a flag in a request. The CLI leaves out an empty description, so one that is left out is empty.
type manifestBody struct {
	Key          string                          `json:"key"`
	Type         string                          `json:"type"`
	Description  jsonbody.Maybe[*string]         `json:"description"`
	DefaultValue jsonbody.Maybe[*jsontext.Value] `json:"defaultValue"`
}

func (b manifestBody) Check(_ flags.Limits, problems *flags.Problems) {
	wire.CheckName("/key", b.Key, problems)
	if manifestTypes[b.Type] == "" {
		problems.Add("/type", "must be one of boolean, string, integer, float, object")
	}
	b.metadata().CheckTexts(problems)
}

// manifestTypes are the value types by their names in the manifest. The CLI calls numbers float.
var manifestTypes = map[string]flags.ValueType{
	"boolean": flags.BooleanValue, "string": flags.StringValue, "integer": flags.IntegerValue, "float": flags.NumberValue,
	"number": flags.NumberValue, "object": flags.ObjectValue,
}

// untyped is the type of flags without one, in the manifest.
var untyped = flags.Typing{ValueType: flags.BooleanValue, DefaultValue: jsontext.Value("false")}

func (b manifestBody) metadata() flags.Metadata {
	return wire.MetadataBody{Description: jsonbody.Maybe[*string]{Set: true, Value: b.description()}}.ApplyTo(flags.DefaultMetadata())
}

func (b manifestBody) description() *string {
	if b.Description.Value == nil {
		return new("")
	}
	return b.Description.Value
}

// typing returns the type and the default value of the body.
func (b manifestBody) typing() wire.TypingBody {
	valueType := string(manifestTypes[b.Type])
	return wire.TypingBody{ValueType: jsonbody.Maybe[*string]{Set: true, Value: &valueType}, DefaultValue: b.DefaultValue}
}

func manifestFlagOf(name string, m flags.Metadata) manifestFlag {
	t := m.Typing
	if t.ValueType == "" {
		t = untyped
	}
	flag := manifestFlag{Key: name, Type: string(t.ValueType), DefaultValue: t.DefaultValue, Description: m.Description}
	if t.ValueType == flags.NumberValue {
		flag.Type = "float"
	}
	return flag
}

// tellCapabilities tells the caller what it may do with the manifest.
func tellCapabilities(tx *httpapi.Tx, p *flags.Project) {
	capabilities := []string{"read"}
	if tx.Caller.HasPermission(access.CreateFeature, p, "") && tx.Caller.HasPermission(access.UpdateFeature, p, "") {
		capabilities = append(capabilities, "write")
	}
	if tx.Caller.HasPermission(access.DeleteFeature, p, "") {
		capabilities = append(capabilities, "delete")
	}
	tx.SetHeader("X-Manifest-Capabilities", strings.Join(capabilities, ","))
}

func readManifest(tx *httpapi.Tx, at httpapi.InProject) (manifestView, error) {
	p := at.Project(tx)
	tellCapabilities(tx, p)
	summaries := tx.Summaries(p)
	var large []flags.Key // flags whose default values are not in the list
	for _, s := range summaries {
		if s.ValueType != "" && s.DefaultValue == nil {
			large = append(large, flags.FeatureKey(s.Name))
		}
	}
	tx.Load(large...)
	return manifestView{httpapi.Each(summaries, func(s flags.FeatureSummary) manifestFlag {
		if s.ValueType != "" && s.DefaultValue == nil {
			if f := tx.FindFeature(s.Name); f != nil {
				return manifestFlagOf(f.Name, f.Metadata)
			}
		}
		return manifestFlagOf(s.Name, s.Metadata)
	})}, nil
}

func addToManifest(tx *httpapi.Tx, at httpapi.InProject, in manifestBody) (savedManifestFlag, error) {
	p := at.Project(tx)
	tellCapabilities(tx, p)
	m := wire.MetadataBody{TypingBody: in.typing()}.ApplyTo(in.metadata())
	f := flags.NewFeature(p, in.Key, m, tx.Caller.Name, tx.Now)
	tx.Save(events.FeatureCreated(f), f)
	return savedManifestFlag{manifestFlagOf(f.Name, f.Metadata), shape.Time(tx.Now)}, nil
}

// updateInManifest changes the description and the default value of a flag. A flag without a type gets that of the body, unless that is what
// the manifest says of it.
func updateInManifest(tx *httpapi.Tx, at httpapi.InFeature, in manifestBody) (savedManifestFlag, error) {
	tellCapabilities(tx, at.Project(tx))
	f, err := activeInManifest(tx, at)
	switch {
	case err != nil:
		return savedManifestFlag{}, err
	case in.Key != f.Name:
		return savedManifestFlag{}, flags.Problems{{Path: "/key", Message: "must be the key in the path: a flag cannot be renamed"}}.Err()
	}
	wanted := manifestTypes[in.Type]
	if f.ValueType != "" && f.ValueType != wanted {
		return savedManifestFlag{}, flags.Errorf(flags.Conflict, "flag %q has the valueType %s, which a manifest cannot change to %s; change it with PATCH /api/admin/projects/%s/features/%[1]s",
			f.Name, f.ValueType, wanted, f.Project)
	}
	m := f.Metadata
	m.Description = in.description()
	if f.ValueType == "" {
		m.Typing = untyped // an update can leave the default value out
	}
	if m = (wire.MetadataBody{TypingBody: in.typing()}).ApplyTo(m); f.ValueType == "" && m.Typing.Equal(untyped) {
		m.Typing = flags.Typing{}
	}
	saveMetadata(tx, f, m)
	return savedManifestFlag{manifestFlagOf(f.Name, f.Metadata), shape.Time(tx.Now)}, nil
}

func archiveInManifest(tx *httpapi.Tx, at httpapi.InFeature) (archivedManifestFlag, error) {
	tellCapabilities(tx, at.Project(tx))
	f, err := activeInManifest(tx, at)
	if err != nil {
		return archivedManifestFlag{}, err
	}
	if err := archiveIn(tx, f); err != nil {
		return archivedManifestFlag{}, err
	}
	return archivedManifestFlag{"flag " + f.Name + " is archived; its name stays taken", shape.Time(f.ArchivedAt)}, nil
}

// activeInManifest is the flag of the path. The manifest has no archived flags: for one, its description asks for a 409 instead of a 404.
func activeInManifest(tx *httpapi.Tx, at httpapi.InFeature) (*flags.Feature, error) {
	f := at.FeatureOrArchived(tx)
	if f.Archived {
		return nil, flags.Errorf(flags.Conflict, "flag %q is archived; revive it first, with POST /api/admin/archive/revive/%[1]s", f.Name)
	}
	return f, nil
}
