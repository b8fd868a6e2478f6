package oldapi

import (
	"net/http"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// leaveAtOnce is how many projects a user who is deleted is taken out of in one transaction. Each takes two items of the
// hundred that one may have, the project and its list row, and a project may be large. Who is in more of them leaves in
// several rounds, and is gone with the last: until then the user is whole, but for projects already left.
const leaveAtOnce = 20

// projectsToLeave are the projects of the next round.
func projectsToLeave(c *call) []flags.Key {
	return each(c.user.Projects[:min(leaveAtOnce, len(c.user.Projects))], flags.ProjectKey)
}

// removeUser deletes the user of the path: out of every project, its names free again, and its tokens good for nothing
// from that moment, since whoever calls with one is looked up.
func (c *call) removeUser() (decision, error) {
	if err := c.user.CheckDeletable(); err != nil {
		return decision{}, err
	}
	now := projectsToLeave(c)
	write, event := flags.Write{Before: c.user}, events.UserDeleted(c.user)
	unfinished := len(now) < len(c.user.Projects)
	if unfinished {
		u := c.user.Clone()
		u.Projects = u.Projects[len(now):]
		write.After, event = u, events.UserLeftProjects(c.user)
	}
	writes := []flags.Write{write}
	for _, key := range now {
		// A project that was deleted since, and perhaps made again, does not know the user.
		if before := flags.Find[*flags.Project](c.more, key); before != nil {
			after := before.Clone()
			after.RemoveMember(c.user.ID)
			writes = append(writes, flags.Write{Before: before, After: after})
		}
	}
	d, err := c.changesAll(writes, event, http.StatusOK, nil)
	d.unfinished = unfinished
	return d, err
}
