package agents

import (
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// inFlag names a flag.
type inFlag struct {
	Project string `json:"project" jsonschema:"id of the project, such as default; search_flags has those of all flags"`
	Flag    string `json:"flag" jsonschema:"name of the flag"`
}

// inEnvironment names a flag in an environment.
type inEnvironment struct {
	inFlag
	Environment string `json:"environment" jsonschema:"name of the environment, such as development; get_flag has those of the flag"`
}

type searchInput struct {
	Query   string `json:"query,omitempty" jsonschema:"part of a name or of a tag; several with commas"`
	Project string `json:"project,omitempty" jsonschema:"id of a project; without it, all projects"`
	Type    string `json:"type,omitempty" jsonschema:"release, experiment, operational, kill-switch or permission"`
	State   string `json:"state,omitempty" jsonschema:"active, stale or archived"`
	Limit   int    `json:"limit,omitempty" jsonschema:"flags to return, at most 50; default 20"`
	Offset  int    `json:"offset,omitempty" jsonschema:"flags to leave out at the start"`
}

func (c *call) search(in searchInput) any {
	query := url.Values{"sortBy": {"name"}, "sortOrder": {"asc"}, "query": {in.Query}, "offset": {strconv.Itoa(max(in.Offset, 0))}}
	filters := map[string]string{"project": in.Project, "type": in.Type, "state": in.State}
	if in.State == "archived" {
		filters["state"], filters["archived"] = "", "true"
	}
	for name, value := range filters {
		if value != "" {
			query.Set(name, "IS:"+value)
		}
	}
	total, list := c.find(query, in.Limit)
	return object{"total": total, "flags": list}
}

// find searches flags, and returns a page of them and the number of all.
func (c *call) find(query url.Values, limit int) (total any, list []object) {
	if limit <= 0 {
		limit = 20
	}
	query.Set("limit", strconv.Itoa(min(limit, maxList)))
	found := c.get("/api/admin/search/features", query)
	list = []object{}
	for _, f := range objects(member(found, "features")) {
		on := []any{}
		for _, env := range objects(f["environments"]) {
			if env["enabled"] == true {
				on = append(on, env["name"])
			}
		}
		row := pick(f, "name", "project", "type", "description", "stale", "createdAt", "lastSeenAt", "archivedAt", "owner", "tags", "lifecycle", "segments")
		row["onIn"] = on
		list = append(list, row)
	}
	return member(found, "total"), list
}

func (c *call) flag(in inFlag) any {
	found := c.get(c.path("projects", in.Project, "features", in.Flag), nil)
	environments := []object{}
	for _, env := range objects(member(found, "environments")) {
		environments = append(environments, pick(env, "name", "type", "enabled", "strategies", "variants", "lastSeenAt", "milestoneName", "planState", "planNextAt"))
	}
	f := pick(found, "name", "project", "type", "description", "stale", "createdAt", "lastSeenAt", "owner", "impressionData", "lifecycle", "dependencies", "children", "tags", "links")
	f["environments"] = environments
	events := []object{}
	for _, e := range objects(member(c.get(c.path("events", in.Flag), url.Values{"limit": {"10"}}), "events")) {
		events = append(events, pick(e, "type", "createdAt", "createdBy", "createdByName", "agent", "environment", "groupType", "groupId", "data"))
	}
	usage := c.get(c.path("client-metrics", "features", in.Flag), nil)
	return object{"flag": f, "usage": pick(usage, "lastHourUsage", "seenApplications"), "history": events}
}

type explainInput struct {
	inEnvironment
	Context map[string]string `json:"context,omitempty" jsonschema:"fields of the context, such as userId, or any property that constraints use"`
}

func (c *call) explain(in explainInput) any {
	context := object{"appName": "agent"}
	for name, value := range in.Context {
		context[name] = value
	}
	answer := c.send(http.MethodPost, "/api/admin/playground", object{"environment": in.Environment, "projects": []string{in.Project}, "feature": in.Flag, "context": context})
	results := objects(member(answer, "features"))
	if len(results) == 0 {
		c.fail(&refusal{http.StatusNotFound, "NotFoundError", "there is no active flag " + strconv.Quote(in.Flag) + " in project " + strconv.Quote(in.Project)})
	}
	return object{"context": context, "results": results}
}

type staleInput struct {
	Project string `json:"project,omitempty" jsonschema:"id of a project; without it, all projects"`
	Limit   int    `json:"limit,omitempty" jsonschema:"flags to return for each reason, at most 50; default 20"`
}

func (c *call) stale(in staleInput) any {
	monthAgo := time.Now().UTC().AddDate(0, 0, -30)
	data := object{}
	for reason, query := range map[string]url.Values{
		"markedAsStale":         {"state": {"IS:stale"}},
		"completed":             {"lifecycle": {"IS:completed"}},
		"notEvaluatedFor30Days": {"createdAt": {"IS_BEFORE:" + monthAgo.Format(time.DateOnly)}},
	} {
		if in.Project != "" {
			query.Set("project", "IS:"+in.Project)
		}
		query.Set("sortBy", "lastSeenAt")
		query.Set("sortOrder", "asc")
		_, list := c.find(query, in.Limit)
		for i, f := range list {
			if seen, _ := f["lastSeenAt"].(string); reason == "notEvaluatedFor30Days" && seen > monthAgo.Format(time.RFC3339) {
				list = list[:i]
				break
			}
		}
		data[reason] = list
	}
	c.note = "Look for each name in the code before you remove anything. Flags are archived by people."
	return data
}

type requestInput struct {
	Project string `json:"project" jsonschema:"id of the project"`
	ID      int    `json:"id" jsonschema:"number of the change request"`
}

// nextSteps says what happens to a change request in a state.
var nextSteps = map[any]string{
	"Draft":     "Only its author sees this draft: send it to review with propose_change and submit, or in the console.",
	"In review": "It waits for people to approve it in the console.",
	"Approved":  "People can apply it in the console.",
	"Scheduled": "Guidon applies it at its time.",
}

func (c *call) request(in requestInput) any {
	request := c.get(c.path("projects", in.Project, "change-requests", strconv.Itoa(in.ID)), nil)
	c.note = nextSteps[member(request, "state")]
	return request
}
