package dynamo

import (
	"strconv"

	"guidon/pkg/flags"
)

// codeReferencesEntity is where the code names the flags of a project. It is written without an event, and compressed: paths repeat.
var codeReferencesEntity = entity{
	name:   flags.EntityCodeReferences,
	key:    func(project string) itemKey { return itemKey{"REFERENCES#" + project, "REFERENCES"} },
	title:  func(project string) string { return "the code references of project " + strconv.Quote(project) },
	exists: func(string) conditionError { return versionConflict },
	codec: codec{
		encode: func(a flags.Aggregate) (string, error) {
			stored := *a.(*flags.CodeReferences)
			stored.Version = 0
			content, size, err := pack(stored)
			if err != nil {
				return "", err
			}
			if size > maxContent {
				return "", flags.Errorf(flags.Invalid, "the code references of project %q would take %d MiB, more than the limit of %d MiB; nothing was changed", stored.Project, size>>20+1, maxContent>>20)
			}
			return encode(packedDocument{format, content})
		},
		decode: func(e envelope) (flags.Aggregate, error) {
			var doc packedDocument
			if err := decode(e.Document, &doc); err != nil {
				return nil, err
			}
			a := &flags.CodeReferences{}
			err := unpack(doc.Content, a)
			a.Version = e.Version
			return a, err
		},
	},
}

// A packedDocument is a document that is compressed.
type packedDocument struct {
	Format  int    `json:"format"`
	Content []byte `json:"content"`
}
