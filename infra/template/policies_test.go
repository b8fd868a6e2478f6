package template

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"guidon/internal/policies"
)

// writers has, for each function that may write in the table, its actions, and the partitions of samplePartitions in which it may use them.
var writers = map[string]string{
	"Access": "Delete Put Update: all", "Configuration": "Delete Put Update: all", "Features": "Delete Put Update: all",
	"Integrations": "Delete Put Update: all", "Projects": "Delete Put Update: all", "Transfer": "Delete Put Update: all",
	"Insight": "Delete Put: all", "Setup": "Put Update: all",
	"Applications": "Put Update: POST#1 SNAPSHOT#1", "Frontend": "Put Update: POST#1 SNAPSHOT#1", "Snapshot": "Put Update: SNAPSHOT#1",
	"Aggregate": "Put: APP#1 APPLICATIONS BATCH#1 FLAG#a PROJECT#1 SEEN#1 USAGE USAGE#1",
	"Deliver":   "Delete Put Update: DELIVERED#1 OUTBOX OUTBOX#1 PARKED#1",
}

var samplePartitions = strings.Fields("APP#1 APPLICATIONS BATCH#1 DELIVERED#1 FEED FLAG#a IDENTITY#1 OUTBOX OUTBOX#1 PARKED#1 POST#1 PROJECT#1 REGISTRY#environments REQUEST#1 SEEN#1 SEGMENT#1 " +
	"SESSIONS#1 SNAPSHOT#1 TOKEN#1 USAGE USAGE#1 USERS")

// TestWriters reads the policies of all roles and evaluates them as IAM does: each function may write only what writers says. The
// emulator of AWS evaluates no dynamodb:LeadingKeys; `make prove` asks AWS itself.
func TestWriters(t *testing.T) {
	source := readSource(t, "template.yaml")
	if got := writersOf(t, source); !maps.Equal(got, writers) {
		t.Errorf("the functions may write\n %v\nwant\n %v", got, writers)
	}
	for _, fault := range [][2]string{
		{`["SNAPSHOT#*", "POST#*"]`, `["SNAPSHOT#*", "POST#*", FEED]`},
		{`{"dynamodb:LeadingKeys": ["SNAPSHOT#*", "POST#*"]}`, `{"dynamodb:Attributes": ["SNAPSHOT#*", "POST#*"]}`},
		{`"SEEN#*", "FLAG#*"`, `"SEEN#*", "TOKEN#*", "FLAG#*"`},
		{`["dynamodb:BatchGetItem", "dynamodb:Query"]`, `["dynamodb:*"]`},
		{`Role: !GetAtt SnapshotRole.Arn`, `Role: !GetAtt AdministrationRole.Arn`},
	} {
		if !strings.Contains(source, fault[0]) || maps.Equal(writersOf(t, strings.Replace(source, fault[0], fault[1], 1)), writers) {
			t.Errorf("%q instead of %q is not found", fault[1], fault[0])
		}
	}
}

// writersOf returns what writers has, of a template.
func writersOf(t *testing.T, source string) map[string]string {
	t.Helper()
	found := map[string]string{}
	all, err := policies.Read([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	for name, policy := range all {
		in := map[string][]string{} // the partitions, by what it may do there
		for _, key := range samplePartitions {
			may := slices.DeleteFunc([]string{"Delete", "Put", "Update"}, func(action string) bool {
				return !matches(policy.Actions, action+"Item") && (!matches(policy.Writes, action+"Item") || !matches(policy.Keys, key))
			})
			in[strings.Join(may, " ")] = append(in[strings.Join(may, " ")], key)
		}
		delete(in, "")
		for may, keys := range in {
			found[name] += may + ": " + strings.ReplaceAll(strings.Join(keys, " "), strings.Join(samplePartitions, " "), "all")
		}
	}
	return found
}

func matches(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		is, _ := path.Match(pattern, text)
		return is
	})
}
