package dynamo

import (
	"strconv"
	"time"

	"guidon/pkg/flags"
)

var segmentEntity = entity{
	name:    flags.EntitySegment,
	key:     func(id string) itemKey { return itemKey{segmentList, id} },
	title:   func(id string) string { return "the segment " + id },
	codec:   jsonCodec(storeSegment, segmentDocument.segment),
	list:    segmentList,
	history: func(a flags.Aggregate) string { return segmentPartition(a.(*flags.Segment).ID) },
	unique: func(a flags.Aggregate) []uniqueName {
		name := a.(*flags.Segment).Name
		return unique("segment", name, flags.Errorf(flags.NameExists, "a segment named %s already exists", strconv.Quote(name)))
	},
	dependents: func(s *Store, tx *transaction, before, after flags.Aggregate) error {
		old, _ := before.(*flags.Segment)
		segment, _ := after.(*flags.Segment)
		tx.countOwnSegments(old, segment)
		if segment == nil {
			return s.planCloseSegment(tx, old)
		}
		return s.planOwner(tx, old, segment)
	},
}

const segmentList = "SEGMENTS"

// A segmentDocument is the stored form of a segment.
type segmentDocument struct {
	Format      int                  `json:"format"`
	ID          int64                `json:"id"`
	Name        string               `json:"name"`
	Description *string              `json:"description,omitzero"`
	Project     string               `json:"project,omitzero"`
	ProjectUID  string               `json:"projectUid,omitzero"`
	Constraints []constraintDocument `json:"constraints,omitempty"`
	CreatedAt   time.Time            `json:"createdAt"`
	CreatedBy   string               `json:"createdBy"`
}

func storeSegment(s *flags.Segment) segmentDocument {
	return segmentDocument{
		Format: format, ID: s.ID, Name: s.Name, Description: s.Description, Project: s.Project, ProjectUID: s.ProjectUID,
		Constraints: convert(s.Constraints, func(c flags.Constraint) constraintDocument { return constraintDocument(c) }),
		CreatedAt:   s.CreatedAt, CreatedBy: s.CreatedBy,
	}
}

func (doc segmentDocument) segment(version int64) *flags.Segment {
	return &flags.Segment{
		Version: version, ID: doc.ID, Name: doc.Name, Description: doc.Description, Project: doc.Project, ProjectUID: doc.ProjectUID,
		Constraints: convert(doc.Constraints, func(c constraintDocument) flags.Constraint { return flags.Constraint(c) }),
		CreatedAt:   doc.CreatedAt, CreatedBy: doc.CreatedBy,
	}
}
