package main

var flagOperations = map[string]operation{
	"GET /health": {id: "health", summary: "Tell whether the service is there", about: "It looks at nothing, the store included."},

	"GET " + aProject + "/features": {id: "listFeatures", summary: "List a project's flags", query: append([]string{"tag", "namePrefix"}, pageQueries...),
		about:    "All active flags by name, complete and consistent. Accept `gzip` for long lists: without compression, a list of more than about 5,000 flags can pass the 6 MB of an answer and is a 413.",
		failures: map[int]string{400: "The query names no tag (`ValidationError`).", 413: "The list is more than the 6 MB that an answer can have (`PayloadTooLargeError`)."}},
	"POST " + aProject + "/features": {id: "createFeature", summary: "Make a flag", answers: "The new flag, disabled everywhere.",
		example:  `{"name": "new-checkout", "type": "release", "description": "The checkout in one page.", "impressionData": false}`,
		failures: conflict("The name is taken, by an archived flag too (`NameExistsError`).")},
	"GET " + aFlag: {id: "readFeature", summary: "Read a flag", about: "With what it has in each environment of its project."},
	"PUT " + aFlag: {id: "updateFeature", summary: "Change a flag's metadata", answers: "The changed flag.",
		about: "What the body leaves out stays as it is. `project`, `createdAt`, `lastSeen`, `lastSeenAt` and `archived` are ignored.", example: `{"description": "The checkout in one page.", "stale": false}`},
	"PATCH " + aFlag: {id: "patchFeature", summary: "Change a flag's metadata by a JSON Patch", answers: "The changed flag.",
		about: "The document is the metadata alone: name, project, type, description, stale, impressionData, archived, createdAt, lastSeen and lastSeenAt. " +
			"What cannot be changed stays whatever the patch says. A patch is applied whole or not at all.", example: `[{"op": "replace", "path": "/stale", "value": true}]`},
	"DELETE " + aFlag: {id: "archiveFeature", summary: "Archive a flag", about: "It takes no change any more until it is revived, and its name stays taken for ever. It depends on no other flag any more. Archiving it again changes nothing.",
		failures: conflict("Other flags depend on it (`ConflictError`); the details name them.")},
	"POST " + aFlag + "/clone": {id: "cloneFeature", summary: "Clone a flag", answers: "The new flag with its variants, disabled everywhere.",
		about: "With its metadata, strategies, variants and dependencies; tags stay behind.", example: `{"name": "new-checkout-2", "replaceGroupId": true}`,
		failures: conflict("The name is taken, by an archived flag too (`NameExistsError`).")},
	"POST " + aFlag + "/changeProject": {id: "moveFeature", summary: "Move a flag to another project",
		about: "Whoever moves it must be allowed to create flags there. The other project must have every environment that the flag is on in; what the flag has in environments that only its old project has rests. " +
			"Moving it to where it is changes nothing.", example: `{"newProjectId": "shop"}`,
		failures: conflict("The other project lacks an environment that the flag is on in, or there are dependencies (`ConflictError`).")},
	"POST " + aFlag + "/favorites":   {id: "addFavorite", summary: "Make a flag one of the caller's favorites"},
	"DELETE " + aFlag + "/favorites": {id: "removeFavorite", summary: "Remove a flag from the caller's favorites"},
	"POST " + aFlag + "/dependencies": {id: "addDependency", summary: "Make a flag depend on another one, its parent", example: `{"feature": "checkout", "enabled": true, "variants": ["blue"]}`,
		about:    "It is on only where all of its parents are as it asks. There is one level: a parent depends on none. Naming a parent again changes what is asked of it.",
		failures: conflict("Other flags depend on this one, so it can depend on none (`ConflictError`); the details name them.")},
	"DELETE " + aFlag + "/dependencies":          {id: "removeDependencies", summary: "End what a flag depends on"},
	"DELETE " + aFlag + "/dependencies/{parent}": {id: "removeDependency", summary: "End that a flag depends on another one"},
	"GET " + aFlag + "/parent-variants":          {id: "listParentVariants", summary: "List the variants of a flag that flags depending on it can ask for", about: "The names of the variants of all environments and of their strategies."},
	"GET " + aFlag + "/parents": {id: "listParents", summary: "List what a flag could depend on", about: "The project's active flags that depend on none themselves. None where others depend on the flag.",
		failures: map[int]string{413: "The list is more than the 6 MB that an answer can have (`PayloadTooLargeError`)."}},
	"GET " + aProject + "/dependencies": {id: "anyDependencies", summary: "Tell whether any flag of a project depends on another one"},
	"GET " + aFlag + "/lifecycle": {id: "readLifecycle", summary: "List the stages that a flag has been through", answers: "The stages in their order; the last one is where the flag is.",
		about: "Since it was made or revived. Of an archived flag too."},
	"POST " + aFlag + "/lifecycle/complete": {id: "completeFeature", summary: "Say that a flag has done its work", example: `{"status": "kept-with-variant", "statusValue": "blue"}`,
		about: "It moves to the stage `completed`, and nothing else changes. Said again, it may tell of another outcome."},
	"POST " + aFlag + "/lifecycle/uncomplete": {id: "uncompleteFeature", summary: "Take back that a flag has done its work", about: "It is in the stage again that it was in before."},
	"GET " + aFlagIn: {id: "readFeatureEnvironment", summary: "Read what a flag has in an environment"},
	"POST " + aFlagIn + "/on": {id: "enableFeature", summary: "Switch a flag on in an environment", answers: "The flag, whose `enabled` is that of this environment.",
		about:    "Without strategies there, the project's default strategy for the environment is added with it. Switching on what is on changes nothing.",
		failures: conflict("The flag has no strategies there, and the project no default strategy (`ConflictError`).")},
	"POST " + aFlagIn + "/off":         {id: "disableFeature", summary: "Switch a flag off in an environment", answers: "The flag, whose `enabled` is that of this environment."},
	"GET " + api + "/archive/features": {id: "listAllArchivedFeatures", summary: "List the archived flags of all projects", query: pageQueries, about: "Without the flags of deleted projects.", failures: map[int]string{413: "The flags are more than the 6 MB that an answer can have (`PayloadTooLargeError`)."}},
	"GET " + api + "/archive/features/{projectId}": {id: "listArchivedFeatures", summary: "List a project's archived flags", query: pageQueries,
		failures: map[int]string{413: "The list is more than the 6 MB that an answer can have (`PayloadTooLargeError`)."}},
	"POST " + api + "/archive/revive/{featureName}": {id: "reviveFeature", summary: "Revive an archived flag", about: "It comes back disabled everywhere."},
	"GET " + api + "/feature-types":                 {id: "listFeatureTypes", summary: "List the types that a flag can have"},
	"POST " + api + "/features/validate": {id: "validateFeature", summary: "Tell whether a flag of that name could be made", example: `{"name": "new-checkout", "projectId": "default"}`,
		failures: conflict("The name is taken, by an archived flag too (`NameExistsError`).")},

	"GET " + api + "/search/features": {id: "searchFeatures", summary: "Search for flags in all projects", answers: "A page of the flags found, and how many there are in all.",
		about: "It reads the list rows of every project that `project` does not rule out.", query: searchQueries,
		failures: map[int]string{400: "A parameter of the query is not as it must be (`ValidationError`)."}},
	"POST " + api + "/features-batch/export": {id: "exportFeatures", summary: "Export flags", answers: "The flags as they are in the environment, and what they refer to: data that an import takes, here or in Unleash.",
		about: "By name (`[]` for all), by tag or by project. With `fullSegments`, segments come with their constraints, so that an import can make them; Unleash takes no such data. " +
			"An export of more than 32 MiB, or of more than 6 MB as it is sent, compressed if the client accepts that, is a 413: export fewer flags at a time.",
		example:  `{"environment": "development", "features": ["new-checkout"]}`,
		failures: map[int]string{413: "The data is more than the 6 MB that an answer can have (`PayloadTooLargeError`)."}},
	"POST " + api + "/features-batch/import": {id: "importFeatures", summary: "Import flags into an environment of a project", answers: "What was made, overwritten, left as it was, and skipped, with the reasons.",
		about: "A flag comes over whole or not at all, whatever becomes of the others: its metadata, tags and parents, and its strategies, variants and state in the environment. What the flags need and is not there, tag types, context fields and segments, is made first. " +
			"The same import again changes nothing. The body may have 4 MiB, 10,000 flags, and 1,000 tag types, context fields and segments. If time runs out, the answer is a 503, and the same import again does the rest.",
		example: `{"project": "default", "environment": "development", "data": {"features": [{"name": "new-checkout", "type": "release"}],` +
			`"featureStrategies": [{"featureName": "new-checkout", "name": "flexibleRollout", "parameters": {"rollout": "50"}}], "featureTags": [{"featureName": "new-checkout", "tagType": "simple", "tagValue": "checkout"}]}}`,
		failures: map[int]string{404: "There is no such project, or no such environment in it (`NotFoundError`).", 413: "The body is larger than 4 MiB (`PayloadTooLargeError`)."}},
	"POST " + api + "/features-batch/validate": {id: "validateImport", summary: "Tell what an import would meet", answers: "What stands in the way of the import, what to know before it, and which permissions the caller lacks.",
		about: "Nothing is changed: the import is rehearsed, and what it would skip is said with the reason. The body may have 4 MiB, 10,000 flags, and 1,000 tag types, context fields and segments.",
		example: `{"project": "default", "environment": "development", "data": {"features": [{"name": "new-checkout", "type": "release"}],` +
			`"featureStrategies": [{"featureName": "new-checkout", "name": "flexibleRollout", "parameters": {"rollout": "50"}}], "featureTags": [{"featureName": "new-checkout", "tagType": "simple", "tagValue": "checkout"}]}}`,
		failures: map[int]string{404: "There is no such project, or no such environment in it (`NotFoundError`).", 413: "The body is larger than 4 MiB (`PayloadTooLargeError`)."}},
}

var tagOperations = map[string]operation{
	"GET " + tagTypes:                           {id: "listTagTypes", summary: "List the tag types"},
	"POST " + tagTypes:                          {id: "createTagType", summary: "Make a tag type", example: `{"name": "team", "description": "Who looks after it.", "icon": "T"}`, failures: nameTaken},
	"GET " + tagTypes + "/{tagType}":            {id: "readTagType", summary: "Read a tag type"},
	"POST " + tagTypes + "/validate":            {id: "validateTagType", summary: "Check whether a tag type could be created", example: `{"name": "team", "description": "Who looks after it.", "icon": "T"}`, failures: nameTaken},
	"PUT " + tagTypes + "/{tagType}":            {id: "updateTagType", summary: "Change a tag type", example: `{"description": "Who looks after it.", "icon": "T"}`, about: "What the body leaves out stays as it is."},
	"DELETE " + tagTypes + "/{tagType}":         {id: "deleteTagType", summary: "Delete a tag type", about: "Flags keep tags of it; none can be added."},
	"GET " + api + "/tags":                      {id: "listTags", summary: "List what flags are tagged with", about: "Every tag that a flag has, archived flags included, of the types that exist.", query: pageQueries},
	"GET " + api + "/tags/{tagType}/{value...}": {id: "readTag", summary: "Check whether a flag has a tag", about: "Archived flags count."},
	"GET " + api + "/tags/{tagType}":            {id: "listTagsOfType", summary: "List what flags are tagged with, of one type", query: pageQueries},
	"GET " + flagTags:                           {id: "listFeatureTags", summary: "List a flag's tags"},
	"POST " + flagTags: {id: "addTag", summary: "Tag a flag", example: `{"type": "simple", "value": "checkout"}`, answers: "The tag.",
		failures: map[int]string{404: "There is no such flag or tag type (`NotFoundError`)."}},
	"PUT " + flagTags: {id: "changeTags", summary: "Add and remove tags of a flag, in one change", answers: "The flag's tags.",
		example:  `{"addedTags": [{"type": "simple", "value": "checkout"}], "removedTags": [{"type": "simple", "value": "beta"}]}`,
		failures: map[int]string{404: "There is no such flag or tag type (`NotFoundError`)."}},
	"DELETE " + flagTags + "/{tagType}/{value...}": {id: "removeTag", summary: "Remove a tag from a flag"},
}

// bulkOperations do to many flags what others do to one.
var bulkOperations = map[string]operation{
	"POST " + aProject + "/archive": {id: "archiveFeatures", summary: "Archive many flags", about: eachOnItsOwn + " A flag that others depend on can go with these.", example: `{"features": ["new-checkout", "old-banner"]}`, failures: someUndone},
	"POST " + aProject + "/archive/validate": {id: "validateArchive", summary: "Tell what archiving some flags would mean for others", about: "Nothing is changed. Names of no flags are passed over.",
		example: `{"features": ["old-banner", "old-checkout"]}`},
	"POST " + aProject + "/revive": {id: "reviveFeatures", summary: "Revive many archived flags", about: eachOnItsOwn, example: `{"features": ["new-checkout", "old-banner"]}`, failures: someUndone},
	"POST " + aProject + "/stale":  {id: "markFeatures", summary: "Say of many flags whether they are stale", about: eachOnItsOwn, example: `{"features": ["new-checkout", "old-banner"], "stale": true}`, failures: someUndone},
	"PUT " + aProject + "/tags": {id: "tagFeatures", summary: "Add and remove tags of many flags", about: eachOnItsOwn,
		example: `{"features": ["new-checkout", "old-banner"], "tags": {"addedTags": [{"type": "simple", "value": "checkout"}], "removedTags": []}}`, failures: someUndone},
	"POST " + aProject + "/changeProject": {id: "moveFeatures", summary: "Move many flags to another project", about: eachOnItsOwn, example: `{"features": ["new-checkout", "old-banner"], "newProjectId": "shop"}`, failures: someUndone},
	"POST " + aProject + "/bulk_features/environments/{environment}/on": {id: "enableFeatures", summary: "Switch many flags on in an environment", about: eachOnItsOwn,
		example: `{"features": ["new-checkout", "old-banner"]}`, failures: someUndone},
	"POST " + aProject + "/bulk_features/environments/{environment}/off": {id: "disableFeatures", summary: "Switch many flags off in an environment", about: eachOnItsOwn,
		example: `{"features": ["new-checkout", "old-banner"]}`, failures: someUndone},
}

const eachOnItsOwn = "Up to 100 flags, each of which is a change of its own, by the rules and with the event of the operation for one flag; a flag that needs no change is done. " +
	"If some cannot be done the others are, and the error has a detail for each that was not, whose path says which: `/features/3` is the fourth. " +
	"Its status is that of the failures if they are all of one kind, else 409; a 503 says how many were done before time was up."

var someUndone = conflict("Some flags could not be done, and the details say why (`ConflictError`).")
