package dynamo

import (
	"fmt"
	"strconv"
	"strings"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

// The feed is one item, see feed.go. It is only loaded as an aggregate.
var feedEntity = entity{
	name:  flags.EntityFeed,
	key:   func(string) itemKey { return feedKey },
	title: func(string) string { return "the feed" },
	codec: codec{encode: cannotEncode, decode: func(e envelope) (flags.Aggregate, error) { return e.feed() }},
}

const feedPartition = "FEED"

var feedKey = itemKey{feedPartition, "FEED"}

func cannotEncode(a flags.Aggregate) (string, error) {
	return "", fmt.Errorf("dynamo: the entity %s is only loaded", a.Key().Entity)
}

// feedAttributes are the attributes of the feed and of its pages. TTL is also one of aggregates that expire. They are not in a JSON document, because every change adds
// to them without reading them.
//
// The numbers of the entries follow from n: the last one of "recent" has the number n, the one before it n-1, and so on. The
// last entry of "earlier" comes before the first of "recent".
type feedAttributes struct {
	Epoch   string   `dynamodbav:"epoch,omitempty"`
	Table   string   `dynamodbav:"table,omitempty"`   // in which the epoch began
	Format  int      `dynamodbav:"format,omitempty"`  // of all that the table stores
	Form    int      `dynamodbav:"form,omitempty"`    // of the version that began it
	Number  int64    `dynamodbav:"n,omitempty"`       // of the newest entry
	Turn    int64    `dynamodbav:"turn,omitempty"`    // how often "recent" became "earlier"
	Earlier []string `dynamodbav:"earlier,omitempty"` // entries
	Recent  []string `dynamodbav:"recent,omitempty"`  // entries, newer than those
	Entries []string `dynamodbav:"entries,omitempty"` // of a page
	TTL     int64    `dynamodbav:"ttl,omitempty"`     // when DynamoDB deletes the item, in Unix seconds
}

func (e envelope) feed() (*flags.Feed, error) {
	f := &flags.Feed{
		Epoch: e.Epoch, Table: e.Table, Form: e.Form, Format: e.Format, Number: e.Number, Turn: e.Turn, Newer: len(e.Recent), Size: sizeOfEntries(e.Recent),
	}
	var err error
	if f.Entries, err = parseEntries(e.Number, e.Earlier, e.Recent); err != nil {
		return nil, err
	}
	return f, nil
}

// sizeOfEntries is about the size of a list of entries in an item.
func sizeOfEntries(entries []string) (size int) {
	for _, entry := range entries {
		size += len(entry) + 1
	}
	return size
}

// The letters of the entities in an entry.
var feedLetters = map[flags.Entity]string{
	flags.EntityFeature: "F", flags.EntitySegment: "S", flags.EntityProject: "P", flags.EntityEnvironments: "E",
	access.EntityToken: "T",
}

var feedEntities = map[string]flags.Entity{
	"F": flags.EntityFeature, "S": flags.EntitySegment, "P": flags.EntityProject, "E": flags.EntityEnvironments,
	"T": access.EntityToken,
}

// newFeedChange is what a write changes for applications. version is the one that the aggregate got.
func newFeedChange(w flags.Write, version int64) flags.FeedChange {
	aggregate := w.After
	if aggregate == nil {
		aggregate, version = w.Before, 0
	}
	if token, is := aggregate.(*access.Token); is && token.Deleted { // its record stays, but never changes again
		version = 0
	}
	c := flags.FeedChange{Key: aggregate.Key(), Version: version, Left: w.Left()}
	if project, is := aggregate.(*flags.Project); is {
		c.UID = project.UID
	}
	return c
}

// formatEntry formats the changes of an entry, separated by spaces. Each is the letter of the entity, the version that the
// aggregate got ("-" if it was deleted), its ID, and the UID of a project: "F12:new-checkout", "P3:shop:0f1e2d3c", "S4:7",
// "E4:", "T2:<hash>". A flag or segment that left a project also has the UID and the ID of that project: "F13:new-checkout:0f1e2d3c:shop",
// "S-:7::". Neither IDs nor UIDs contain a space or colon.
func formatEntry(changes []flags.FeedChange) string {
	list := make([]string, len(changes))
	for i, c := range changes {
		version := "-"
		if c.Version > 0 {
			version = strconv.FormatInt(c.Version, 10)
		}
		list[i] = feedLetters[c.Key.Entity] + version + ":" + c.Key.ID
		if c.Key.Entity == flags.EntityProject {
			list[i] += ":" + c.UID
		}
		if c.Left != nil {
			list[i] += ":" + c.Left.UID + ":" + c.Left.ID
		}
	}
	return strings.Join(list, " ")
}

// parseEntries parses lists of consecutive entries, the last of which has a number. It skips what has an unknown letter: it is of no
// use to a version that does not know it.
func parseEntries(last int64, lists ...[]string) (entries []flags.FeedEntry, err error) {
	number := last
	for _, list := range lists {
		number -= int64(len(list))
	}
	for _, list := range lists {
		for _, text := range list {
			number++
			entry := flags.FeedEntry{Number: number, Stored: text}
			for change := range strings.FieldsSeq(text) {
				if _, known := feedEntities[change[:1]]; !known {
					continue // of a later version, which may serve beside this one during a deployment
				}
				parsed, err := parseChange(change)
				if err != nil {
					return nil, fmt.Errorf("dynamo: the entry %d of the feed: %w", number, err)
				}
				entry.Changes = append(entry.Changes, parsed)
			}
			entries = append(entries, entry)
		}
	}
	return entries, nil
}

func parseChange(text string) (c flags.FeedChange, err error) {
	part := strings.Split(text, ":")
	c.Key.Entity = feedEntities[text[:1]]
	isProject, leaves := c.Key.Entity == flags.EntityProject, c.Key.Entity == flags.EntityFeature || c.Key.Entity == flags.EntitySegment
	switch {
	case len(part) == 2 && c.Key.Entity != "" && !isProject:
	case len(part) == 3 && isProject:
		c.UID = part[2]
	case len(part) == 4 && leaves:
		c.Left = &flags.FeedProject{UID: part[2], ID: part[3]}
	default:
		return c, fmt.Errorf("%q is not of a known form", text)
	}
	c.Key.ID = part[1]
	if part[0][1:] != "-" {
		c.Version, err = strconv.ParseInt(part[0][1:], 10, 64)
	}
	return c, err
}
