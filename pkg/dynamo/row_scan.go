package dynamo

import (
	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// readRow reads a list row from its document: the same as decode and summary, in a fifth of the time.
func readRow(document string) (flags.FeatureSummary, error) {
	row, environments, err := readHead(document)
	s := &scanner{json: environments}
	if environments != "" {
		s.object(func(name string) { row.Environments[name] = s.standing().summary() })
	}
	if err == nil {
		err = s.end()
	}
	return row, err
}

// readHead reads a list row without its environments, whose JSON it returns. They are the larger part of a row, and most searches
// do not compare them.
func readHead(document string) (head flags.FeatureSummary, environments string, err error) {
	var doc rowDocument
	s := &scanner{json: document}
	s.object(func(name string) {
		switch name {
		case "f":
			doc.Format = s.int()
		case "n":
			doc.Name = s.text()
		case "p":
			doc.Project = s.text()
		case "t":
			doc.Type = flags.FeatureType(s.text())
		case "d":
			doc.Description = s.optional()
		case "s":
			doc.Stale = s.bool()
		case "i":
			doc.ImpressionData = s.bool()
		case "a":
			doc.Archived = s.bool()
		case "c":
			doc.CreatedAt = s.time()
		case "ca":
			doc.ArchivedAt = s.time()
		case "l":
			doc.LastSeenAt = s.time()
		case "g":
			s.array(func() { doc.Tags = append(doc.Tags, s.tag()) })
		case "fa":
			doc.Favorites = s.texts()
		case "r":
			doc.Relation = flags.Relation(s.text())
		case "y":
			doc.Entered = s.phase()
		case "e":
			start := s.at
			s.skip()
			environments = s.json[start:s.at]
		default:
			s.skip()
		}
	})
	return doc.summary(), environments, s.end()
}

func (s *scanner) tag() (t shape.Tag) {
	s.object(func(name string) {
		switch name {
		case "type":
			t.Type = s.text()
		case "value":
			t.Value = s.text()
		default:
			s.skip()
		}
	})
	return t
}

func (s *scanner) phase() (p phaseDocument) {
	s.object(func(name string) {
		switch name {
		case "s":
			p.Stage = flags.Stage(s.text())
		case "at":
			p.EnteredAt = s.time()
		case "st":
			p.Status = flags.CompletionStatus(s.text())
		case "v":
			p.Value = s.text()
		default:
			s.skip()
		}
	})
	return p
}

func (s *scanner) standing() (e rowStanding) {
	s.object(func(name string) {
		switch name {
		case "u":
			e.Environment = s.text()
		case "on":
			e.EnabledIn = s.text()
		case "s":
			e.Strategies = s.int()
		case "es":
			e.EnabledStrategies = s.int()
		case "v":
			e.Variants = s.int()
		case "l":
			e.LastSeenAt = s.time()
		default:
			s.skip()
		}
	})
	return e
}
