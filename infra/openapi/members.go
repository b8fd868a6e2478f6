package main

import (
	"maps"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A member is what there is to say of a member of a JSON object beside its type.
type member struct {
	doc        string
	example    any
	must       bool // a body has to have it
	deprecated bool
	standard   any   // what it is where a body leaves it out
	limit      limit // what a body must keep to

	owner string // the type that the entry is for; "" for all. Set when it is looked up
}

// Examples that come again and again.
const (
	moment = "2026-03-04T05:06:07.000Z"
	anUUID = "8f7a3c1e-5d2b-4c6a-9e0f-1a2b3c4d5e6f"
)

// members is keyed by the type and the name of a member, or by the name alone where it means the same everywhere.
var members = merge(everywhere, ofSegments, ofFeatures, ofStrategies, ofProjects, ofTags, ofPeople, ofTokens, ofStatistics, ofImports, ofEvents)

func merge[T any](tables ...map[string]T) map[string]T {
	all := map[string]T{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// everywhere are the members that mean the same wherever they are.
var everywhere = map[string]member{
	"version":     {doc: "Version of this list's schema.", example: 1},
	"createdAt":   {doc: "When it was made."},
	"updatedAt":   {doc: "When it was last changed; when it was made, if never."},
	"description": {doc: "What it is for, for people to read.", example: "The checkout in one page.", limit: longest(flags.MaxDescription)},
	"enabled":     {doc: "Whether it is on.", example: true},
	"project":     {doc: "Id of the project that it belongs to.", example: "default", limit: longest(flags.MaxName)},
	"environment": {doc: "Name of the environment.", example: "development", limit: longest(flags.MaxName)},
	"sortOrder":   {doc: "Its place: lower comes first.", example: 1},
	"title":       {doc: "A short description; null for none.", example: "Beta users", limit: longest(flags.MaxTitle)},
	"icon":        {doc: "A character or the address of a picture; null for none.", example: "#", limit: longest(flags.MaxTitle)},
}

// ofFeatures are the members of flags, what they have in their environments, and patches.
var ofFeatures = map[string]member{
	"createFeatureBody.name":        {doc: "Name of the flag, unique in the service for ever.", example: "new-checkout", must: true, limit: aName},
	"cloneFeatureBody.name":         {doc: "Name of the new flag, unique in the service for ever.", example: "new-checkout-2", must: true, limit: aName},
	"validateFeatureBody.name":      {doc: "The name to ask about.", example: "new-checkout", must: true, limit: aName},
	"updateFeatureBody.name":        {doc: "May be repeated, and must then be the name in the path: flags cannot be renamed.", example: "new-checkout", limit: longest(flags.MaxName)},
	"validateFeatureBody.projectId": {doc: "Id of the project that the flag is to belong to, which must exist. Null for any.", example: "default", limit: aName},
	"flagsBody.features":            {doc: "Names of flags of the project, each counted once.", example: []string{"new-checkout", "old-banner"}, must: true, limit: both(most(httpapi.MaxBulk), each(longest(flags.MaxName)))},
	"markBody.stale":                {doc: "Whether the flags have served their purpose and should go.", example: true, must: true},
	"tagFlagsBody.tags":             {doc: "What is added to every flag, and what removed.", must: true},
	"newProjectId":                  {doc: "Id of the project that it goes to.", example: "shop", must: true, limit: aName},
	"parentsWithChildFeatures":      {doc: "Those of the flags that others depend on, which the list does not name.", example: []string{"payments"}},
	"hasDeletedDependencies":        {doc: "Whether some of the flags depend on others, or others on them.", example: false},
	"replaceGroupId":                {doc: "Whether strategies whose `groupId` is the old name get the new one.", example: true, standard: true},

	"metadataView.name":                {doc: "Name of the flag, unique in the service for ever.", example: "new-checkout"},
	"featureRow.name":                  {doc: "Name of the flag.", example: "new-checkout"},
	"metadataView.type":                {doc: "Purpose of the flag.", example: "release"},
	"featureRow.type":                  {doc: "Purpose of the flag.", example: "release"},
	"createFeatureBody.type":           {doc: "Purpose of the flag.", example: "release", standard: "release", limit: featureType},
	"metadataBody.type":                {doc: "Purpose of the flag.", example: "release", limit: featureType},
	"createFeatureBody.description":    {doc: "What the flag is for.", example: "The checkout in one page.", standard: "", limit: longest(flags.MaxDescription)},
	"stale":                            {doc: "Whether the flag has served its purpose and should go.", example: false},
	"impressionData":                   {doc: "Whether SDKs are to report each evaluation of the flag.", example: false},
	"createFeatureBody.stale":          {doc: "Whether the flag has served its purpose and should go.", example: false, standard: false},
	"createFeatureBody.impressionData": {doc: "Whether SDKs are to report each evaluation of the flag.", example: false, standard: false},
	"lastSeenAt":                       {doc: "When usage was last reported; null while it never was."},
	"metadataView.lastSeenAt":          {doc: "When usage was last reported; null while it never was. Use that of the environment.", deprecated: true},
	"featureRow.lastSeenAt":            {doc: "When usage was last reported; null while it never was. Use that of the environment.", deprecated: true},
	"archived":                         {doc: "Whether the flag is archived: out of use, its name still taken.", example: false},
	"archivedAt":                       {doc: "When the flag was archived; null while it is active."},
	"featureSubset.enabled":            {doc: "Whether the flag is on in any environment.", example: true},
	"featureRecord.enabled":            {doc: "Whether the flag is on in any environment; in the answer to on and off, whether it is in that one.", example: true},
	"favorite":                         {doc: "Whether it is one of the caller's favorites.", example: false},
	"featureRecord.environments":       {doc: "The flag in each environment of its project, in their order."},
	"archivedFeature.environments":     {doc: "The environments of its project, in their order. An archived flag is off in all of them."},
	"featureRow.environments":          {doc: "The flag in each environment of its project, in their order."},
	"featureRecord.variants":           {doc: "The union by name of the environments' variants. Use those of the environment.", deprecated: true},
	"featureSubset.variants":           {doc: "Null, or after cloning the union by name of the environments' variants.", deprecated: true},
	"featureRecord.strategies":         {doc: "Always empty. Use those of the environment.", deprecated: true},
	"children":                         {doc: "Names of the flags that depend on this one.", example: []any{}},
	"featureRecord.dependencies":       {doc: "The flags that this one depends on: its parents."},
	"lifecycle":                        {doc: "The stage that the flag is in."},
	"stage":                            {doc: "How far the flag has come: initial, pre-live, live, completed or archived.", example: "initial"},
	"enteredStageAt":                   {doc: "When it came to that stage."},
	"phaseView.status":                 {doc: "What a completed flag has come to; absent where nobody said.", example: "kept"},
	"phaseView.statusValue":            {doc: "More of that, such as the variant that was kept; absent where nobody said.", example: "blue"},
	"completeBody.status":              {doc: "What the flag has come to.", example: "kept", limit: oneOf(flags.CompletionStatuses()...)},
	"completeBody.statusValue":         {doc: "More of that, such as the variant that was kept.", example: "blue", limit: longest(httpapi.MaxStatusValue)},

	"dependencyBody.feature":  {doc: "Name of the parent: a flag of the same project that is not archived and depends on none.", example: "checkout", must: true, limit: aName},
	"dependencyBody.enabled":  {doc: "Whether the parent must be on, or else off.", example: true, standard: true},
	"dependencyBody.variants": {doc: "Variants of which the parent must resolve to one; any without them. Only of a parent that must be on.", example: []any{"blue"}, limit: each(longest(flags.MaxTitle))},
	"dependencyView.feature":  {doc: "Name of the parent.", example: "checkout"},
	"dependencyView.enabled":  {doc: "Whether the parent must be on, or else off.", example: true},
	"dependencyView.variants": {doc: "Variants of which the parent must resolve to one; any if there are none.", example: []any{"blue"}},

	"featureRecord.tags": {doc: "The flag's tags, by type and value."},
	"featureRow.tags":    {doc: "The flag's tags, by type and value; absent without any."},
	"features":           {doc: "The flags, by name."},

	"rowEnvironment.name":               {doc: "Name of the environment.", example: "development"},
	"rowEnvironment.displayName":        {doc: "The name again, for people.", example: "development"},
	"rowEnvironment.enabled":            {doc: "Whether the flag is on there.", example: true},
	"rowEnvironment.type":               {doc: "Type of the environment.", example: "development"},
	"variantCount":                      {doc: "How many variants the flag has there.", example: 2},
	"hasStrategies":                     {doc: "Whether the flag has strategies there.", example: true},
	"hasEnabledStrategies":              {doc: "Whether the flag has enabled strategies there.", example: true},
	"featureName":                       {doc: "Name of the flag.", example: "new-checkout"},
	"featureEnvironmentView.strategies": {doc: "By sort order, then age."},
	"featureEnvironmentView.variants":   {doc: "The flag's variants in the environment."},

	"featureTypeView.id":          {doc: "What a flag has as its type.", example: "release"},
	"featureTypeView.name":        {doc: "What people call it.", example: "Release"},
	"featureTypeView.description": {doc: "What such flags are for.", example: "Bring something new to everybody, in steps."},
	"lifetimeDays":                {doc: "For how many days such a flag is expected to be of use; null for ever.", example: 40},
	"types":                       {doc: "The types that a flag can have."},

	"op":                   {doc: "What to do (RFC 6902).", example: "replace", must: true, limit: oneOf("add", "remove", "replace", "copy", "move", "test")},
	"path":                 {doc: "JSON pointer to the member to change.", example: "/description", must: true, limit: both(aPointer, longest(httpapi.MaxPointer))},
	"from":                 {doc: "For copy and move, JSON pointer to where from.", example: "/name", limit: longest(httpapi.MaxPointer)},
	"patchOperation.value": {doc: "For add, replace and test: any value that the member can have.", example: "The checkout in one page."},

	"health":            {doc: "Percentage of the project's active flags that are not stale.", example: 100},
	"healthBody.health": {doc: "GOOD, if anything is answered at all.", example: "GOOD"},
}

// ofTags are the members of tags and tag types.
var ofTags = map[string]member{
	"tagBody.type":           {doc: "Name of a tag type, which must exist.", example: "simple", must: true, limit: aTag},
	"tagBody.value":          {doc: "Any characters.", example: "checkout", must: true, limit: aTag},
	"tagView.type":           {doc: "Name of a tag type.", example: "simple"},
	"tagView.value":          {doc: "Any characters.", example: "checkout"},
	"addedTags":              {doc: "Tags to give the flag. What it has already stays.", must: true, limit: most(flags.MaxTagChanges)},
	"removedTags":            {doc: "Tags to take from the flag. What it does not have is no fault.", must: true, limit: most(flags.MaxTagChanges)},
	"tags":                   {doc: "The tags, by type and value."},
	"tagTypeBody.name":       {doc: "What tags have as their type.", example: "team", must: true, limit: aTagType},
	"updateTagTypeBody.name": {doc: "May be repeated, and must then be the name in the path: tag types cannot be renamed.", example: "team", limit: longest(flags.MaxName)},
	"tagTypeView.name":       {doc: "What tags have as their type.", example: "team"},
	"tagTypes":               {doc: "The tag types, in the order of their making."},
	"tagType":                {doc: "The tag type."},
	"tagAnswer.tag":          {doc: "The tag."},
	"valid":                  {doc: "Always true: what is not valid is a failure.", example: true},
}
