package dynamotest

import (
	"context"

	"guidon/pkg/flags"
)

// checkFeed checks that the feed and its pages have all entries from number 1 on, unless it was reset, and that no entry names
// a version that its aggregate never had.
func (c *checker) checkFeed() {
	c.t.Helper()
	ctx := context.WithoutCancel(c.t.Context())
	view, err := c.store.Load(ctx, []flags.Key{flags.FeedKey()})
	if err != nil {
		c.t.Fatal(err)
	}
	feed := flags.Find[*flags.Feed](view, flags.FeedKey())
	if feed == nil || feed.Epoch != "" {
		return
	}
	list, err := c.store.FeedPages(ctx, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	list = append(list, feed.Entries...)
	if int64(len(list)) != feed.Number {
		c.report("the feed has the number %d, but there are %d entries", feed.Number, len(list))
	}
	keys := map[flags.Key]bool{}
	for i, e := range list {
		if e.Number != int64(i+1) {
			c.report("entry %d of the feed has the number %d", i+1, e.Number)
		}
		for _, change := range e.Changes {
			keys[change.Key] = true
		}
	}
	var all []flags.Key
	for key := range keys {
		all = append(all, key)
	}
	stored, err := c.store.Load(ctx, all)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, e := range list {
		for _, change := range e.Changes {
			aggregate, exists := stored[change.Key]
			project, _ := aggregate.(*flags.Project)
			if exists && (project == nil || project.UID == change.UID) && flags.VersionOf(aggregate) < change.Version {
				c.report("entry %d of the feed has version %d of %v, but version %d is stored", e.Number, change.Version, change.Key, flags.VersionOf(aggregate))
			}
		}
	}
}
