package admin_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"guidon/pkg/admin"
	"guidon/pkg/apitest"
)

// An example is how tests of all operations call one of them, and how many calls of DynamoDB it needs.
type example struct {
	body   string // a valid body that changes something; "" for an operation without a body
	status int
	calls  int // when it succeeds
	again  int // when the same call is repeated, and changes nothing or is rejected
}

// {new} in a body is an unused name; {strategy} is the id of the flag's strategy.
const (
	aPatch    = `[{"op":"replace","path":"/0/stickiness","value":"userId"}]`
	aVariants = `[{"name":"v2","weight":1,"weightType":"variable"}]`
)

// The paths of context fields and segments, and a segment of a project.
const (
	aField     = apitest.ContextFields + "/{contextField}"
	aSegment   = apitest.Segments + "/{id}"
	anAddon    = apitest.Addons + "/{addonId}"
	aWebhook   = `{"provider":"webhook","enabled":true,"description":"{new}","events":["feature-created"],"parameters":{"url":"https://example.com/hook"}}`
	aSegmentOf = `{"name":"{new}","project":"{projectId}","constraints":[{"contextName":"userId","operator":"IN","values":["1"]}]}`
)

// The path of a release template, and one, and of the signals of an environment.
const (
	aSignals        = "/environments/{environment}/signals"
	aSignal         = aSignals + "/{signalName}"
	aTemplate       = "/api/admin/release-plan-templates/{templateId}"
	archiveTemplate = "POST /api/admin/release-plan-templates/archive/{templateId}"
	newTemplate     = `{"name":"{new}","milestones":[{"name":"All","strategies":[{"strategyName":"default"}]}]}`
)

// The paths below an environment of a release plan, and one with two milestones.
const (
	aPlan    = "/release-plans/{planId}"
	starting = aPlan + "/milestones/{milestoneId}/start"
	resuming = "/progressions/{planId}/resume"

	safeguards = aPlan + "/safeguards"
	followed   = "/progressions/{milestoneId}"
	somePlan   = `{"existing":"keep","name":"{new}","milestones":[{"name":"Some","strategies":[{"strategyName":"flexibleRollout","parameters":{"rollout":"10"}}]},` +
		`{"name":"Half","strategies":[{"strategyName":"flexibleRollout","parameters":{"rollout":"50"}}],"transitionCondition":{"intervalMinutes":60}},` +
		`{"name":"All","strategies":[{"strategyName":"default"}]}]}`
)

// The paths of freezes, and one that is not in effect.
const (
	inFreezes        = "/api/admin/projects/{projectId}/environments/{environment}/freezes"
	ofServiceFreezes = "/api/admin/freezes/{environmentName}"
	aFreeze          = `{"reason":"{new}","from":"2099-01-01T00:00:00Z","to":"2099-01-02T00:00:00Z"}`
)

// The path of the code references of a repository, and a scan.
const (
	aRepository = "/code-references/{repository...}"
	aScan       = `{"branch":"main","references":{"{featureName}":[{"path":"a.go","line":1}]}}`
)

// manifest is the path of the OpenFeature manifest.
const manifest = "/api/openfeature/projects/{projectId}/openfeature/v0/manifest"

// The paths of usage and applications.
const (
	clientMetrics = "GET /api/admin/client-metrics/features/{featureName}"
	anApplication = apitest.Applications + "/{appName}"
	theInstances  = "GET /api/admin/metrics/instances/{appName}/environment/{environmentName}"
)

// examples has an example for every operation. Reads need one call, lists one more per page, and writes two, or one if they
// are rejected or change nothing. Whether a new name is taken is decided by the store, in the second call.
var examples = map[string]example{
	"GET /health": {"", 200, 0, 0},
	"GET /ready":  {"", 200, 0, 0},

	"GET /auth/methods": {"", 200, 0, 0},
	"POST /auth/link":   {`{"secret":"{token}"}`, 204, 4, 1}, // the link, and then its user
	// There is no provider, so both lead to the sign-in page.
	"GET /auth/oidc/login":    {"", 302, 0, 0},
	"GET /auth/oidc/callback": {"", 302, 0, 0},
	// The caller of this test is an API token, which has no session.
	"POST /auth/sign-out":            {"", 403, 1, 1},
	"POST /auth/sign-out-everywhere": {"", 403, 1, 1},

	"POST /api/admin/projects":                          {`{"id":"{new}"}`, 201, 3, 3},
	"GET /api/admin/projects/{projectId}":               {"", 200, 2, 2},
	"POST /api/admin/projects/{projectId}/environments": {`{"environment":"default"}`, 200, 2, 1},
	"GET /api/admin/projects/{projectId}/overview":      {"", 200, 2, 2},
	"GET /api/admin/projects/{projectId}/health-report": {"", 200, 2, 2},
	"POST /api/admin/projects/{projectId}/favorites":    {"", 200, 2, 1},
	"DELETE /api/admin/projects/{projectId}/favorites":  {"", 200, 1, 1}, // it is not a favorite
	"POST /api/admin/environments":                      {`{"name":"{new}","type":"test"}`, 201, 2, 1},

	"GET /api/admin/projects":                                                               {"", 200, 3, 3}, // there is one
	"PUT /api/admin/projects/{projectId}":                                                   {`{"description":"changed"}`, 200, 3, 2},
	"PUT /api/admin/projects/{projectId}/settings":                                          {`{"mode":"protected"}`, 200, 3, 2},
	"DELETE /api/admin/projects/{projectId}":                                                {"", 200, 3, 1}, // its signals, too
	"DELETE /api/admin/projects/{projectId}/environments/{environment}":                     {"", 200, 3, 1},
	"POST /api/admin/projects/{projectId}/environments/{environment}/default-strategy":      {`{"name":"default"}`, 200, 2, 1},
	"GET /api/admin/projects/{projectId}/change-requests/config":                            {"", 200, 1, 1},
	"PUT /api/admin/projects/{projectId}/environments/{environment}/change-requests/config": {`{"changeRequestsEnabled":true}`, 204, 2, 1},
	"GET " + inFreezes:                                     {"", 200, 1, 1},
	"POST " + inFreezes:                                    {aFreeze, 201, 2, 2}, // another one
	"DELETE " + inFreezes + "/{freezeId}":                  {"", 204, 2, 1},
	"GET " + ofServiceFreezes:                              {"", 200, 1, 1},
	"POST " + ofServiceFreezes:                             {aFreeze, 201, 2, 2},
	"DELETE " + ofServiceFreezes + "/{freezeId}":           {"", 204, 2, 1},
	"GET /api/admin/instance-admin/statistics":             {"", 200, 6, 6}, // there is one project
	"GET /api/admin/instance-admin/statistics/csv":         {"", 200, 6, 6},
	"GET /api/admin/environments":                          {"", 200, 3, 3},
	"GET /api/admin/environments/{environmentName}":        {"", 200, 1, 1},
	"GET /api/admin/environments/project/{projectId}":      {"", 200, 3, 3},
	"POST /api/admin/environments/validate":                {`{"name":"{new}"}`, 200, 1, 1},
	"POST /api/admin/environments/{environmentName}/on":    {"", 204, 2, 1},
	"POST /api/admin/environments/{environmentName}/off":   {"", 204, 2, 1}, // it is enabled again below
	"PUT /api/admin/environments/update/{environmentName}": {`{"type":"changed"}`, 200, 2, 1},
	"PUT /api/admin/environments/sort-order":               {`{"{environment}":7}`, 200, 2, 1},
	"DELETE /api/admin/environments/{environmentName}":     {"", 200, 5, 1},

	"GET /api/admin/projects/{projectId}/features":                                               {"", 200, 2, 2},
	"POST /api/admin/projects/{projectId}/features":                                              {`{"name":"{new}"}`, 201, 2, 2},
	"GET /api/admin/projects/{projectId}/features/{featureName}":                                 {"", 200, 1, 1},
	"PUT /api/admin/projects/{projectId}/features/{featureName}":                                 {`{"stale":true}`, 200, 2, 1},
	"PATCH /api/admin/projects/{projectId}/features/{featureName}":                               {`[{"op":"replace","path":"/stale","value":true}]`, 200, 2, 1},
	"DELETE /api/admin/projects/{projectId}/features/{featureName}":                              {"", 202, 2, 1},
	"POST /api/admin/projects/{projectId}/features/{featureName}/clone":                          {`{"name":"{new}"}`, 201, 2, 2},
	"GET /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}":      {"", 200, 1, 1},
	"POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/on":  {"", 200, 2, 1},
	"POST /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/off": {"", 200, 1, 1}, // it is already disabled
	"GET /api/admin/archive/features":                                                            {"", 200, 3, 3}, // there is one project
	"GET /api/admin/archive/features/{projectId}":                                                {"", 200, 2, 2},
	"POST /api/admin/archive/revive/{featureName}":                                               {"", 200, 1, 1}, // it is already active

	"GET " + manifest:                             {"", 200, 2, 2},
	"POST " + manifest + "/flags":                 {`{"key":"{new}","type":"integer","defaultValue":10}`, 201, 2, 2},
	"PUT " + manifest + "/flags/{featureName}":    {`{"key":"{featureName}","type":"boolean","description":"changed"}`, 200, 2, 1},
	"DELETE " + manifest + "/flags/{featureName}": {"", 200, 2, 1},

	ofFlag("POST", "/changeProject"):       {`{"newProjectId":"to-{featureName}"}`, 200, 3, 1}, // it is no longer in the project
	ofProject("POST", "/archive"):          {someFlags + `}`, 202, 3, 2},
	ofProject("POST", "/archive/validate"): {someFlags + `}`, 200, 2, 2},
	ofProject("POST", "/revive"):           {someFlags + `}`, 200, 3, 2},
	ofProject("POST", "/stale"):            {someFlags + `,"stale":true}`, 202, 3, 2},
	ofProject("PUT", "/tags"):              {someFlags + `,"tags":{"addedTags":[{"type":"simple","value":"bulk"}],"removedTags":[]}}`, 200, 3, 2},
	ofProject("POST", "/changeProject"):    {someFlags + `,"newProjectId":"to-{featureName}"}`, 200, 3, 2},
	bulkSwitch + "on":                      {someFlags + `}`, 200, 3, 2},
	bulkSwitch + "off":                     {someFlags + `}`, 200, 2, 2}, // it is already disabled

	"GET /api/admin/search/features":          {"", 200, 3, 3},
	"POST /api/admin/features-batch/export":   {`{"environment":"development","features":["{featureName}"]}`, 200, 3, 3},
	"POST /api/admin/features-batch/import":   {`{"project":"default","environment":"development","data":{"features":[{"name":"{new}"}]}}`, 200, 3, 2},
	"POST /api/admin/features-batch/validate": {`{"project":"default","environment":"development","data":{"features":[{"name":"{new}"}]}}`, 200, 2, 2},

	"POST /api/admin/playground":          {`{"environment":"{environment}","projects":["{projectId}"],"context":{"appName":"shop"}}`, 200, 4, 4},
	"POST /api/admin/playground/advanced": {`{"environments":["{environment}"],"projects":["{projectId}"],"context":{"appName":"shop,site"}}`, 200, 4, 4},

	"GET /api/admin/user-admin":                  {"", 200, 2, 2},
	"POST /api/admin/user-admin":                 {`{"username":"{new}","rootRole":"Viewer"}`, 201, 4, 4},
	"GET /api/admin/user-admin/search":           {"", 200, 1, 1},
	"GET /api/admin/user-admin/access":           {"", 200, 2, 2},
	"GET /api/admin/user-admin/admin-count":      {"", 200, 2, 2},
	"GET /api/admin/user":                        {"", 200, 1, 1},
	"GET /api/admin/user-admin/{userId}":         {"", 200, 1, 1},
	"PUT /api/admin/user-admin/{userId}":         {`{"name":"Changed"}`, 200, 3, 2},
	"DELETE /api/admin/user-admin/{userId}":      {"", 200, 2, 1},
	"POST " + aSignInLink:                        {"", 201, 2, 2},
	"POST " + aSignOut:                           {"", 204, 2, 1},
	"GET /api/admin/service-account":             {"", 200, 2, 2},
	"POST /api/admin/service-account":            {`{"username":"{new}","name":"A program","rootRole":3}`, 201, 4, 4},
	"PUT /api/admin/service-account/{userId}":    {`{"name":"Changed"}`, 200, 3, 2},
	"DELETE /api/admin/service-account/{userId}": {"", 200, 2, 1},
	"GET /api/admin/permissions":                 {"", 200, 1, 1},
	"GET /api/admin/roles":                       {"", 200, 1, 1},
	"POST /api/admin/roles":                      {`{"name":"{new}","permissions":[{"name":"UPDATE_FEATURE"}]}`, 200, 2, 1},
	"GET /api/admin/roles/{roleId}":              {"", 200, 1, 1},
	"PUT /api/admin/roles/{roleId}":              {`{"name":"{new}"}`, 200, 2, 1},
	"DELETE /api/admin/roles/{roleId}":           {"", 200, 4, 1}, // two lists show that no user has it
	"GET /api/admin/projects/{projectId}/access": {"", 200, 2, 2}, // for up to a hundred members
	"PUT /api/admin/projects/{projectId}/access": {`{"roles":[{"id":5,"users":[1]}]}`, 200, 3, 1},
	"POST " + heldRole:                           {"", 200, 2, 1},
	"PUT " + heldRole:                            {"", 200, 2, 1},
	"DELETE " + heldRole:                         {"", 200, 2, 1},

	ofFlag("POST", "/dependencies"):                      {`{"feature":"{parent}"}`, 200, 3, 2},
	ofFlag("DELETE", "/dependencies"):                    {"", 200, 3, 1}, // the second time it has no parents to load
	ofFlag("DELETE", "/dependencies/{parent}"):           {"", 200, 3, 1},
	ofFlag("GET", "/parents"):                            {"", 200, 2, 2},
	ofFlag("GET", "/lifecycle"):                          {"", 200, 1, 1},
	ofFlag("POST", "/lifecycle/complete"):                {`{"status":"kept"}`, 200, 2, 1},
	ofFlag("POST", "/lifecycle/uncomplete"):              {"", 200, 1, 1}, // it is not completed
	"GET /api/admin/projects/{projectId}/dependencies":   {"", 200, 2, 2},
	"GET /api/admin/feature-types":                       {"", 200, 1, 1},
	"POST /api/admin/features/validate":                  {`{"name":"{new}","projectId":"{projectId}"}`, 200, 2, 2},
	ofFlag("POST", "/favorites"):                         {"", 200, 2, 1},
	ofFlag("DELETE", "/favorites"):                       {"", 200, 1, 1}, // it is not a favorite
	ofFlag("POST", "/link"):                              {`{"url":"https://example.com/{new}"}`, 204, 2, 2},
	ofFlag("PUT", "/link/{linkId}"):                      {`{"url":"https://example.com/changed"}`, 204, 2, 1},
	ofFlag("DELETE", "/link/{linkId}"):                   {"", 204, 2, 1},
	ofFlag("POST", "/comments"):                          {`{"text":"{new}"}`, 204, 2, 2},
	inEnvironment("GET", "/release-plans"):               {"", 200, 1, 1},
	inEnvironment("POST", "/release-plans"):              {somePlan, 200, 2, 1},
	inEnvironment("DELETE", aPlan):                       {"", 200, 2, 1},
	inEnvironment("POST", aPlan+"/detach"):               {"", 200, 2, 1},
	inEnvironment("POST", aPlan+"/pause"):                {"", 200, 2, 1},
	inEnvironment("POST", resuming):                      {"", 200, 1, 1}, // it is not paused
	inEnvironment("POST", starting):                      {"", 200, 2, 1}, // the flag is off
	inEnvironment("PUT", followed):                       {`{"transitionCondition":{"intervalMinutes":5}}`, 200, 2, 1},
	inEnvironment("DELETE", followed):                    {"", 204, 2, 1},
	inEnvironment("PUT", safeguards):                     {`{"signal":{"name":"guard"},"action":{"type":"pause"}}`, 204, 3, 2},
	inEnvironment("DELETE", safeguards+"/{safeguardId}"): {"", 204, 2, 1},
	"POST /api/signals/{signalName}":                     {`{"status":"firing"}`, 401, 0, 0}, // an admin token is no secret of a signal
	ofProject("GET", "/code-references"):                 {"", 200, 1, 1},
	ofProject("PUT", aRepository):                        {aScan, 200, 3, 2},
	ofProject("DELETE", aRepository):                     {"", 204, 2, 1},
	ofProject("GET", "/archivable"):                      {"", 200, 2, 2},
	ofProject("GET", "/archivable/{featureName}"):        {"", 200, 1, 1},
	ofProject("GET", aSignals):                           {"", 200, 2, 2},
	ofProject("POST", aSignals):                          {`{"name":"{new}"}`, 201, 3, 2},
	ofProject("POST", aSignal+"/rotate"):                 {"", 200, 3, 3},
	ofProject("DELETE", aSignal):                         {"", 200, 5, 2},
	"GET /api/admin/release-plan-templates":              {"", 200, 2, 2},
	"POST /api/admin/release-plan-templates":             {newTemplate, 200, 3, 3},
	"GET " + aTemplate:                                   {"", 200, 1, 1},
	"PUT " + aTemplate:                                   {newTemplate, 200, 2, 1},
	"DELETE " + aTemplate:                                {"", 200, 2, 1},
	archiveTemplate:                                      {"", 200, 2, 1},
	"GET /api/admin/tag-types":                           {"", 200, 1, 1},
	"POST /api/admin/tag-types":                          {`{"name":"{new}"}`, 201, 2, 1},
	"POST /api/admin/tag-types/validate":                 {`{"name":"{new}"}`, 200, 1, 1},
	"GET /api/admin/tags/{tagType}/{value...}":           {"", 200, 4, 4}, // there is one project
	ofFlag("GET", "/parent-variants"):                    {"", 200, 1, 1},
	"GET /api/admin/tag-types/{tagType}":                 {"", 200, 1, 1},
	"PUT /api/admin/tag-types/{tagType}":                 {`{"description":"{new}"}`, 200, 2, 1},
	"DELETE /api/admin/tag-types/{tagType}":              {"", 200, 2, 1},
	"GET /api/admin/tags":                                {"", 200, 4, 4},
	"GET /api/admin/tags/{tagType}":                      {"", 200, 4, 4},
	"GET " + itsTags:                                     {"", 200, 1, 1},
	"POST " + itsTags:                                    {`{"type":"simple","value":"a/b"}`, 201, 2, 1},
	"PUT " + itsTags:                                     {`{"addedTags":[{"type":"simple","value":"more"}],"removedTags":[]}`, 200, 2, 1},
	"DELETE " + itsTags + "/{tagType}/{value...}":        {"", 200, 2, 1},

	"GET " + apitest.ContextFields:                       {"", 200, 4, 4},
	"POST " + apitest.ContextFields:                      {`{"name":"{new}"}`, 201, 2, 1},
	"POST " + apitest.ContextFields + "/validate":        {`{"name":"{new}"}`, 200, 1, 1},
	"GET " + aField:                                      {"", 200, 1, 1},
	"PUT " + aField:                                      {`{"description":"{new}"}`, 200, 2, 1},
	"DELETE " + aField:                                   {"", 200, 5, 1}, // three lists show that nothing uses it
	"GET " + aField + "/strategies":                      {"", 200, 4, 4},
	"POST " + aField + "/legal-values":                   {`{"value":"{new}"}`, 200, 2, 1},
	"DELETE " + aField + "/legal-values/{legalValue...}": {"", 200, 2, 1},

	"GET " + apitest.Segments:                              {"", 200, 4, 4},
	"POST " + apitest.Segments:                             {aSegmentOf, 201, 5, 5}, // it loads the project and takes an id
	"POST " + apitest.Segments + "/validate":               {`{"name":"{new}"}`, 204, 2, 2},
	"GET " + apitest.Segments + "/strategies/{strategyId}": {"", 200, 2, 2}, // it has no segments
	"POST " + apitest.Segments + "/strategies":             {`{"projectId":"{projectId}","strategyId":"{strategy}","environmentId":"{environment}","segmentIds":[{id}]}`, 201, 5, 4},
	"GET " + aSegment:                                      {"", 200, 1, 1},
	"PUT " + aSegment:                                      {`{"name":"{new}","constraints":[]}`, 204, 3, 2},
	"DELETE " + aSegment:                                   {"", 204, 4, 1}, // its guard and lists of default strategies and templates show that nothing uses it
	"GET " + aSegment + "/strategies":                      {"", 200, 2, 2}, // no flag uses it

	"GET " + apitest.Addons:       {"", 200, 1, 1},
	"POST " + apitest.Addons:      {aWebhook, 201, 3, 3}, // it takes an id
	"GET " + anAddon:              {"", 200, 1, 1},
	"PUT " + anAddon:              {aWebhook, 200, 2, 1},
	"DELETE " + anAddon:           {"", 200, 2, 1},
	"POST " + anAddon + "/test":   {"", 202, 2, 2},
	"GET " + anAddon + "/events":  {"", 200, 4, 4},
	"POST " + anAddon + "/resend": {"", 202, 2, 2}, // there are none

	"GET /api/admin/strategies":                            {"", 200, 1, 1},
	"POST /api/admin/strategies":                           {`{"name":"{new}","parameters":[]}`, 201, 2, 1},
	"GET /api/admin/strategies/{strategyType}":             {"", 200, 1, 1},
	"PUT /api/admin/strategies/{strategyType}":             {`{"description":"changed","parameters":[]}`, 200, 2, 1},
	"DELETE /api/admin/strategies/{strategyType}":          {"", 200, 2, 1},
	"POST /api/admin/strategies/{strategyType}/deprecate":  {"", 200, 2, 1},
	"POST /api/admin/strategies/{strategyType}/reactivate": {"", 200, 1, 1}, // it is not deprecated
	"POST /api/admin/constraints/validate":                 {`{"contextName":"userId","operator":"IN","values":["1"]}`, 204, 1, 1},

	"GET /api/admin/api-tokens":            {"", 200, 3, 3}, // for up to a hundred tokens and projects
	"POST /api/admin/api-tokens":           {`{"tokenName":"{new}","type":"client"}`, 201, 3, 3},
	"GET /api/admin/api-tokens/{name}":     {"", 200, 3, 3},
	"PUT /api/admin/api-tokens/{token}":    {`{"expiresAt":"2100-01-01T00:00:00Z"}`, 200, 2, 1},
	"DELETE /api/admin/api-tokens/{token}": {"", 200, 2, 1},

	ofProject("GET", "/api-tokens"):            {"", 200, 3, 3}, // for up to a hundred tokens and projects
	ofProject("POST", "/api-tokens"):           {`{"tokenName":"{new}","type":"client"}`, 201, 3, 3},
	ofProject("DELETE", "/api-tokens/{token}"): {"", 200, 2, 1},

	// The caller of this test is an API token, which has no personal tokens.
	"GET /api/admin/user/tokens":              {"", 403, 1, 1},
	"POST /api/admin/user/tokens":             {"", 403, 1, 1},
	"DELETE /api/admin/user/tokens/{tokenId}": {"", 403, 1, 1},

	"GET /api/admin/service-account/{userId}/token":              {"", 200, 2, 2}, // for up to a hundred tokens
	"POST /api/admin/service-account/{userId}/token":             {`{"description":"{new}","expiresAt":"2100-01-01T00:00:00Z"}`, 201, 3, 1},
	"DELETE /api/admin/service-account/{userId}/token/{tokenId}": {"", 200, 3, 1},

	"GET /api/admin/invite-link/tokens":         {"", 200, 2, 2},
	"POST /api/admin/invite-link/tokens":        {`{"name":"{new}","expiresAt":"2100-01-01T00:00:00Z"}`, 201, 3, 3},
	"GET /api/admin/invite-link/tokens/{token}": {"", 200, 1, 1},
	"PUT /api/admin/invite-link/tokens/{token}": {`{"enabled":false}`, 200, 2, 1},

	"GET /api/admin/events":               {"", 200, 2, 2},
	"GET /api/admin/events/{featureName}": {"", 200, 2, 2},
	"POST /api/admin/events/search":       {`{"feature":"{featureName}"}`, 200, 2, 2},
	"GET /api/admin/search/events":        {"", 200, 2, 2},

	clientMetrics:                          {"", 200, 2, 2},
	clientMetrics + "/raw":                 {"", 200, 2, 2},
	"GET " + apitest.Applications:          {"", 200, 2, 2},
	"GET " + anApplication:                 {"", 200, 1, 1}, // it evaluated no flag, and has no instance
	"POST " + anApplication:                {`{"description":"{new}"}`, 202, 2, 1},
	"DELETE " + anApplication:              {"", 200, 2, 1},
	"GET " + anApplication + "/overview":   {"", 200, 1, 1},
	theInstances:                           {"", 200, 1, 1},
	"GET /api/admin/metrics/sdks/outdated": {"", 200, 2, 2},
	ofProject("GET", "/applications"):      {"", 200, 2, 2},
	ofProject("GET", "/insights"):          {"", 200, 3, 3},

	ofProject("POST", "/environments/{environment}/change-requests"):             {aChange, 200, 5, 5},
	ofProject("GET", "/change-requests"):                                         {"", 200, 4, 4},
	ofProject("GET", "/change-requests/pending"):                                 {"", 200, 2, 2},
	ofProject("GET", "/change-requests/pending/{featureName}"):                   {"", 200, 2, 2},
	ofProject("GET", "/change-requests/scheduled"):                               {"", 200, 2, 2},
	ofProject("GET", "/change-requests/count"):                                   {"", 200, 4, 4},
	ofProject("GET", "/change-requests/actionable"):                              {"", 200, 2, 2},
	ofProject("GET", "/change-requests/available-reviewers/{environment}"):       {"", 200, 3, 3},
	ofProject("GET", "/change-requests/{changeRequestId}"):                       {"", 200, 2, 2},
	ofProject("GET", "/change-requests/{changeRequestId}/evidence"):              {"", 200, 3, 3},
	ofProject("DELETE", "/change-requests/{changeRequestId}"):                    {"", 409, 1, 1}, // it is in review
	ofProject("PUT", "/change-requests/{changeRequestId}/changes/{changeId}"):    {aChange, 200, 3, 3},
	ofProject("DELETE", "/change-requests/{changeRequestId}/changes/{changeId}"): {"", 200, 3, 1},
	ofProject("POST", "/change-requests/{changeRequestId}/rebase"):               {"", 200, 2, 2}, // nothing has changed
	ofProject("PUT", "/change-requests/{changeRequestId}/state"):                 {`{"state":"Cancelled"}`, 200, 3, 1},
	ofProject("PUT", "/change-requests/{changeRequestId}/title"):                 {`{"title":"{new}"}`, 204, 2, 1},
	ofProject("POST", "/change-requests/{changeRequestId}/comments"):             {`{"text":"Why?"}`, 204, 2, 2},
	ofProject("GET", "/change-requests/{changeRequestId}/approvers"):             {"", 200, 1, 1},
	ofProject("PUT", "/change-requests/{changeRequestId}/approvers"):             {`{"reviewers":[]}`, 204, 2, 2},
	"GET /api/admin/search/change-requests":                                      {"", 200, 5, 5}, // there is one project

	inEnvironment("GET", "/strategies"):                 {"", 200, 1, 1},
	inEnvironment("POST", "/strategies"):                {`{"name":"flexibleRollout","parameters":{"rollout":50}}`, 200, 2, 2},
	inEnvironment("POST", "/strategies/set-sort-order"): {`[{"id":"{strategy}","sortOrder":7}]`, 200, 2, 1},
	inEnvironment("GET", "/strategies/{strategyId}"):    {"", 200, 1, 1},
	inEnvironment("PUT", "/strategies/{strategyId}"):    {`{"title":"changed"}`, 200, 2, 1},
	inEnvironment("PATCH", "/strategies/{strategyId}"):  {`[{"op":"replace","path":"/title","value":"changed"}]`, 200, 2, 1},
	inEnvironment("DELETE", "/strategies/{strategyId}"): {"", 200, 2, 1},

	ofFlag("GET", "/variants"):          {"", 200, 1, 1},
	ofFlag("PUT", "/variants"):          {aVariants, 200, 2, 1},
	ofFlag("PATCH", "/variants"):        {aPatch, 200, 2, 1},
	ofFlag("PUT", "/variants-batch"):    {`{"environments":["{environment}"],"variants":` + aVariants + `}`, 200, 2, 1},
	inEnvironment("GET", "/variants"):   {"", 200, 1, 1},
	inEnvironment("PUT", "/variants"):   {aVariants, 200, 2, 1},
	inEnvironment("PATCH", "/variants"): {aPatch, 200, 2, 1},
}

// aChange is a change in a change request.
const aChange = `{"feature":"{featureName}","action":"addStrategy","payload":{"name":"default"}}`

// newReviewedProject gives the subject a new project in which change requests are on, with a flag.
func newReviewedProject(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	on.flag, on.project = on.fill("{new}"), on.fill("{new}")
	s.Must(t, "POST", apitest.Projects, fmt.Sprintf(`{"id":%q}`, on.project))
	s.Must(t, "POST", apitest.Projects+"/"+on.project+"/features", fmt.Sprintf(`{"name":%q}`, on.flag))
	s.Must(t, "PUT", on.fill(apitest.Projects+"/{projectId}/environments/{environment}/change-requests/config"), `{"changeRequestsEnabled":true}`)
}

// request creates a change request for the subject's flag, in review. Change requests are off again then.
func request(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	config := on.fill(apitest.Projects + "/{projectId}/environments/{environment}/change-requests/config")
	s.Must(t, "PUT", config, `{"changeRequestsEnabled":true}`)
	on.request = s.ID(t, on.fill(apitest.Projects+"/{projectId}/environments/{environment}/change-requests"), on.fill(aChange))
	s.Must(t, "PUT", on.fill(apitest.Projects+"/{projectId}/change-requests/{changeRequestId}/state"), `{"state":"In review"}`)
	s.Must(t, "PUT", config, `{"changeRequestsEnabled":false}`)
}

func ofFlag(method, tail string) string {
	return method + " /api/admin/projects/{projectId}/features/{featureName}" + tail
}

func ofProject(method, tail string) string { return method + " /api/admin/projects/{projectId}" + tail }

// The beginning of a body that names flags, and the path that enables or disables several flags.
const (
	someFlags  = `{"features":["{featureName}","{featureName}"]`
	bulkSwitch = "POST /api/admin/projects/{projectId}/bulk_features/environments/{environment}/"
)

func inEnvironment(method, tail string) string {
	return ofFlag(method, "/environments/{environment}"+tail)
}

// A subject is what a test calls operations on: a flag with a strategy in one environment, and variants in all of them.
type subject struct{ project, flag, environment, strategy, user, role, kind, secret, segment, addon, request, link, plan, milestone, safeguard string }

var subjects atomic.Int64

// preparations has the operations that need a subject of their own, since they delete or change it, and how to prepare it.
var preparations = map[string]func(t *testing.T, s *apitest.Server, on *subject){
	"POST /auth/link":                      func(t *testing.T, s *apitest.Server, on *subject) { on.secret = s.SignInLink(t, 1) },
	"GET " + anApplication:                 newApplication,
	"POST " + anApplication:                newApplication,
	"DELETE " + anApplication:              newApplication,
	"GET " + anApplication + "/overview":   newApplication,
	"GET /api/admin/api-tokens/{name}":     func(_ *testing.T, _ *apitest.Server, on *subject) { on.secret = "client" },
	"PUT /api/admin/api-tokens/{token}":    newToken,
	"DELETE /api/admin/api-tokens/{token}": newToken,
	ofProject("DELETE", "/api-tokens/{token}"): func(t *testing.T, s *apitest.Server, on *subject) {
		on.secret = s.APIToken(t, on.fill(`{"tokenName":"{new}","type":"client","project":"{projectId}"}`))
	},
	"GET /api/admin/service-account/{userId}/token":              newAccountToken,
	"POST /api/admin/service-account/{userId}/token":             newAccount,
	"DELETE /api/admin/service-account/{userId}/token/{tokenId}": newAccountToken,
	"GET /api/admin/invite-link/tokens/{token}":                  newSignup,
	"PUT /api/admin/invite-link/tokens/{token}":                  newSignup,
	"POST /api/admin/playground":                                 newProjectWithFlag,
	"POST /api/admin/playground/advanced":                        newProjectWithFlag,
	ofFlag("POST", "/changeProject"):                             target,
	ofProject("POST", "/changeProject"):                          target,
	ofProject("POST", "/revive"): func(t *testing.T, s *apitest.Server, on *subject) {
		s.Must(t, "DELETE", apitest.Features+"/"+on.flag, "")
	},
	"DELETE /api/admin/projects/{projectId}": func(t *testing.T, s *apitest.Server, on *subject) {
		on.project = on.fill("{new}")
		s.Must(t, "POST", "/api/admin/projects", fmt.Sprintf(`{"id":%q}`, on.project))
	},
	"DELETE /api/admin/projects/{projectId}/environments/{environment}":                     newEnvironment,
	"PUT /api/admin/projects/{projectId}/environments/{environment}/change-requests/config": newProjectWithFlag,
	"DELETE /api/admin/environments/{environmentName}":                                      newEnvironment,
	ofProject("POST", "/environments/{environment}/change-requests"):                        newReviewedProject,
	ofProject("GET", "/change-requests/{changeRequestId}"):                                  request,
	ofProject("GET", "/change-requests/{changeRequestId}/evidence"):                         request,
	ofProject("DELETE", "/change-requests/{changeRequestId}"):                               request,
	ofProject("PUT", "/change-requests/{changeRequestId}/changes/{changeId}"):               request,
	ofProject("DELETE", "/change-requests/{changeRequestId}/changes/{changeId}"):            request,
	ofProject("POST", "/change-requests/{changeRequestId}/rebase"):                          request,
	ofProject("PUT", "/change-requests/{changeRequestId}/state"):                            request,
	ofProject("PUT", "/change-requests/{changeRequestId}/title"):                            request,
	ofProject("POST", "/change-requests/{changeRequestId}/comments"):                        request,
	ofProject("GET", "/change-requests/{changeRequestId}/approvers"):                        request,
	ofProject("PUT", "/change-requests/{changeRequestId}/approvers"):                        request,
	"POST " + ofServiceFreezes:                                                              newEnvironment,
	"DELETE " + ofServiceFreezes + "/{freezeId}": func(t *testing.T, s *apitest.Server, on *subject) {
		newEnvironment(t, s, on)
		on.kind = apitest.IDIn(s.Must(t, "POST", on.fill(ofServiceFreezes), on.fill(aFreeze)).Body)
	},
	"POST " + inFreezes: newEnvironment,
	"DELETE " + inFreezes + "/{freezeId}": func(t *testing.T, s *apitest.Server, on *subject) {
		newEnvironment(t, s, on)
		on.kind = apitest.IDIn(s.Must(t, "POST", on.fill(inFreezes), on.fill(aFreeze)).Body)
	},
	"GET /api/admin/tags/{tagType}/{value...}": func(t *testing.T, s *apitest.Server, on *subject) {
		s.Must(t, "POST", on.fill(itsTags), `{"type":"simple","value":"a/b"}`)
	},
	"DELETE " + itsTags + "/{tagType}/{value...}": func(t *testing.T, s *apitest.Server, on *subject) {
		s.Must(t, "POST", on.fill(itsTags), `{"type":"simple","value":"a/b"}`)
	},
	ofFlag("POST", "/dependencies"):                      newParent,
	ofFlag("DELETE", "/dependencies"):                    addParent,
	ofFlag("DELETE", "/dependencies/{parent}"):           addParent,
	"DELETE /api/admin/tag-types/{tagType}":              newTagType,
	"PUT " + aField:                                      newField,
	"DELETE " + aField:                                   newField,
	"POST " + aField + "/legal-values":                   newField,
	"DELETE " + aField + "/legal-values/{legalValue...}": newField,
	"POST " + apitest.Segments + "/strategies":           newProject,
	"GET " + aSegment:                                    newSegment,
	"PUT " + aSegment:                                    newSegment,
	"DELETE " + aSegment:                                 newSegment,
	"GET " + aSegment + "/strategies":                    newSegment,
	"GET " + anAddon:                                     newAddon,
	"PUT " + anAddon:                                     newAddon,
	"DELETE " + anAddon:                                  newAddon,
	"POST " + anAddon + "/test":                          newAddon,
	"GET " + anAddon + "/events":                         newAddon,
	"POST " + anAddon + "/resend":                        newAddon,
	inEnvironment("DELETE", aPlan):                       newPlan,
	inEnvironment("POST", aPlan+"/detach"):               newPlan,
	inEnvironment("POST", aPlan+"/pause"):                newPlan,
	inEnvironment("POST", resuming):                      newPlan,
	inEnvironment("POST", starting):                      newPlan,
	inEnvironment("PUT", followed):                       newPlan,
	inEnvironment("DELETE", followed):                    newPlan,
	inEnvironment("PUT", safeguards):                     newPlan,
	inEnvironment("DELETE", safeguards+"/{safeguardId}"): newPlan,
	ofProject("POST", aSignal+"/rotate"):                 addSignal,
	ofProject("DELETE", aSignal):                         addSignal,
	ofProject("DELETE", aRepository): func(t *testing.T, s *apitest.Server, on *subject) {
		s.Must(t, "PUT", on.fill(ofProject("", aRepository))[1:], on.fill(aScan))
	},
	"GET " + aTemplate:                                     addTemplate,
	"PUT " + aTemplate:                                     addTemplate,
	"DELETE " + aTemplate:                                  addTemplate,
	archiveTemplate:                                        addTemplate,
	"PUT /api/admin/strategies/{strategyType}":             newStrategyType,
	"DELETE /api/admin/strategies/{strategyType}":          newStrategyType,
	"POST /api/admin/strategies/{strategyType}/deprecate":  newStrategyType,
	"POST /api/admin/strategies/{strategyType}/reactivate": newStrategyType,
	"PUT /api/admin/user-admin/{userId}":                   newUser,
	"DELETE /api/admin/user-admin/{userId}":                newUser,
	"PUT /api/admin/service-account/{userId}":              newAccount,
	"DELETE /api/admin/service-account/{userId}":           newAccount,
	"PUT /api/admin/roles/{roleId}":                        newRole,
	"DELETE /api/admin/roles/{roleId}":                     newRole,
	"GET /api/admin/projects/{projectId}/access":           newMember,
	"PUT " + heldRole:                                      newMember, // the user has another role
	"DELETE " + heldRole: func(t *testing.T, s *apitest.Server, on *subject) {
		newMember(t, s, on)
		on.role = "5"
	},
}

// itsTags is the path of the tags of a flag.
const itsTags = "/api/admin/features/{featureName}/tags"

// newProjectWithFlag gives the subject a new project with one flag.
func newProjectWithFlag(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	on.project = on.fill("{new}")
	s.Must(t, "POST", apitest.Projects, fmt.Sprintf(`{"id":%q}`, on.project))
	s.Must(t, "POST", apitest.Projects+"/"+on.project+"/features", on.fill(`{"name":"{new}"}`))
}

// target creates the project that the subject's flag moves to.
func target(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	s.Must(t, "POST", "/api/admin/projects", on.fill(`{"id":"to-{featureName}"}`))
}

// newParent creates a flag that the subject's flag can depend on. addParent also adds the dependency.
func newParent(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	on.kind = on.fill("{new}")
	s.Must(t, "POST", apitest.Projects+"/"+on.project+"/features", fmt.Sprintf(`{"name":%q}`, on.kind))
}

func addParent(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	newParent(t, s, on)
	s.Must(t, "POST", on.fill(ofFlag("", "/dependencies"))[1:], on.fill(`{"feature":"{parent}"}`))
}

func newTagType(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	on.kind = on.fill("{new}")
	s.Must(t, "POST", "/api/admin/tag-types", fmt.Sprintf(`{"name":%q}`, on.kind))
}

// newField creates a context field with a legal value.
func newField(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	on.kind = on.fill("{new}")
	s.Must(t, "POST", apitest.ContextFields, fmt.Sprintf(`{"name":%q,"legalValues":[{"value":"a/b"}]}`, on.kind))
}

// newSegment creates a segment of the subject's project.
func newSegment(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	on.segment = s.ID(t, apitest.Segments, on.fill(aSegmentOf))
}

// newProject creates a project with one flag and a segment.
func newProject(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	on.project, on.flag = on.fill("{new}"), on.fill("{new}")
	s.Must(t, "POST", "/api/admin/projects", fmt.Sprintf(`{"id":%q}`, on.project))
	s.Must(t, "POST", "/api/admin/projects/"+on.project+"/features", fmt.Sprintf(`{"name":%q}`, on.flag))
	addStrategyAndVariants(t, s, on)
	newSegment(t, s, on)
}

// newAddon creates an addon. If there are many, it deletes them first, except that of sendAll: there can be only 20.
func newAddon(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	list := apitest.Decode[struct {
		Addons []struct {
			ID          int
			Description string
		}
	}](t, s.Must(t, "GET", apitest.Addons, "").Body)
	for _, a := range list.Addons {
		if len(list.Addons) > 10 && a.Description != apitest.SendsAll {
			s.Must(t, "DELETE", fmt.Sprintf("%s/%d", apitest.Addons, a.ID), "")
		}
	}
	on.addon = s.ID(t, apitest.Addons, on.fill(aWebhook))
}

func newStrategyType(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	on.kind = on.fill("{new}")
	s.Must(t, "POST", "/api/admin/strategies", fmt.Sprintf(`{"name":%q,"parameters":[]}`, on.kind))
}

// addSignal creates a signal in the environment. If there are many, it deletes them first: there can be only 50.
func addSignal(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	path := on.fill("/api/admin/projects/{projectId}" + aSignals)
	list := apitest.Decode[[]struct{ Name string }](t, s.Must(t, "GET", path, "").Body)
	for _, one := range list {
		if len(list) > 40 {
			s.Must(t, "DELETE", path+"/"+one.Name, "")
		}
	}
	on.kind = on.fill("{new}")
	s.Must(t, "POST", path, fmt.Sprintf(`{"name":%q}`, on.kind))
}

// addTemplate creates a release template. If there are many, it deletes them first: there can be only 100.
func addTemplate(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	const templates = "/api/admin/release-plan-templates"
	list := apitest.Decode[[]struct{ ID string }](t, s.Must(t, "GET", templates, "").Body)
	for _, one := range list {
		if len(list) > 80 {
			s.Must(t, "DELETE", templates+"/"+one.ID, "")
		}
	}
	on.kind = apitest.IDIn(s.Must(t, "POST", templates, on.fill(newTemplate)).Body)
}

// newPlan adds a release plan with a safeguard to the subject's flag, which is off. The milestone of the subject is its second one.
func newPlan(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	plan := apitest.Decode[struct {
		ID         string
		Milestones []struct{ ID string }
	}](t, s.Must(t, "POST", on.fill(inEnvironment("", "/release-plans"))[1:], on.fill(somePlan)).Body)
	on.plan, on.milestone = plan.ID, plan.Milestones[1].ID
	s.Do(t, "POST", on.fill("/api/admin/projects/{projectId}"+aSignals), `{"name":"guard"}`) // perhaps it exists
	s.Must(t, "PUT", on.fill(inEnvironment("", safeguards))[1:], `{"signal":{"name":"guard"},"action":{"type":"off"}}`)
	list := apitest.Decode[[]struct{ Safeguards []struct{ ID string } }](t, s.Must(t, "GET", on.fill(inEnvironment("", "/release-plans"))[1:], "").Body)
	on.safeguard = list[0].Safeguards[0].ID
}

// newApplication creates an application that never reported.
func newApplication(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	on.kind = on.fill("{new}")
	s.Must(t, "POST", on.fill(anApplication), "")
}

func newToken(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	on.secret = apitest.SecretIn(s.Must(t, "POST", "/api/admin/api-tokens", on.fill(`{"tokenName":"{new}","type":"client"}`)).Body)
}

func newSignup(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	on.secret = apitest.SecretIn(s.Must(t, "POST", "/api/admin/invite-link/tokens", `{"name":"n","expiresAt":"2100-01-01T00:00:00Z"}`).Body)
}

// newAccountToken creates a service account with a token.
func newAccountToken(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	newAccount(t, s, on)
	s.Must(t, "POST", "/api/admin/service-account/"+on.user+"/token", `{"description":"d","expiresAt":"2100-01-01T00:00:00Z"}`)
}

// heldRole is the path of a user's role in a project.
const heldRole = "/api/admin/projects/{projectId}/users/{userId}/roles/{roleId}"

func newUser(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	on.user = s.ID(t, "/api/admin/user-admin", on.fill(`{"username":"{new}","rootRole":3}`))
}

func newAccount(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	on.user = s.ID(t, "/api/admin/service-account", on.fill(`{"username":"{new}","name":"x","rootRole":3}`))
}

func newRole(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	on.role = s.ID(t, "/api/admin/roles", on.fill(`{"name":"{new}","type":"custom"}`))
}

// newMember creates a user who is a member of the project.
func newMember(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	newUser(t, s, on)
	s.Must(t, "POST", apitest.Project+"/users/"+on.user+"/roles/5", "")
}

func newEnvironment(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	on.environment = on.fill("{new}")
	s.Must(t, "POST", "/api/admin/environments", fmt.Sprintf(`{"name":%q,"type":"test"}`, on.environment))
	s.Must(t, "POST", apitest.Project+"/environments", fmt.Sprintf(`{"environment":%q}`, on.environment))
}

// newSubject creates a new flag to call an operation on.
func newSubject(t *testing.T, s *apitest.Server) subject {
	t.Helper()
	on := subject{project: "default", flag: fmt.Sprintf("subject-%d", subjects.Add(1)), environment: "development"}
	s.Create(t, on.flag)
	addStrategyAndVariants(t, s, &on)
	return on
}

// addStrategyAndVariants adds a strategy and variants to the subject's flag.
func addStrategyAndVariants(t *testing.T, s *apitest.Server, on *subject) {
	t.Helper()
	flag := on.fill(ofFlag("", ""))[1:]
	s.Must(t, "PUT", flag+"/variants", `[{"name":"v","weight":1}]`)
	added := s.Must(t, "POST", on.fill(inEnvironment("", "/strategies"))[1:], `{"name":"default"}`)
	_, rest, _ := strings.Cut(added.Body, `"id":"`)
	on.strategy, _, _ = strings.Cut(rest, `"`)
	on.link = apitest.AddLink(t, s, flag)
}

// fill replaces the {parameters} in a text with the subject's names.
func (on subject) fill(text string) string {
	return strings.NewReplacer("{projectId}", on.project, "{featureName}", on.flag, "{environment}", on.environment,
		"{environmentName}", on.environment, "{strategyId}", on.strategy, "{strategy}", on.strategy,
		"{tagType}", cmp.Or(on.kind, "simple"), "{strategyType}", cmp.Or(on.kind, "default"), "{templateId}", cmp.Or(on.kind, "nosuch"), "{signalName}", cmp.Or(on.kind, "nosuch"), "{planId}", cmp.Or(on.plan, "nosuch"), "{milestoneId}", cmp.Or(on.milestone, "nosuch"), "{safeguardId}", cmp.Or(on.safeguard, "nosuch"), "{parent}", cmp.Or(on.kind, "parent"), "{freezeId}", cmp.Or(on.kind, "nosuch"), "{linkId}", cmp.Or(on.link, "nosuch"), "{value...}", "a%2Fb", "{repository...}", "a%2Fb",
		"{contextField}", cmp.Or(on.kind, "userId"), "{appName}", cmp.Or(on.kind, "an-app"), "{legalValue...}", "a%2Fb", "{id}", cmp.Or(on.segment, "1"), "{addonId}", cmp.Or(on.addon, "1"), "{changeRequestId}", cmp.Or(on.request, "1"), "{changeId}", "1",
		"{userId}", cmp.Or(on.user, "1"), "{roleId}", cmp.Or(on.role, "4"), "{new}", fmt.Sprintf("new-%d", subjects.Add(1)),
		"{token}", cmp.Or(on.secret, "{token}"), "{tokenId}", "1", "{name}", cmp.Or(on.secret, "{token}")).Replace(text)
}

// call returns the call of a route's example on the subject.
func (on subject) call(route string) apitest.Call {
	method, path, _ := strings.Cut(route, " ")
	e := examples[route]
	return apitest.Call{route, method, on.fill(path), on.fill(e.body), e.status, apitest.Anything}
}

// routes returns the sorted routes of all operations. The test fails if one has no example.
func routes(t *testing.T) []string {
	t.Helper()
	missing := maps.Clone(examples)
	var all []string
	for _, group := range admin.Groups() {
		for _, route := range group.Routes() {
			if _, ok := examples[route]; !ok {
				t.Errorf("%s of group %s has no example in operations_test.go; add one", route, group.Name)
				continue
			}
			delete(missing, route)
			all = append(all, route)
		}
	}
	for route := range missing {
		t.Errorf("the example of %s belongs to no operation; remove it", route)
	}
	slices.Sort(all)
	return all
}

// withBody returns the routes that read the body of the administrator: not that of signals, which need a secret of their own.
func withBody(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(routes(t), func(route string) bool { return examples[route].body == "" || examples[route].status == 401 })
}

// publicRoutes are those that need no token.
var publicRoutes = []string{"POST /api/signals/{signalName}", "GET /auth/methods", "POST /auth/link", "GET /auth/oidc/login", "GET /auth/oidc/callback", "GET /health", "GET /ready"}

func isPublic(route string) bool { return slices.Contains(publicRoutes, route) }

// protectedRoutes returns the routes that need a token: all that are not public.
func protectedRoutes(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(routes(t), isPublic)
}

const aSignInLink = "/api/admin/user-admin/{userId}/sign-in-link"

const aSignOut = "/api/admin/user-admin/{userId}/sign-out"
