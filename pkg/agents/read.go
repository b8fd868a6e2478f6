package agents

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// The sizes of pages of flags.
const (
	defaultPage = 20
	maxPage     = 50
)

// unused is how long a flag must not have been evaluated to be found as unused.
const unused = 30 * 24 * time.Hour

// An object is one of JSON.
type object = map[string]any

// pick returns these members of an object.
func pick(from object, names ...string) object {
	picked := object{}
	for _, name := range names {
		if value, has := from[name]; has {
			picked[name] = value
		}
	}
	return picked
}

// objects are the objects of a list.
func objects(list any) (found []object) {
	all, _ := list.([]any)
	for _, one := range all {
		if o, is := one.(object); is {
			found = append(found, o)
		}
	}
	return found
}

// inFlag names a flag.
type inFlag struct {
	Project string `json:"project" jsonschema:"id of the project, such as default; search_flags has those of all flags"`
	Flag    string `json:"flag" jsonschema:"name of the flag"`
}

// path is that of the flag, or of something below it.
func (in inFlag) path(more ...string) (string, error) {
	return pathOf(append([]string{"projects", in.Project, "features", in.Flag}, more...)...)
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

func (c *call) search(in searchInput) (any, error) {
	query := pageOf(in.Limit, in.Offset, "sortBy", "name", "query", in.Query)
	filter(query, "project", in.Project)
	filter(query, "type", in.Type)
	if in.State == "archived" {
		query.Set("archived", "IS:true")
	} else {
		filter(query, "state", in.State)
	}
	total, list, err := c.find(query)
	return object{"total": total, "flags": list}, err
}

func filter(query url.Values, name, value string) {
	if value != "" {
		query.Set(name, "IS:"+value)
	}
}

// pageOf is the query for a page of flags.
func pageOf(limit, offset int, more ...string) url.Values {
	if limit <= 0 {
		limit = defaultPage
	}
	query := url.Values{"limit": {strconv.Itoa(min(limit, maxPage))}, "offset": {strconv.Itoa(max(offset, 0))}}
	for i := 0; i < len(more); i += 2 {
		query.Set(more[i], more[i+1])
	}
	return query
}

// A foundPage is a page of flags.
type foundPage struct {
	Total    int      `json:"total"`
	Features []object `json:"features"`
}

// find searches flags.
func (c *call) find(query url.Values) (total int, list []object, err error) {
	var page foundPage
	if err := c.get("/api/admin/search/features", query, &page); err != nil {
		return 0, nil, err
	}
	for _, f := range page.Features {
		row := pick(f, "name", "project", "type", "description", "stale", "createdAt", "lastSeenAt", "archivedAt", "owner", "tags", "lifecycle", "segments")
		on := []any{}
		for _, env := range objects(f["environments"]) {
			if env["enabled"] == true {
				on = append(on, env["name"])
			}
		}
		row["onIn"] = on
		list = append(list, row)
	}
	return page.Total, list, nil
}

func (c *call) flag(in inFlag) (any, error) {
	path, err := in.path()
	if err != nil {
		return nil, err
	}
	var f object
	if err := c.get(path, nil, &f); err != nil {
		return nil, err
	}
	environments := []object{}
	for _, env := range objects(f["environments"]) {
		environments = append(environments, pick(env, "name", "type", "enabled", "strategies", "variants", "lastSeenAt", "milestoneName", "planState", "planNextAt"))
	}
	f = pick(f, "name", "project", "type", "description", "stale", "archived", "createdAt", "lastSeenAt", "owner", "impressionData", "lifecycle",
		"dependencies", "children", "tags", "links")
	f["environments"] = environments
	data := object{"flag": f}
	if data["usage"], err = c.usage(in.Flag); err != nil {
		c.note = "The usage could not be read."
	}
	history, err := pathOf("events", in.Flag)
	if err != nil {
		return nil, err
	}
	var log struct{ Events []object }
	if err := c.get(history, url.Values{"limit": {"10"}}, &log); err != nil {
		return nil, err
	}
	events := []any{}
	for _, e := range log.Events {
		events = append(events, pick(e, "type", "createdAt", "createdBy", "createdByName", "agent", "environment", "groupType", "groupId", "data"))
	}
	data["history"] = events
	return data, nil
}

// usage sums how often applications evaluated a flag, by environment.
func (c *call) usage(flag string) (any, error) {
	path, err := pathOf("client-metrics", "features", flag, "raw")
	if err != nil {
		return nil, err
	}
	var rows struct {
		Data []struct {
			AppName, Environment string
			Yes, No              int64
		}
	}
	if err := c.get(path, url.Values{"hoursBack": {strconv.Itoa(int(unused.Hours()))}}, &rows); err != nil {
		return nil, err
	}
	type sum struct {
		yes, no      int64
		applications map[string]bool
	}
	sums := map[string]*sum{}
	for _, row := range rows.Data {
		if row.Yes+row.No == 0 {
			continue
		}
		if sums[row.Environment] == nil {
			sums[row.Environment] = &sum{applications: map[string]bool{}}
		}
		s := sums[row.Environment]
		s.yes, s.no, s.applications[row.AppName] = s.yes+row.Yes, s.no+row.No, true
	}
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		applications := []any{}
		for _, application := range slices.Sorted(maps.Keys(sums[name].applications)) {
			applications = append(applications, application)
		}
		list = append(list, object{"environment": name, "yes": sums[name].yes, "no": sums[name].no, "applications": applications})
	}
	return object{"days": unused.Hours() / 24, "environments": list}, nil
}

type explainInput struct {
	inEnvironment
	Context map[string]string `json:"context,omitempty" jsonschema:"fields of the context, such as userId, or any property that constraints use"`
}

func (c *call) explain(in explainInput) (any, error) {
	sent := map[string]string{"appName": "agent"}
	maps.Copy(sent, in.Context)
	var answer struct{ Features []object }
	body := object{"environment": in.Environment, "projects": []string{in.Project}, "feature": in.Flag, "context": sent}
	if err := c.send(http.MethodPost, "/api/admin/playground", body, &answer); err != nil {
		return nil, err
	}
	if len(answer.Features) == 1 {
		return object{"environment": in.Environment, "context": sent, "result": answer.Features[0]}, nil
	}
	return nil, &refusal{http.StatusNotFound, "NotFoundError", "there is no active flag " + strconv.Quote(in.Flag) + " in project " + strconv.Quote(in.Project)}
}

type staleInput struct {
	Project string `json:"project,omitempty" jsonschema:"id of a project; without it, all projects"`
	Limit   int    `json:"limit,omitempty" jsonschema:"flags to return for each reason, at most 50; default 20"`
}

func (c *call) stale(in staleInput) (any, error) {
	before := time.Now().UTC().Add(-unused)
	list, reasons := []object{}, map[string][]any{}
	for _, reason := range []struct {
		text  string
		query []string
	}{
		{"marked as stale", []string{"state", "IS:stale", "sortBy", "name"}},
		{"completed", []string{"lifecycle", "IS:completed", "sortBy", "name"}},
		{"not evaluated for 30 days", []string{"createdAt", "IS_BEFORE:" + before.Format(time.DateOnly), "sortBy", "lastSeenAt"}},
	} {
		query := pageOf(in.Limit, 0, append(reason.query, "sortOrder", "asc")...)
		filter(query, "project", in.Project)
		_, found, err := c.find(query)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if seen, is := f["lastSeenAt"].(string); is && reason.text == "not evaluated for 30 days" && seen > before.Format(time.RFC3339) {
				continue
			}
			name, _ := f["name"].(string)
			if reasons[name] == nil {
				list = append(list, f)
			}
			reasons[name] = append(reasons[name], reason.text)
		}
	}
	for _, f := range list {
		name, _ := f["name"].(string)
		f["reasons"] = reasons[name]
	}
	c.note = "Look for each name in the code before you remove anything. Flags are archived by people."
	return object{"flags": list}, nil
}

type requestInput struct {
	Project string `json:"project" jsonschema:"id of the project"`
	ID      int    `json:"id" jsonschema:"number of the change request"`
}

// nextSteps says what happens to a change request in a state.
var nextSteps = map[string]string{
	"Draft":     "Only its author sees this draft: send it to review with propose_change and submit, or in the console.",
	"In review": "It waits for people to approve it in the console.",
	"Approved":  "People can apply it in the console.",
	"Scheduled": "Guidon applies it at its time.",
}

func (c *call) request(in requestInput) (any, error) {
	path, err := pathOf("projects", in.Project, "change-requests", strconv.Itoa(in.ID))
	if err != nil {
		return nil, err
	}
	var request object
	if err := c.get(path, nil, &request); err != nil {
		return nil, err
	}
	state, _ := request["state"].(string)
	c.note = nextSteps[state]
	return request, nil
}
