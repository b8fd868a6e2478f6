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
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden compares every stored form with a file, in both directions. Items stay in a table for years, so from the
// release 0.1.0 on, a changed form must still read these files: add a file for the new one and keep the old file, to be read only.
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

// TestSummaryRow checks that the head of a row has everything but the environments, whatever its texts contain.
func TestSummaryRow(t *testing.T) {
	whole := FullFeature().Summary()
	whole.Description = new("a text with " + beforeEnvironments + `"`)
	document, err := encode(storeRow(whole))
	if err != nil {
		t.Fatal(err)
	}
	row, err := summaryRow(document)
	if err != nil {
		t.Fatal(err)
	}
	head := whole
	head.Environments = nil
	if diff := cmp.Diff(head, row.FeatureSummary); diff != "" {
		t.Errorf("the head of a row (-want +got):\n%s", diff)
	}
	if got, err := row.Whole(); err != nil || !cmp.Equal(got, whole) {
		t.Errorf("the whole row: %v (%v), want %v", got, err, whole)
	}
}
