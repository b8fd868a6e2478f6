package oldapi

import (
	"context"
	"net/http"
	"sync"

	"guidon/pkg/flags"
)

// load brings the caller's token and what the operation reads, in one call.
func (e *executor) load(ctx context.Context, r *http.Request, op Operation, keys func(*http.Request) []flags.Key) (flags.View, error) {
	wanted := keys(r)
	if secret := secretOf(r); secret != "" && e.needsToken(op) {
		hash := flags.HashSecret(secret)
		wanted = append(wanted, flags.TokenKey(hash), flags.TokenUseKey(hash))
	}
	if len(wanted) == 0 || (e.needsToken(op) && secretOf(r) == "") {
		return nil, nil
	}
	return e.store.Load(ctx, wanted)
}

// loadMore brings what could not be named before the first load: lists, counts, an id, and what the operation asks for.
func (e *executor) loadMore(ctx context.Context, c *call, op Operation, in *input) (err error) {
	d := op.Decide
	if op.Reads.has(activeRows|archivedRows) && op.Reads.has(theProject) {
		if c.summaries, err = e.store.Summaries(ctx, c.project.UID, op.Reads.has(archivedRows)); err != nil {
			return err
		}
	}
	if d.searches != nil {
		if err := e.search(ctx, c, d.searches(in.value)); err != nil {
			return err
		}
	}
	if len(d.lists) > 0 {
		c.lists = make(map[flags.Entity][]flags.Aggregate, len(d.lists))
	}
	for _, entity := range d.lists {
		if c.lists[entity], err = e.store.List(ctx, entity); err != nil {
			return err
		}
	}
	if d.counts {
		if err := e.count(ctx, c); err != nil {
			return err
		}
	}
	if d.tags {
		if err := e.listTags(ctx, c); err != nil {
			return err
		}
	}
	if d.surveys != nil {
		if err := e.survey(ctx, c, d.surveys(c, in.value), op.Reads.has(archivedRows)); err != nil {
			return err
		}
	}
	if d.loads != nil {
		if c.more, err = e.store.Load(ctx, d.loads(c, in.value)); err != nil {
			return err
		}
	}
	if d.log != nil {
		q, err := d.log(c, in.value)
		if err != nil {
			return err
		}
		if c.log, err = e.store.Log(ctx, q); err != nil {
			return err
		}
	}
	if d.allocates != "" && in.id == 0 { // one id a request, whatever the number of rounds
		if in.id, err = e.store.NextID(ctx, d.allocates); err != nil {
			return err
		}
	}
	c.id = in.id
	if d.seals {
		if e.config.Sealer == nil {
			return flags.Errorf(flags.Internal, "this process was given no key for the tokens' secrets")
		}
		c.sealer, err = e.config.Sealer(ctx)
	}
	return err
}

// search finds a project that the body names, if it is there, and lists its active flags.
func (e *executor) search(ctx context.Context, c *call, id string) error {
	view, err := e.store.Load(ctx, projectKeys([]string{id}))
	if err != nil {
		return err
	}
	if c.project = flags.Find[*flags.Project](view, flags.ProjectKey(id)); c.project == nil {
		return nil
	}
	c.environments = c.project.AvailableEnvironments(c.registry)
	c.summaries, err = e.store.Summaries(ctx, c.project.UID, false)
	return err
}

// count counts the flags of every listed project.
func (e *executor) count(ctx context.Context, c *call) (err error) {
	c.count, err = ofProjects(c.projects(), func(p *flags.Project) (n counts, err error) {
		n.active, n.stale, err = e.store.Counts(ctx, p.UID)
		return n, err
	})
	return err
}

// listTags lists the tags of all flags.
func (e *executor) listTags(ctx context.Context, c *call) error {
	found, err := ofProjects(c.projects(), func(p *flags.Project) ([]flags.Tag, error) { return e.store.Tags(ctx, p.UID) })
	for _, tags := range found {
		c.tags = append(c.tags, tags...)
	}
	c.tags = flags.DistinctTags(c.tags)
	return err
}

// survey lists the active or the archived flags of some projects.
func (e *executor) survey(ctx context.Context, c *call, projects []*flags.Project, archived bool) (err error) {
	c.survey, err = ofProjects(projects, func(p *flags.Project) ([]flags.FeatureSummary, error) {
		return e.store.Summaries(ctx, p.UID, archived)
	})
	return err
}

// projectsAtOnce is how many projects are asked about at the same time.
const projectsAtOnce = 16

// ofProjects finds something out about each project, by its UID.
func ofProjects[T any](projects []*flags.Project, find func(*flags.Project) (T, error)) (map[string]T, error) {
	found, failures := make([]T, len(projects)), make([]error, len(projects))
	places := make(chan struct{}, projectsAtOnce)
	var wg sync.WaitGroup
	for i, p := range projects {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			defer func() {
				if cause := recover(); cause != nil { // in a goroutine it would end the process
					failures[i] = panicked(cause)
				}
			}()
			found[i], failures[i] = find(p)
		})
	}
	wg.Wait()
	all := make(map[string]T, len(projects))
	for i, p := range projects {
		if failures[i] != nil {
			return nil, failures[i]
		}
		all[p.UID] = found[i]
	}
	return all, nil
}

// projects are all that there are, where they are listed.
func (c *call) projects() []*flags.Project {
	return each(c.lists[flags.EntityProject], func(a flags.Aggregate) *flags.Project { return a.(*flags.Project) })
}
