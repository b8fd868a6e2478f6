package apitest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// An ImportReport is the response of an import.
type ImportReport struct {
	Created, Overwritten, Unchanged, Skipped int
	Features, Others                         []struct {
		Kind, Name, Outcome string
		Reasons             []string
	}
}

// Counts returns the numbers of created, overwritten, unchanged and skipped flags.
func (r ImportReport) Counts() [4]int {
	return [4]int{r.Created, r.Overwritten, r.Unchanged, r.Skipped}
}

// ImportHere imports data into development of the project "default" and returns the report.
func (s *Server) ImportHere(t *testing.T, data string) ImportReport {
	t.Helper()
	var r ImportReport
	body := fmt.Sprintf(`{"project":"default","environment":"development","data":%s}`, data)
	if err := json.Unmarshal([]byte(s.Must(t, "POST", Import, body).Body), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// CreateFullFlag creates the flag "full", which uses every feature of a flag and depends on "parent".
func (s *Server) CreateFullFlag(t *testing.T) {
	t.Helper()
	s.Create(t, "parent")
	s.Must(t, "POST", Features, `{"name":"full","type":"kill-switch","description":"Every part of a flag.","impressionData":true,"owner":"Team Checkout"}`)
	AddLink(t, s, Features+"/full")
	s.Must(t, "POST", "/api/admin/tag-types", `{"name":"team","description":"Who looks after it.","icon":"T"}`)
	s.Must(t, "PUT", "/api/admin/features/full/tags", `{"addedTags":[{"type":"team","value":"core"},{"type":"simple","value":"old/one"}],"removedTags":[]}`)
	s.Must(t, "POST", "/api/admin/context", `{"name":"country","description":"Where they are.","stickiness":true,"legalValues":[{"value":"CH"}]}`)
	segment := s.Must(t, "POST", "/api/admin/segments", `{"name":"testers","description":"Who tests.","constraints":[{"contextName":"userId","operator":"IN","values":["1","2"]}]}`)
	var created struct{ ID int }
	if err := json.Unmarshal([]byte(segment.Body), &created); err != nil {
		t.Fatal(err)
	}
	s.Must(t, "POST", In("full", "development")+"/strategies", fmt.Sprintf(`{"name":"flexibleRollout","title":"Half","parameters":{"rollout":"50"},"segments":[%d],
		"constraints":[{"contextName":"country","operator":"IN","values":["CH"],"inverted":true}],
		"variants":[{"name":"blue","weight":1000,"weightType":"variable","stickiness":"default","payload":{"type":"json","value":"{}"}}]}`, created.ID))
	s.Must(t, "POST", In("full", "development")+"/strategies", `{"name":"userWithId","parameters":{"userIds":"7,8"},"disabled":true,"sortOrder":7}`)
	s.Must(t, "PUT", In("full", "development")+"/variants", `[{"name":"a","weight":300,"weightType":"fix","stickiness":"userId"},
		{"name":"b","weight":700,"weightType":"variable","stickiness":"userId","overrides":[{"contextName":"userId","values":["9"]}]}]`)
	s.Must(t, "POST", In("full", "development")+"/on", "")
	s.Must(t, "POST", Features+"/full/dependencies", `{"feature":"parent","enabled":true,"variants":["x"]}`)
}

// ExportWithoutIDs is an export without the ids of strategies and segments.
func ExportWithoutIDs(t *testing.T, data string) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(data), &doc); err != nil {
		t.Fatal(err)
	}
	for _, s := range doc["featureStrategies"].([]any) {
		s := s.(map[string]any)
		delete(s, "id")
		s["segments"] = len(s["segments"].([]any))
	}
	for _, s := range doc["segments"].([]any) {
		delete(s.(map[string]any), "id")
	}
	linked, _ := doc["links"].([]any) // left out if no flag has some
	for _, l := range linked {
		for _, link := range l.(map[string]any)["links"].([]any) {
			delete(link.(map[string]any), "id")
		}
	}
	return doc
}

// ImportOf is an import into development of the project "default", with the given lists as data.
func ImportOf(lists ...string) string {
	return `{"project":"default","environment":"development","data":{` + strings.Join(lists, ",") + `}}`
}
