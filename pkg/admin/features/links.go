package features

import (
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// A linkBody is a link of a flag.
type linkBody struct {
	URL   string                  `json:"url"`
	Title jsonbody.Maybe[*string] `json:"title"`
}

func (b linkBody) Check(_ flags.Limits, problems *flags.Problems) { b.link("").Check("", problems) }

func (b linkBody) link(id string) flags.Link {
	return flags.Link{ID: id, URL: b.URL, Title: b.Title.Value}
}

// inLink is the place of an operation on a link of a flag.
type inLink struct {
	httpapi.InFeature
	ID string `path:"linkId"`
}

func addLink(tx *httpapi.Tx, at httpapi.InFeature, in linkBody) error {
	f, link := at.Feature(tx), in.link(tx.NewID())
	if err := f.AddLink(link); err != nil {
		return err
	}
	tx.Save(events.FeatureLinkAdded(f, link), f)
	return nil
}

func updateLink(tx *httpapi.Tx, at inLink, in linkBody) error {
	f := at.Feature(tx)
	before, err := f.FindLink(at.ID)
	if err != nil {
		return err
	}
	after := in.link(at.ID)
	f.ReplaceLink(after)
	tx.Save(events.FeatureLinkUpdated(f, before, after), f)
	return nil
}

func removeLink(tx *httpapi.Tx, at inLink) error {
	f := at.Feature(tx)
	link, err := f.FindLink(at.ID)
	if err != nil {
		return err
	}
	f.RemoveLink(at.ID)
	tx.Save(events.FeatureLinkRemoved(f, link), f)
	return nil
}

// addComment adds a comment to the history of a flag. It is an event, so it can neither be changed nor deleted.
func addComment(tx *httpapi.Tx, at httpapi.InFeature, in wire.CommentBody) error {
	f := at.Feature(tx)
	f.Comments++
	tx.Save(events.FeatureCommented(f, in.Text), f)
	return nil
}
