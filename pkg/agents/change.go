package agents

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
)

type createInput struct {
	Project     string `json:"project" jsonschema:"id of the project"`
	Name        string `json:"name" jsonschema:"name of the flag: A-Z a-z 0-9 . _ - ~"`
	Type        string `json:"type,omitempty" jsonschema:"release (the default), experiment, operational, kill-switch or permission"`
	Description string `json:"description,omitempty" jsonschema:"what it switches"`
}

func (c *call) create(in createInput) any {
	body := object{"name": in.Name, "description": in.Description}
	if in.Type != "" {
		body["type"] = in.Type
	}
	c.note = "Created. It is off in all environments."
	return pick(c.send(http.MethodPost, c.path("projects", in.Project, "features"), body), "name", "project", "type", "description", "createdAt")
}

func (c *call) switchOff(in inEnvironment) any {
	c.send(http.MethodPost, c.path("projects", in.Project, "features", in.Flag, "environments", in.Environment, "off"), nil)
	c.note = "It is off."
	return object{"flag": in.Flag, "environment": in.Environment, "enabled": false}
}

type proposeInput struct {
	inEnvironment
	Enabled  *bool     `json:"enabled,omitempty" jsonschema:"switches the flag on or off"`
	Rollout  *int      `json:"rollout,omitempty" jsonschema:"percentage of users from 0 to 100, of the only strategy; adds a gradual rollout if there is none"`
	Strategy *strategy `json:"strategy,omitempty" jsonschema:"adds a strategy, or with id changes these fields of one"`
	Title    string    `json:"title,omitempty" jsonschema:"title of the change request, if it becomes one: why"`
	Submit   bool      `json:"submit,omitempty" jsonschema:"sends the change request to review, with all changes of the draft; without it, it stays a draft"`
	Comment  string    `json:"comment,omitempty" jsonschema:"comment for those who review, with submit"`
}

type strategy struct {
	ID          string            `json:"id,omitempty"`
	Name        string            `json:"name,omitempty" jsonschema:"flexibleRollout, default, userWithId, remoteAddress, or an own type"`
	Title       *string           `json:"title,omitempty"`
	Disabled    *bool             `json:"disabled,omitempty"`
	Parameters  map[string]string `json:"parameters,omitempty" jsonschema:"such as rollout, stickiness and groupId; with id, others stay"`
	Constraints []object          `json:"constraints,omitzero" jsonschema:"replaces all: contextName, operator (IN, NOT_IN, NUM_GTE, STR_CONTAINS and others), values or value, inverted, caseInsensitive"`
	Segments    []int             `json:"segments,omitzero" jsonschema:"ids, replaces all"`
	Variants    []object          `json:"variants,omitzero" jsonschema:"replaces all: name, weight, weightType, stickiness and payload (type, value)"`
}

// A change is one of a flag in an environment, as the operation that makes it takes it, and as a change request does.
type change struct {
	method, path string // below the environment
	body         any
	action       string
	payload      any
}

func (c *call) propose(in proposeInput) any {
	environment := c.path("projects", in.Project, "features", in.Flag, "environments", in.Environment)
	made := c.changeOf(in, environment)
	for _, config := range objects(c.get(c.path("projects", in.Project, "change-requests", "config"), nil)) {
		if config["environment"] == in.Environment && config["changeRequestEnabled"] == true {
			return c.draft(in, made)
		}
	}
	answer := c.send(made.method, environment+made.path, made.body)
	c.note = "Applied at once: change requests are off in this environment."
	return object{"outcome": "applied", "result": pick(answer, "id", "name", "enabled", "title", "disabled", "parameters", "constraints", "segments", "variants")}
}

// draft adds a change to the draft of the caller, and sends it to review if that is asked for.
func (c *call) draft(in proposeInput, made change) any {
	request := c.send(http.MethodPost, c.path("projects", in.Project, "environments", in.Environment, "change-requests"),
		object{"feature": in.Flag, "action": made.action, "payload": made.payload})
	if c.err != nil {
		return nil
	}
	id := fmt.Sprint(member(request, "id"))
	one := c.path("projects", in.Project, "change-requests", id)
	if in.Title != "" {
		c.send(http.MethodPut, one+"/title", object{"title": in.Title})
	}
	if in.Submit {
		request = c.send(http.MethodPut, one+"/state", object{"state": "In review", "comment": in.Comment})
	}
	if c.err != nil {
		c.err = fmt.Errorf("the change is in the draft of change request %s, which was not sent: %w", id, c.err)
	}
	state := member(request, "state")
	c.note = "Not applied: change requests are on in this environment. " + nextSteps[state]
	return object{"outcome": state, "changeRequest": member(request, "id"), "minApprovals": member(request, "minApprovals")}
}

// changeOf is the change that the input describes.
func (c *call) changeOf(in proposeInput, environment string) change {
	enabled, rollout, s := in.Enabled != nil, in.Rollout != nil, in.Strategy
	switch {
	case enabled && !rollout && s == nil:
		return change{http.MethodPost, map[bool]string{true: "/on", false: "/off"}[*in.Enabled], nil, "updateEnabled", object{"enabled": *in.Enabled}}
	case enabled || rollout == (s != nil):
		c.fail(errors.New("give one of enabled, rollout and strategy; for several changes, call propose_change again"))
		return change{}
	case s != nil && s.ID == "":
		return change{http.MethodPost, "/strategies", s, "addStrategy", s}
	}
	present := objects(c.get(environment+"/strategies", nil))
	if rollout {
		s = &strategy{Parameters: map[string]string{"rollout": strconv.Itoa(*in.Rollout)}}
		switch {
		case len(present) == 0:
			s.Name, s.Parameters["stickiness"], s.Parameters["groupId"] = "flexibleRollout", "default", in.Flag
			return change{http.MethodPost, "/strategies", s, "addStrategy", s}
		case len(present) > 1 || present[0]["name"] != "flexibleRollout":
			c.fail(fmt.Errorf("rollout is for a flag whose only strategy is a flexibleRollout, and this one has %d, of which the first is %q; use strategy with the id of one of them", len(present), present[0]["name"]))
		}
		s.ID, _ = present[0]["id"].(string)
	}
	for _, whole := range present {
		if whole["id"] == s.ID {
			return changed(whole, *s)
		}
	}
	c.fail(fmt.Errorf("the flag has no strategy %q in this environment; get_flag has its strategies", s.ID))
	return change{}
}

// changed is the change of a strategy that is there. What s leaves out stays.
func changed(whole object, s strategy) change {
	given, _ := asJSON(s).(object)
	if parameters, is := whole["parameters"].(object); is && s.Parameters != nil {
		for name, value := range s.Parameters {
			parameters[name] = value
		}
		delete(given, "parameters")
	}
	maps.Copy(whole, given)
	delete(whole, "featureName")
	body := maps.Clone(whole)
	delete(body, "id")
	return change{http.MethodPut, "/strategies/" + url.PathEscape(s.ID), body, "updateStrategy", whole}
}
