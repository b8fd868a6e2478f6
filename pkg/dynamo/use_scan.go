package dynamo

import "guidon/pkg/flags"

// readUse reads what a flag uses from its document: the same as decode and use, in less time.
func readUse(document string) (use flags.FeatureUse, err error) {
	s := &scanner{json: document}
	s.object(func(name string) {
		switch name {
		case "feature":
			use.Feature = s.text()
		case "project":
			use.Project = s.text()
		case "projectUid":
			use.ProjectUID = s.text()
		case "archived":
			use.Archived = s.bool()
		case "strategies":
			s.array(func() { use.Strategies = append(use.Strategies, s.strategyUse()) })
		default:
			s.skip()
		}
	})
	return use, s.end()
}

func (s *scanner) strategyUse() (use flags.StrategyUse) {
	s.object(func(name string) {
		switch name {
		case "id":
			use.ID = s.text()
		case "name":
			use.Name = s.text()
		case "env":
			use.Environment = s.text()
		case "envUid":
			use.EnvironmentUID = s.text()
		case "segments":
			s.array(func() { use.Segments = append(use.Segments, int64(s.int())) })
		case "fields":
			use.ContextFields = s.texts()
		default:
			s.skip()
		}
	})
	return use
}
