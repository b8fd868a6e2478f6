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

func (c *call) create(in createInput) (any, error) {
	path, err := pathOf("projects", in.Project, "features")
	if err != nil {
		return nil, err
	}
	body := object{"name": in.Name, "description": in.Description}
	if in.Type != "" {
		body["type"] = in.Type
	}
	var created object
	err = c.send(http.MethodPost, path, body, &created)
	c.note = "Created. It is off in all environments."
	return pick(created, "name", "project", "type", "description", "createdAt"), err
}

func (c *call) switchOff(in inEnvironment) (any, error) {
	path, err := in.path("environments", in.Environment, "off")
	if err != nil {
		return nil, err
	}
	c.note = "It is off."
	return object{"flag": in.Flag, "environment": in.Environment, "enabled": false}, c.send(http.MethodPost, path, nil, nil)
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
	Constraints []constraint      `json:"constraints,omitempty" jsonschema:"replaces all"`
	Segments    []int             `json:"segments,omitempty" jsonschema:"ids, replaces all"`
	Variants    []object          `json:"variants,omitempty" jsonschema:"name, weight, weightType, stickiness and payload (type, value) of each, replaces all"`
}

type constraint struct {
	ContextName     string   `json:"contextName"`
	Operator        string   `json:"operator" jsonschema:"IN, NOT_IN, STR_CONTAINS, NUM_GTE, DATE_AFTER, SEMVER_GT and others"`
	Values          []string `json:"values,omitempty"`
	Value           string   `json:"value,omitempty"`
	Inverted        bool     `json:"inverted,omitempty"`
	CaseInsensitive bool     `json:"caseInsensitive,omitempty"`
}

// A change is one of a flag in an environment, as the operation that makes it takes it, and as a change request does.
type change struct {
	method, path string // below the environment
	body         any
	action       string
	payload      any
}

func (c *call) propose(in proposeInput) (any, error) {
	environment, err := in.path("environments", in.Environment)
	if err != nil {
		return nil, err
	}
	made, err := c.changeOf(in, environment)
	if err != nil {
		return nil, err
	}
	guarded, err := c.isGuarded(in.inEnvironment)
	if err != nil {
		return nil, err
	}
	if guarded {
		return c.draft(in, made)
	}
	var answer object
	if err := c.send(made.method, environment+made.path, made.body, &answer); err != nil {
		return nil, err
	}
	c.note = "Applied at once: change requests are off in this environment."
	return object{"outcome": "applied", "result": pick(answer, "id", "name", "enabled", "title", "disabled", "parameters", "constraints", "segments", "variants")}, nil
}

// isGuarded reports whether change requests are on in the environment.
func (c *call) isGuarded(in inEnvironment) (bool, error) {
	path, err := pathOf("projects", in.Project, "change-requests", "config")
	if err != nil {
		return false, err
	}
	var list []struct {
		Environment string
		Enabled     bool `json:"changeRequestEnabled"`
	}
	if err := c.get(path, nil, &list); err != nil {
		return false, err
	}
	for _, one := range list {
		if one.Environment == in.Environment {
			return one.Enabled, nil
		}
	}
	return false, nil // there is no such environment, as the operation will say
}

// draft adds a change to the draft of the caller, and sends it to review if that is asked for.
func (c *call) draft(in proposeInput, made change) (any, error) {
	path, err := pathOf("projects", in.Project, "environments", in.Environment, "change-requests")
	if err != nil {
		return nil, err
	}
	var request struct {
		ID           int
		State        string
		MinApprovals int
	}
	body := object{"feature": in.Flag, "action": made.action, "payload": made.payload}
	if err := c.send(http.MethodPost, path, body, &request); err != nil {
		return nil, err
	}
	one, err := pathOf("projects", in.Project, "change-requests", strconv.Itoa(request.ID))
	if err == nil && in.Title != "" {
		err = c.send(http.MethodPut, one+"/title", object{"title": in.Title}, nil)
	}
	if err == nil && in.Submit {
		err = c.send(http.MethodPut, one+"/state", object{"state": "In review", "comment": in.Comment}, &request)
	}
	if err != nil {
		return nil, fmt.Errorf("the change is in the draft of change request %d, which was not sent: %w", request.ID, err)
	}
	c.note = "Not applied: change requests are on in this environment. " + nextSteps[request.State]
	return object{"outcome": request.State, "changeRequest": request.ID, "minApprovals": request.MinApprovals}, nil
}

// changeOf is the change that the input describes.
func (c *call) changeOf(in proposeInput, environment string) (change, error) {
	given := 0
	for _, is := range []bool{in.Enabled != nil, in.Rollout != nil, in.Strategy != nil} {
		if is {
			given++
		}
	}
	if given != 1 {
		return change{}, errors.New("give one of enabled, rollout and strategy; for several changes, call propose_change again")
	}
	if in.Enabled != nil {
		path := "/off"
		if *in.Enabled {
			path = "/on"
		}
		return change{http.MethodPost, path, nil, "updateEnabled", object{"enabled": *in.Enabled}}, nil
	}
	if in.Strategy != nil && in.Strategy.ID == "" {
		return newStrategy(in.Strategy), nil
	}
	var present []object
	if err := c.get(environment+"/strategies", nil, &present); err != nil {
		return change{}, err
	}
	if in.Rollout != nil {
		return rollout(in.Flag, present, strconv.Itoa(*in.Rollout))
	}
	return changed(present, *in.Strategy)
}

func newStrategy(s any) change {
	return change{http.MethodPost, "/strategies", s, "addStrategy", s}
}

// rollout changes the percentage of the only strategy, or adds one.
func rollout(flag string, present []object, percentage string) (change, error) {
	if len(present) == 0 {
		return newStrategy(strategy{Name: "flexibleRollout", Parameters: map[string]string{"rollout": percentage, "stickiness": "default", "groupId": flag}}), nil
	}
	id, _ := present[0]["id"].(string)
	if len(present) > 1 || present[0]["name"] != "flexibleRollout" {
		return change{}, fmt.Errorf("rollout is for a flag whose only strategy is a flexibleRollout, and this one has %d, the first of which is %q with id %s; use strategy with an id",
			len(present), present[0]["name"], id)
	}
	return changed(present, strategy{ID: id, Parameters: map[string]string{"rollout": percentage}})
}

// changed is the change of a present strategy. What s leaves out stays.
func changed(present []object, s strategy) (change, error) {
	for _, whole := range present {
		if whole["id"] != s.ID {
			continue
		}
		delete(whole, "featureName")
		parameters := object{}
		if had, is := whole["parameters"].(object); is {
			maps.Copy(parameters, had)
		}
		for name, value := range s.Parameters {
			parameters[name] = value
		}
		whole["parameters"] = parameters
		if s.Title != nil {
			whole["title"] = *s.Title
		}
		if s.Disabled != nil {
			whole["disabled"] = *s.Disabled
		}
		if s.Constraints != nil {
			whole["constraints"] = s.Constraints
		}
		if s.Segments != nil {
			whole["segments"] = s.Segments
		}
		if s.Variants != nil {
			whole["variants"] = s.Variants
		}
		body := maps.Clone(whole)
		delete(body, "id")
		return change{http.MethodPut, "/strategies/" + url.PathEscape(s.ID), body, "updateStrategy", whole}, nil
	}
	return change{}, fmt.Errorf("the flag has no strategy %q in this environment; get_flag has its strategies", s.ID)
}
