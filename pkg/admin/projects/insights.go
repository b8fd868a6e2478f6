package projects

import (
	"math"
	"slices"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// projectInsights are the figures of a project.
type projectInsights struct {
	Stats    projectStats       `json:"stats"`
	Health   insightsHealth     `json:"health"`
	LeadTime leadTime           `json:"leadTime"`
	Types    []featureTypeCount `json:"featureTypeCounts"`
	Members  insightsMembers    `json:"members"`
}

type insightsHealth struct {
	Rating           int `json:"rating"`
	Active           int `json:"activeCount"` // not stale
	PotentiallyStale int `json:"potentiallyStaleCount"`
	Stale            int `json:"staleCount"`
}

// A leadTime says how many days flags needed from their creation to production.
type leadTime struct {
	Average  float64           `json:"projectAverage"`
	Features []featureLeadTime `json:"features"`
}

type featureLeadTime struct {
	Name string `json:"name"`
	Days int    `json:"timeToProduction"`
}

type insightsMembers struct {
	Current int `json:"currentMembers"`
	Change  int `json:"change"` // always 0: the time when a user became a member is not stored
}

// readInsights derives the figures from the rows of all flags of a project. The statistics count archived flags too.
func readInsights(tx *httpapi.Tx, at httpapi.InProject) (projectInsights, error) {
	p := at.Project(tx)
	active, archived := tx.Summaries(p), tx.SummariesOf([]*flags.Project{p}, true)[p.UID]
	counts, today := flags.CountFlags(active), flags.DayOf(tx.Now)
	stats := projectStatsOf(flags.CountFlags(slices.Concat(active, archived)), tx.Now)
	for _, s := range archived {
		stats.ArchivedCurrent += inWindow(flags.DayOf(s.ArchivedAt), today)
		stats.ArchivedPast += inWindow(flags.DayOf(s.ArchivedAt), today-window)
	}
	var recent []flags.FeatureSummary
	for _, s := range active {
		if flags.DayOf(s.Phase().EnteredAt) > today-window {
			recent = append(recent, s)
		}
	}
	stats.TimeToProd = int(leadTimeOf(recent).Average)
	return projectInsights{
		Stats:    stats,
		Health:   insightsHealth{Rating: flags.Health(counts.Active, counts.Stale), Active: counts.Active - counts.Stale, Stale: counts.Stale},
		LeadTime: leadTimeOf(active), Types: typeCountsOf(counts), Members: insightsMembers{Current: p.MemberCount()},
	}, nil
}

// leadTimeOf is the time from the creation of flags to their first use in production, for those in the stage live.
func leadTimeOf(list []flags.FeatureSummary) leadTime {
	times, sum := leadTime{Features: []featureLeadTime{}}, 0
	for _, s := range list {
		if phase := s.Phase(); phase.Stage == flags.StageLive {
			days := int(phase.EnteredAt.Sub(s.CreatedAt) / (24 * time.Hour))
			times.Features = append(times.Features, featureLeadTime{s.Name, days})
			sum += days
		}
	}
	if len(times.Features) > 0 {
		times.Average = math.Round(float64(sum)/float64(len(times.Features))*10) / 10
	}
	return times
}
