package dynamo

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"guidon/pkg/flags"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden compares every stored form with a file, in both directions. Items stay in a table for years, so a changed form
// must still read these files. If a form is written differently, add a file for it and keep the old file, to be read only.
func TestGolden(t *testing.T) {
	summary := FullFeature().Summary()
	event := FullEvent()
	eventRead := event // data is read as raw JSON
	eventRead.Data = jsontext.Value(`{"list":[1.5,null],"name":"flexibleRollout"}`)
	eventRead.PreData = jsontext.Value(`{"name":"default"}`)
	type testCase struct {
		name   string
		want   any // the decoded file
		encode func() (string, error)
		decode func(document string) (any, error)
	}
	cases := []testCase{
		{
			"row", summary, func() (string, error) { return encode(storeRow(summary)) },
			func(document string) (any, error) {
				return readRow(document)
			},
		},
		{
			"event", eventRead,
			func() (string, error) {
				doc, err := storeEvent(event)
				if err != nil {
					return "", err
				}
				return encode(doc)
			},
			func(document string) (any, error) {
				var doc eventDocument
				err := decode(document, &doc)
				if err != nil {
					return nil, err
				}
				return doc.event("")
			},
		},
		{
			"event-body", eventBody{format, event.ID, eventRead.Data.(jsontext.Value), eventRead.PreData.(jsontext.Value)},
			func() (string, error) {
				doc, err := storeEvent(event)
				if err != nil {
					return "", err
				}
				return encode(eventBody{format, event.ID, doc.Data, doc.PreData})
			},
			func(document string) (any, error) {
				var body eventBody
				err := decode(document, &body)
				return body, err
			},
		},
	}
	post := FullPost()
	cases = append(cases, testCase{
		"post", post, func() (string, error) { return encode(storePost(post)) },
		func(document string) (any, error) {
			var doc postDocument
			err := decode(document, &doc)
			return doc.post(post.At, post.ID), err
		},
	})
	sum := FullSum()
	cases = append(cases, testCase{
		"sum", sum, func() (string, error) { return encode(storeSum(&sum)) },
		func(document string) (any, error) {
			key := sumKey(sum.Feature, sum.Unit, sum.Start)
			return contentItem{PK: key.pk, SK: key.sk, Batch: sum.Batch, Content: append([]byte{plainContent}, document...)}.sum()
		},
	})
	for _, a := range fullAggregates() {
		entity := a.Key().Entity
		cases = append(cases, testCase{
			strings.ReplaceAll(string(entity), " ", "-"), a, func() (string, error) { return entityOf(entity).encode(a) },
			func(document string) (any, error) { return entityOf(entity).decode(envelope{Document: document}) },
		})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join("testdata", "golden", c.name+".json")
			document, err := c.encode()
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(file, []byte(document+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; go test -update writes it", err)
			}
			golden = bytes.TrimSuffix(golden, []byte("\n"))
			if diff := cmp.Diff(string(golden), document); diff != "" {
				t.Errorf("the stored form has changed (-golden +got):\n%s", diff)
			}
			got, err := c.decode(string(golden))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the golden file is decoded differently (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRowsOfEarlierFormats reads rows of the first format, which had no texts in lower case, and of the second one, which had no segments.
// Their files are never written.
func TestRowsOfEarlierFormats(t *testing.T) {
	for _, format := range []string{"first", "second"} {
		golden, err := os.ReadFile(filepath.Join("testdata", "golden", "row-of-"+format+"-format.json"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := readRow(string(golden))
		if diff := cmp.Diff(withoutSegments(FullFeature().Summary()), got); diff != "" || err != nil {
			t.Errorf("that of the %s format is decoded differently (-want +got), %v:\n%s", format, err, diff)
		}
	}
}

// withoutSegments is the summary in a row of an earlier format.
func withoutSegments(s flags.FeatureSummary) flags.FeatureSummary {
	s.NoSegments = true
	for name, in := range s.Environments {
		in.Segments = nil
		s.Environments[name] = in
	}
	return s
}

// TestStoredFormIsStable finds an encoding that depends on the order of a map, for which an unchanged aggregate would look
// changed.
func TestStoredFormIsStable(t *testing.T) {
	first, err := featureEntity.encode(FullFeature())
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if again, err := featureEntity.encode(FullFeature()); err != nil || again != first {
			t.Fatalf("the same flag is stored as\n%s\nand as\n%s (%v)", first, again, err)
		}
	}
}

// TestGoldenWithoutLifecycle reads items from before flags had dependencies and a lifecycle. These files are never written.
func TestGoldenWithoutLifecycle(t *testing.T) {
	want := FullFeature()
	want.Dependencies, want.Children, want.Lifecycle = nil, nil, nil
	document := func(name string) string {
		t.Helper()
		golden, err := os.ReadFile(filepath.Join("testdata", "golden", name+"-without-lifecycle.json"))
		if err != nil {
			t.Fatal(err)
		}
		return string(golden)
	}
	got, err := featureEntity.decode(envelope{Document: document("feature")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(flags.Aggregate(want), got); diff != "" {
		t.Errorf("the flag is decoded differently (-want +got):\n%s", diff)
	}
	history := []flags.Phase{{Stage: flags.StageInitial, EnteredAt: want.CreatedAt}, {Stage: flags.StageArchived, EnteredAt: want.ArchivedAt}}
	if diff := cmp.Diff(history, got.(*flags.Feature).History()); diff != "" {
		t.Errorf("its history (-want +got):\n%s", diff)
	}
	var row rowDocument
	if err := decode(document("row"), &row); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(withoutSegments(want.Summary()), row.summary()); diff != "" {
		t.Errorf("the list row is decoded differently (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(history[1], row.summary().Phase()); diff != "" {
		t.Errorf("its stage (-want +got):\n%s", diff)
	}
}

// TestStoredValues checks that values which earlier versions stored, and some SDKs cannot read, are read in the form of today.
func TestStoredValues(t *testing.T) {
	const strategy = `{"name":"flexibleRollout","parameters":{"rollout":"12.5"},"constraints":[{"operator":"DATE_AFTER","value":"2026-01-31"}]}`
	read := func(e entity, document string) flags.Aggregate {
		a, err := e.codec.decode(envelope{Document: document})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	f := read(featureEntity, `{"environments":{"e":{"strategies":[`+strategy+`]}}}`).(*flags.Feature)
	p := read(projectEntity, `{"environments":{"e":{"defaultStrategy":`+strategy+`}}}`).(*flags.Project)
	for _, s := range []flags.Strategy{f.Environments["e"].Strategies[0], *p.Environments["e"].DefaultStrategy} {
		if s.Parameters["rollout"] != "12" || *s.Constraints[0].Value != "2026-01-31T00:00:00.000Z" {
			t.Errorf("got %v %s", s.Parameters, *s.Constraints[0].Value)
		}
	}
	if s := read(segmentEntity, `{"constraints":[{"operator":"NUM_GT","value":".5"}]}`).(*flags.Segment); *s.Constraints[0].Value != "0.5" {
		t.Errorf("got %s", *s.Constraints[0].Value)
	}
}

// TestApplicationWithoutUses reads an application of an earlier version, which has the names of its flags in itself.
func TestApplicationWithoutUses(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join("testdata", "golden", "application-without-uses.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := FullApplication()
	want.Uses = nil
	got, err := applicationEntity.decode(envelope{Document: string(golden)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(flags.Aggregate(want), got); diff != "" {
		t.Errorf("the application is decoded differently (-want +got):\n%s", diff)
	}
}
