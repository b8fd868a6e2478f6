package dynamo

import (
	"strconv"
	"time"

	"guidon/pkg/flags"
)

var projectEntity = entity{
	name:    flags.EntityProject,
	key:     func(id string) itemKey { return itemKey{"PROJECT#" + id, "PROJECT"} },
	title:   projectTitle,
	codec:   jsonCodec(storeProject, projectDocument.project),
	kept:    true,
	list:    projectList,
	history: func(a flags.Aggregate) string { return projectPartition(a.(*flags.Project).UID) },
	uid:     func(a flags.Aggregate) string { return a.(*flags.Project).UID },
	exists: func(id string) conditionError { // retryable: a project can be deleted
		return retryable(flags.Errorf(flags.NameExists, "%s already exists", projectTitle(id)))
	},
	row: func(a flags.Aggregate) (string, itemKey, error) {
		document, err := encode(storeProject(a.(*flags.Project)))
		return document, itemKey{projectList, a.Key().ID}, err
	},
	dependents: func(s *Store, tx *transaction, before, after flags.Aggregate) error {
		if after == nil {
			return s.planClose(tx, before.(*flags.Project))
		}
		old, _ := before.(*flags.Project)
		tx.countDefaults(old, after.(*flags.Project))
		return nil
	},
}

const projectList = "PROJECTS"

func projectTitle(id string) string { return "the project " + strconv.Quote(id) }

// A projectDocument is the stored form of a project.
type projectDocument struct {
	Format       int                           `json:"format"`
	ID           string                        `json:"id"`
	UID          string                        `json:"uid"`
	Name         string                        `json:"name"`
	Description  string                        `json:"description,omitzero"`
	CreatedAt    time.Time                     `json:"createdAt"`
	UpdatedAt    time.Time                     `json:"updatedAt,omitzero"`
	Mode         string                        `json:"mode,omitzero"`
	Stickiness   string                        `json:"defaultStickiness,omitzero"`
	FeatureLimit *int64                        `json:"featureLimit,omitzero"`
	Naming       namingDocument                `json:"featureNaming,omitzero"`
	Links        []linkTemplateDocument        `json:"linkTemplates,omitempty"`
	Members      map[int64][]int64             `json:"members,omitempty"`
	Environments map[string]attachmentDocument `json:"environments,omitempty"`
	Favorites    []string                      `json:"favorites,omitempty"`
}

type namingDocument struct {
	Pattern     string `json:"pattern,omitzero"`
	Example     string `json:"example,omitzero"`
	Description string `json:"description,omitzero"`
}

type linkTemplateDocument struct {
	Title *string `json:"title,omitzero"`
	URL   string  `json:"url"`
}

type attachmentDocument struct {
	ID              string            `json:"id"`
	Environment     string            `json:"environment"`
	DefaultStrategy *strategyDocument `json:"defaultStrategy,omitzero"`
}

func storeProject(p *flags.Project) projectDocument {
	doc := projectDocument{
		Format: format, ID: p.ID, UID: p.UID, Name: p.Name, Description: p.Description, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
		Mode: p.Mode, Stickiness: p.DefaultStickiness, FeatureLimit: p.FeatureLimit, Naming: namingDocument(p.Naming),
		Links:   convert(p.LinkTemplates, func(l flags.LinkTemplate) linkTemplateDocument { return linkTemplateDocument(l) }),
		Members: p.Members, Favorites: p.Favorites,
		Environments: make(map[string]attachmentDocument, len(p.Environments)),
	}
	for name, a := range p.Environments {
		stored := attachmentDocument{ID: a.ID, Environment: a.EnvironmentUID}
		if a.DefaultStrategy != nil {
			s := storeStrategy(*a.DefaultStrategy)
			stored.DefaultStrategy = &s
		}
		doc.Environments[name] = stored
	}
	return doc
}

func (doc projectDocument) project(version int64) *flags.Project {
	p := &flags.Project{
		Version: version, ID: doc.ID, UID: doc.UID, Name: doc.Name, Description: doc.Description, CreatedAt: doc.CreatedAt, UpdatedAt: doc.UpdatedAt,
		Settings: flags.Settings{
			Mode: doc.Mode, DefaultStickiness: doc.Stickiness, FeatureLimit: doc.FeatureLimit, Naming: flags.Naming(doc.Naming),
			LinkTemplates: convert(doc.Links, func(l linkTemplateDocument) flags.LinkTemplate { return flags.LinkTemplate(l) }),
		},
		Members: doc.Members, Favorites: doc.Favorites,
		Environments: make(map[string]flags.Attachment, len(doc.Environments)),
	}
	for name, a := range doc.Environments {
		attached := flags.Attachment{ID: a.ID, EnvironmentUID: a.Environment}
		if a.DefaultStrategy != nil {
			s := a.DefaultStrategy.strategy()
			attached.DefaultStrategy = &s
		}
		p.Environments[name] = attached
	}
	return p
}
