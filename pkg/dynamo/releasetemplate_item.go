package dynamo

import (
	"slices"
	"strconv"

	"guidon/pkg/flags"
)

var releaseTemplateEntity = entity{
	name:    flags.EntityReleaseTemplate,
	key:     func(id string) itemKey { return itemKey{releaseTemplateList, id} },
	title:   func(id string) string { return "the release template " + id },
	codec:   jsonCodec(func(a *flags.ReleaseTemplate) *int64 { return &a.Version }),
	list:    releaseTemplateList,
	history: func(a flags.Aggregate) string { return "TEMPLATE#" + a.Key().ID },
	unique: func(a flags.Aggregate) []uniqueName {
		name := a.(*flags.ReleaseTemplate).Name
		return unique("template", name, flags.Errorf(flags.NameExists, "a release template named %s exists already; an archived one keeps its name until it is deleted", strconv.Quote(name)))
	},
	dependents: func(_ *Store, tx *transaction, before, after flags.Aggregate) error {
		old, _ := before.(*flags.ReleaseTemplate)
		template, _ := after.(*flags.ReleaseTemplate)
		tx.countTemplate(old, template)
		return nil
	},
}

const releaseTemplateList = "TEMPLATES"

// countTemplate counts the segments that a template begins to use. Each project that adds a plan must be able to use them itself, so the owner
// of a segment does not matter here.
func (tx *transaction) countTemplate(before, after *flags.ReleaseTemplate) {
	old := before.Segments()
	for _, id := range after.Segments() {
		if !slices.Contains(old, id) {
			u := tx.guardUpdate(segmentGuard(id))
			u.counts["begun"]++
			u.requireOpen(retryable(versionConflict.Error))
		}
	}
}
