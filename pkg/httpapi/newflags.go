package httpapi

import "guidon/pkg/flags"

// checkNewFlags returns Invalid if the name of a new flag does not match the naming pattern of its project, or if a project has no room for
// another active flag. A flag that moves or is revived keeps the name that it has, so that only the limit holds for it. What was counted
// becomes a condition of the change (see flags.ReviewAssumption), so that the limit holds for parallel requests.
func (tx *Tx) checkNewFlags() error {
	added := map[string]int{} // by this transaction, by the UID of the project
	for _, w := range tx.change.Writes {
		f := w.Adds()
		if f == nil {
			continue
		}
		key := flags.ProjectKey(f.Project)
		tx.Load(key)
		p, _ := tx.round.view[key].(*flags.Project)
		if p == nil || p.UID != f.ProjectUID {
			continue // the project was deleted: the commit fails
		}
		if w.Before == nil {
			if err := p.CheckFlagName(f.Name); err != nil {
				return err
			}
		}
		if p.FeatureLimit == nil {
			continue
		}
		counts := tx.CountsOf([]*flags.Project{p})[p.UID]
		room, err := p.Room(counts.Active + tx.round.added[p.UID] + added[p.UID])
		if err != nil {
			return err
		}
		if tx.assumed.Added == nil {
			tx.assumed.Added = map[string]int64{}
		}
		tx.assumed.Added[p.UID] = counts.Added + room + int64(added[p.UID])
		added[p.UID]++
	}
	return nil
}
