package main

const statisticsPath = api + "/instance-admin/statistics"

// statisticsOperations count what the service has.
var statisticsOperations = map[string]operation{
	"GET " + statisticsPath: {id: "readStatistics", summary: "Count what the service has", about: "Operators use it to check a connection and the version."},
	"GET " + statisticsPath + "/csv": {id: "readStatisticsAsCSV", summary: "Count what the service has, as CSV", answers: "A row of names and a row of values. A value that is an object is JSON.",
		csv: "instanceId,timestamp,versionOSS\n8f7a3c1e,2026-03-04T05:06:07.000Z,5.12.8\n"},
}

// ofStatistics are the members of those counts.
var ofStatistics = map[string]member{
	"instanceId":                 {doc: "Identifies the installation; it stays the same.", example: "8f7a3c1e"},
	"statistics.timestamp":       {doc: "When it was counted."},
	"versionOSS":                 {doc: "The version of Unleash whose interface the service follows.", example: "5.12.8"},
	"versionEnterprise":          {doc: "Always empty.", example: ""},
	"statistics.users":           {doc: "The number of users, without service accounts.", example: 3},
	"statistics.serviceAccounts": {doc: "The number of service accounts.", example: 1},
	"apiTokens":                  {doc: "The number of API tokens of each type.", example: map[string]any{"admin": 1, "client": 4}},
	"featureToggles":             {doc: "The number of active flags.", example: 120},
	"statistics.projects":        {doc: "The number of projects.", example: 2},
	"statistics.contextFields":   {doc: "The number of context fields.", example: 4},
	"statistics.roles":           {doc: "The number of roles, built-in ones included.", example: 5},
	"customRootRoles":            {doc: "The number of custom root roles.", example: 1},
	"customRootRolesInUse":       {doc: "The number of custom root roles that a user or service account has.", example: 1},
	"statistics.groups":          {doc: "Always 0: there are no groups.", example: 0},
	"statistics.environments":    {doc: "The number of environments.", example: 3},
	"statistics.segments":        {doc: "The number of segments.", example: 2},
	"statistics.strategies":      {doc: "The number of strategy types, built-in ones included.", example: 5},
	"SAMLenabled":                {doc: "Always false.", example: false},
	"OIDCenabled":                {doc: "Always false.", example: false},
}
