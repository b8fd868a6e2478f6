package flags

import (
	"regexp"
	"slices"
	"sync"
)

// A Link is a web page that belongs to a flag, such as its ticket.
type Link struct {
	ID    string  `json:"id"`
	URL   string  `json:"url"`
	Title *string `json:"title,omitzero"` // nil for none
}

// PagePattern matches the URLs of links: consoles show them to all users, so only web pages can be linked.
const PagePattern = `^[hH][tT][tT][pP][sS]?://[^\x00-\x20\x7F/?#][^\x00-\x20\x7F]*$`

var pagePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(PagePattern) })

// Check adds the problems of the link, at paths below path.
func (l Link) Check(path string, p *Problems) {
	CheckLength(path+"/title", valueOrEmpty(l.Title), MaxTitle, p)
	CheckText(path+"/title", valueOrEmpty(l.Title), p)
	CheckLength(path+"/url", l.URL, MaxURL, p)
	if !pagePattern().MatchString(l.URL) {
		p.Add(path+"/url", "must be a URL that begins with https:// or http://, such as https://example.com/ticket/1")
	}
}

// AddLink adds a link. It returns Invalid if the flag would have too many.
func (f *Feature) AddLink(l Link) error {
	if len(f.Links) >= MaxLinks {
		return Errorf(Invalid, "flag %q has %d links, and no more than %d are allowed; remove one first", f.Name, len(f.Links), MaxLinks)
	}
	f.Links = append(slices.Clip(f.Links), l)
	return nil
}

// FindLink returns the link with an ID. It returns NotFound if the flag does not have it.
func (f *Feature) FindLink(id string) (Link, error) {
	i := slices.IndexFunc(f.Links, func(l Link) bool { return l.ID == id })
	if i < 0 {
		return Link{}, Errorf(NotFound, "flag %q has no link %q", f.Name, id)
	}
	return f.Links[i], nil
}

// ReplaceLink replaces the link with the same ID.
func (f *Feature) ReplaceLink(l Link) {
	f.Links = slices.Clone(f.Links)
	f.Links[slices.IndexFunc(f.Links, func(old Link) bool { return old.ID == l.ID })] = l
}

// RemoveLink removes the link with an ID.
func (f *Feature) RemoveLink(id string) {
	f.Links = without(f.Links, func(l Link) bool { return l.ID == id })
}

// importLinks replaces the links. One that the flag has already keeps its ID.
func (f *Feature) importLinks(list []Link, newID func() string) {
	before := f.Links
	f.Links = nil
	for _, l := range list {
		same := slices.IndexFunc(before, func(old Link) bool { return old.URL == l.URL && valueOrEmpty(old.Title) == valueOrEmpty(l.Title) })
		if same >= 0 {
			l = before[same]
			before = slices.Delete(slices.Clone(before), same, same+1)
		} else {
			l.ID = newID()
		}
		f.Links = append(f.Links, l)
	}
}
