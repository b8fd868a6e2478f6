//go:build migration

package migration

// This file creates what the suites lack: metadata, tags, and differences between environments.

func (f *filler) extraFields() {
	f.must("POST", "/api/admin/context", object{
		"name": "canton", "description": "Where the user is.", "stickiness": true, "sortOrder": 12,
		"legalValues": list{object{"value": "ZH", "description": "Zürich"}, object{"value": "BE"}},
	}, nil)
	f.must("POST", "/api/admin/context", object{"name": "plan", "sortOrder": 3, "legalValues": list{object{"value": "free"}, object{"value": "paid"}}}, nil)
}

func (f *filler) extras() {
	f.must("POST", "/api/admin/tag-types", object{"name": "team", "description": "The team that owns the flag.", "icon": "T"}, nil)
	f.must("POST", "/api/admin/tag-types", object{"name": "ticket", "description": "", "icon": ""}, nil)
	f.must("POST", "/api/admin/strategies", object{"name": "byFloor", "description": "By the floor.", "parameters": list{
		object{"name": "floors", "type": "list", "description": "Which floors.", "required": true},
		object{"name": "share", "type": "percentage", "description": "", "required": false},
		object{"name": "lift", "type": "boolean", "description": "", "required": false},
		object{"name": "most", "type": "number", "description": "", "required": false},
	}}, nil)
	var testers, empty struct{ ID int }
	f.must("POST", "/api/admin/segments", object{"name": "testers", "description": "The testers.", "constraints": list{
		object{"contextName": "userId", "operator": "IN", "values": list{"1", "2"}},
		object{"contextName": "canton", "operator": "NOT_IN", "values": list{"BE"}, "inverted": true},
	}}, &testers)
	f.must("POST", "/api/admin/segments", object{"name": "no users yet", "constraints": list{}}, &empty)

	for _, kind := range []string{"release", "experiment", "operational", "kill-switch", "permission"} {
		f.create("kind-"+kind, object{"type": kind, "description": "A flag of the type " + kind + ".\nIn two lines, with ünïcode ✓."})
	}
	f.on("kind-kill-switch", "development", object{"name": "default"})
	f.on("kind-kill-switch", "production", object{"name": "default", "title": "All users"})

	f.create("old", object{"description": "No longer needed."})
	f.on("old", "production", object{"name": "flexibleRollout", "parameters": object{"rollout": "100", "stickiness": "default", "groupId": "old"}})
	f.must("POST", "/api/admin/projects/default/stale", object{"features": list{"old"}, "stale": true}, nil)

	f.create("sparse", nil)
	f.on("sparse", "development", object{"name": "flexibleRollout", "parameters": object{"rollout": "30"}})

	f.create("impressed", object{"impressionData": true})
	f.create("bare", nil)

	f.create("tagged", object{"description": ""})
	f.must("PUT", "/api/admin/projects/default/tags", object{"features": list{"tagged", "kind-release"}, "tags": object{
		"addedTags":   list{object{"type": "team", "value": "core"}, object{"type": "ticket", "value": "A-12/b c?"}, object{"type": "simple", "value": "ünï 100%"}},
		"removedTags": list{},
	}}, nil)

	f.create("everything", object{"type": "experiment", "description": "Every part of a strategy."})
	f.on("everything", "development", object{
		"name": "flexibleRollout", "title": "Half", "parameters": object{"rollout": "50", "stickiness": "userId", "groupId": "another"},
		"segments": list{testers.ID, empty.ID},
		"constraints": list{
			object{"contextName": "canton", "operator": "IN", "values": list{"ZH", "BE"}, "inverted": true},
			object{"contextName": "appName", "operator": "STR_CONTAINS", "values": list{"Web"}, "caseInsensitive": true},
			object{"contextName": "currentTime", "operator": "DATE_AFTER", "value": "2026-01-01T00:00:00.000Z"},
			object{"contextName": "appName", "operator": "SEMVER_GT", "value": "1.2.3-rc.1"},
		},
		"variants": list{
			object{"name": "blue", "weight": 300, "weightType": "fix", "stickiness": "userId", "payload": object{"type": "json", "value": `{"a":1}`}},
			object{"name": "red", "weight": 700, "weightType": "variable", "stickiness": "userId"},
		},
	})
	f.must("POST", inEnvironment("everything", "development")+"/strategies", object{"name": "userWithId", "disabled": true, "parameters": object{"userIds": "7,8"}}, nil)
	f.must("POST", inEnvironment("everything", "development")+"/strategies", object{"name": "byFloor", "parameters": object{"floors": "1,2", "share": "20", "lift": "true", "most": "3"}}, nil)
	f.must("POST", inEnvironment("everything", "production")+"/strategies", object{"name": "remoteAddress", "parameters": object{"IPs": "127.0.0.1"}, "disabled": true}, nil)
	// Unleash 8 accepts variants only in strategies.
	f.try("variants of everything", "PUT", inEnvironment("everything", "production")+"/variants", list{
		object{"name": "a", "weight": 250, "weightType": "fix", "stickiness": "canton", "payload": object{"type": "number", "value": "3"}},
		object{"name": "b", "weight": 750, "weightType": "variable", "stickiness": "canton", "overrides": list{object{"contextName": "userId", "values": list{"9"}}}},
	}, nil)

	f.create("parent", nil)
	f.on("parent", "development", object{"name": "default"})
	f.create("child", nil)
	f.must("POST", flagPath("child")+"/dependencies", object{"feature": "parent", "enabled": true, "variants": list{"x", "y"}}, nil)
	f.create("a-child-before-its-parent", nil)
	f.must("POST", flagPath("a-child-before-its-parent")+"/dependencies", object{"feature": "parent", "enabled": false}, nil)

	f.must("POST", flagsPath, object{"name": "in-the-archive"}, nil)
	f.must("DELETE", flagPath("in-the-archive"), nil, nil)
}

// create creates a flag with these fields.
func (f *filler) create(name string, with object) {
	body := object{"name": name}
	for k, v := range with {
		body[k] = v
	}
	f.must("POST", flagsPath, body, nil)
	f.flags++
}

// on adds a strategy to a flag in an environment and switches it on there.
func (f *filler) on(name, environment string, strategy object) {
	at := inEnvironment(name, environment)
	f.must("POST", at+"/strategies", strategy, nil)
	f.must("POST", at+"/on", nil, nil)
}
