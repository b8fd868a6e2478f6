package main

import "guidon/pkg/flags"

// ofSegments are the members of context fields and segments.
var ofSegments = map[string]member{
	"contextFieldBody.name":           {doc: "What constraints and contexts call it, unique.", example: "country", must: true, limit: aName},
	"updateContextFieldBody.name":     {doc: "May be repeated, and must then be the name in the path: context fields cannot be renamed.", example: "country"},
	"contextFieldView.name":           {doc: "What constraints and contexts call it.", example: "country"},
	"namedBody.name":                  {doc: "The name to ask about.", example: "country", must: true, limit: aName},
	"contextFieldMembers.stickiness":  {doc: "Whether rollouts may go by it.", example: true, standard: false},
	"contextFieldView.stickiness":     {doc: "Whether rollouts may go by it.", example: true},
	"contextFieldMembers.sortOrder":   {doc: "Its place for consoles: lower comes first. A new one is at 10.", example: 10},
	"contextFieldView.sortOrder":      {doc: "Its place for consoles: lower comes first.", example: 10},
	"contextFieldMembers.legalValues": {doc: "What it can be, each value once; none for anything."},
	"contextFieldView.legalValues":    {doc: "What it can be; none for anything."},
	"legalValueBody.value":            {doc: "The value.", example: "NO", must: true, limit: both(notEmpty, longest(flags.MaxName))},
	"legalValueBody.description":      {doc: "What it means.", example: "Norway"},
	"legalValueView.value":            {doc: "The value.", example: "NO"},
	"legalValueView.description":      {doc: "What it means; absent for nothing.", example: "Norway"},
	"usedInFeatures":                  {doc: "How many active flags use it.", example: 3},
	"usedInProjects":                  {doc: "How many projects those are in.", example: 1},

	"segmentBody.name":                   {doc: "Name of the segment, unique.", example: "beta users", must: true, limit: both(notBlank, longest(flags.MaxSegmentName))},
	"segmentNameBody.name":               {doc: "The name to ask about.", example: "beta users", must: true, limit: both(notBlank, longest(flags.MaxSegmentName))},
	"segmentView.name":                   {doc: "Name of the segment, unique.", example: "beta users"},
	"segmentView.id":                     {doc: "Id of the segment, which is never used again.", example: 1},
	"segmentBody.project":                {doc: "Id of the only project whose flags may use it; null or left out for all.", example: "default", limit: aName},
	"segmentView.project":                {doc: "Id of the only project whose flags may use it; absent for all.", example: "default"},
	"segmentBody.constraints":            {doc: "Conditions on the context, all of which must hold. All their values together are at most 1,000.", must: true, limit: most(defaults.Constraints)},
	"segmentView.createdBy":              {doc: "Who made it.", example: "admin"},
	"segmentList.segments":               {doc: "The segments, by name."},
	"strategySegmentsBody.projectId":     {doc: "Id of the project of the strategy's flag.", example: "default", must: true, limit: aName},
	"strategySegmentsBody.strategyId":    {doc: "Identifier of the strategy.", example: anUUID, must: true, limit: notEmpty},
	"strategySegmentsBody.environmentId": {doc: "Name of the strategy's environment.", example: "development", must: true, limit: aName},
	"strategySegmentsBody.segmentIds":    {doc: "Ids of the segments, which take the place of those that it has.", example: []any{1}, must: true, limit: most(defaults.StrategySegments)},
	"strategySegmentsView.projectId":     {doc: "Id of the project.", example: "default"},
	"strategySegmentsView.strategyId":    {doc: "Identifier of the strategy.", example: anUUID},
	"strategySegmentsView.environmentId": {doc: "Name of the environment.", example: "development"},
	"strategySegmentsView.segmentIds":    {doc: "Ids of the segments that it has.", example: []any{1}},

	"usingStrategy.id":                          {doc: "Identifier of the strategy.", example: anUUID},
	"usingStrategy.featureName":                 {doc: "Name of its flag.", example: "new-checkout"},
	"usingStrategy.projectId":                   {doc: "Id of the flag's project.", example: "default"},
	"usingStrategy.strategyName":                {doc: "Its strategy type.", example: "flexibleRollout"},
	"usingStrategyList.strategies":              {doc: "The strategies, by flag and environment."},
	"segmentStrategies.strategies":              {doc: "The strategies, by flag and environment."},
	"segmentStrategies.changeRequestStrategies": {doc: "Always empty: there are no change requests."},
}
