package server

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"guidon/pkg/dynamo/dynamotest"
)

// TestTablesOfTests checks that the tables of tests equal the deployed one.
func TestTablesOfTests(t *testing.T) {
	deployed, err := readTemplate(templateFileName)
	if err != nil {
		t.Fatal(err)
	}
	want := deployed.table
	want.TTL = "" // whose setting takes a call of its own, for every test
	if diff := cmp.Diff(want, dynamotest.Schema()); diff != "" {
		t.Errorf("the tables of tests differ from template.yaml's (-want +got):\n%s", diff)
	}
}
