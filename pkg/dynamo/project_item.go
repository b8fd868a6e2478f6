package dynamo

import (
	"strconv"

	"guidon/pkg/flags"
)

var projectCodec = jsonCodec(func(a *flags.Project) *int64 { return &a.Version })

var projectEntity = entity{
	name:    flags.EntityProject,
	key:     func(id string) itemKey { return itemKey{"PROJECT#" + id, "PROJECT"} },
	title:   projectTitle,
	codec:   projectCodec,
	list:    projectList,
	history: func(a flags.Aggregate) string { return projectPartition(a.(*flags.Project).UID) },
	uid:     func(a flags.Aggregate) string { return a.(*flags.Project).UID },
	exists: func(id string) conditionError { // retryable: a project can be deleted
		return retryable(flags.Errorf(flags.NameExists, "%s already exists", projectTitle(id)))
	},
	row: func(a flags.Aggregate) (string, itemKey, error) {
		document, err := projectCodec.encode(a)
		return document, itemKey{projectList, a.Key().ID}, err
	},
	dependents: func(_ *Store, tx *transaction, before, after flags.Aggregate) error {
		if after == nil {
			tx.closeProject(before.(*flags.Project))
			return nil
		}
		old, _ := before.(*flags.Project)
		tx.countDefaults(old, after.(*flags.Project))
		return nil
	},
}

const projectList = "PROJECTS"

func projectTitle(id string) string { return "the project " + strconv.Quote(id) }
