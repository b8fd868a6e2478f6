package oldapi

import (
	"errors"
	"maps"
	"strings"

	"guidon/pkg/flags"
)

// rehearse makes the decisions of the import, and tells what would be skipped and which permissions the caller lacks. For
// want of a permission nothing is skipped here. What is decided for one thing is there for the next, as in the import;
// nothing is committed.
func (m *importing) rehearse(c *call) (faults []flags.ImportFault, lacking []flags.Permission, err error) {
	stage := *c
	stage.caller = c.caller.DryRun(&lacking)
	stage.more = maps.Clone(c.more)
	var id int64
	err = m.number(&stage, func(flags.Entity) (int64, error) {
		id-- // that no segment has
		return id, nil
	})
	if err != nil {
		return nil, nil, err
	}
	fault := func(item importItem, err error) {
		faults = append(faults, flags.ImportFault{Kind: string(item.kind), Name: item.name, Reason: strings.Join(reasonsOf(err, len(faults)), "; ")})
	}
	type waiting struct {
		item importItem
		err  error
	}
	left := each(m.items, func(item importItem) waiting { return waiting{item: item} })
	var at call
	for idle := false; !idle && len(left) > 0; {
		var again []waiting
		for _, one := range left {
			if err := c.inTime(); err != nil {
				return nil, nil, err
			}
			at = stage // a decision notes in its call what it found
			d, err := one.item.decide(&at)
			switch kind := flags.KindOf(err); {
			case err == nil:
				m.apply(&stage, d.change.Writes)
			case isPostponed(err):
				again = append(again, waiting{one.item, errors.Unwrap(err)})
			case kind == flags.Internal, kind == flags.VersionConflict:
				return nil, nil, err
			default:
				fault(one.item, err)
			}
		}
		idle, left = len(again) == len(left), again
	}
	for _, one := range left {
		fault(one.item, one.err)
	}
	return faults, lacking, nil
}

// apply has a call see changes as if they had been made before it was loaded.
func (m *importing) apply(c *call, writes []flags.Write) {
	for _, w := range writes {
		switch a := w.After.(type) {
		case *flags.TagTypes:
			c.tagTypes = a
		case *flags.ContextFields:
			c.fields = a
		case *flags.Segment:
			m.here[a.Name] = a
		default:
			c.more[a.Key()] = a
		}
	}
}
