package template

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// writers has, for each function that may write in the table, its actions, and the partitions of samplePartitions in which it may use them.
var writers = map[string]string{
	"Access": "Delete Put Update: all", "Configuration": "Delete Put Update: all", "Features": "Delete Put Update: all",
	"Integrations": "Delete Put Update: all", "Projects": "Delete Put Update: all", "Transfer": "Delete Put Update: all",
	"Insight": "Delete Put: all", "Bootstrap": "Put Update: all",
	"Applications": "Put Update: POST#1 SNAPSHOT#1", "Frontend": "Put Update: POST#1 SNAPSHOT#1", "Snapshot": "Put Update: SNAPSHOT#1",
	"Aggregate": "Put: APP#1 APPLICATIONS BATCH#1 FLAG#a PROJECT#1 TOKEN#1 USAGE USAGE#1",
	"Deliver":   "Delete Put Update: DELIVERED#1 OUTBOX OUTBOX#1 PARKED#1",
}

var samplePartitions = strings.Fields("APP#1 APPLICATIONS BATCH#1 DELIVERED#1 FEED FLAG#a IDENTITY#1 OUTBOX OUTBOX#1 PARKED#1 POST#1 PROJECT#1 REGISTRY#environments REQUEST#1 SEGMENT#1 " +
	"SESSIONS#1 SNAPSHOT#1 TOKEN#1 USAGE USAGE#1 USERS")

// TestWriters expands the policies of all roles and evaluates them as IAM does: each function may write only what writers says. The
// emulator of AWS evaluates no dynamodb:LeadingKeys; `make prove` asks AWS itself.
func TestWriters(t *testing.T) {
	source := readSource(t, "template.yaml")
	if got := writersOf(t, source); !maps.Equal(got, writers) {
		t.Errorf("the functions may write\n %v\nwant\n %v", got, writers)
	}
	for _, fault := range [][2]string{
		{`Keys: ["SNAPSHOT#*", "POST#*"]}`, `Keys: ["SNAPSHOT#*", "POST#*", FEED]}`},
		{`{"ForAllValues:StringLike": {"dynamodb:LeadingKeys": !FindInMap [WriteKeys, !Ref Name, Keys]}}`, `{"ForAllValues:StringLike": {"dynamodb:Attributes": !FindInMap [WriteKeys, !Ref Name, Keys]}}`},
		{`Frontend: {Actions: ["dynamodb:BatchGetItem", "dynamodb:Query"]}`, `Frontend: {Actions: ["dynamodb:*"]}`},
		{`- [Applications, Frontend, Snapshot, Aggregate, Deliver]` + "\n", `- [Applications, Frontend, Snapshot, Aggregate]` + "\n"},
	} {
		if !strings.Contains(source, fault[0]) || maps.Equal(writersOf(t, strings.Replace(source, fault[0], fault[1], 1)), writers) {
			t.Errorf("%q instead of %q is not found", fault[1], fault[0])
		}
	}
}

type statement struct {
	Action    any                       `json:"Action"`
	Condition map[string]map[string]any `json:"Condition"`
}

// writersOf returns what writers has, of a template. YAML drops the tags: !Ref Name is "Name", and !FindInMap is a list.
func writersOf(t *testing.T, source string) map[string]string {
	t.Helper()
	var template struct {
		Mappings  map[string]map[string]map[string]any `yaml:"Mappings"`
		Resources map[string]any                       `yaml:"Resources"`
	}
	if err := yaml.Unmarshal([]byte(source), &template); err != nil {
		t.Fatal(err)
	}
	texts := func(value any) (list []string) { // one, some, or those of a mapping
		some, isList := value.([]any)
		if !isList {
			some = []any{value}
		}
		if mapping, is := template.Mappings[some[0].(string)]; is {
			some, _ = mapping[some[1].(string)][some[2].(string)].([]any)
		}
		for _, text := range some {
			list = append(list, text.(string))
		}
		return list
	}
	found, roles := map[string]string{}, map[string][]statement{}
	collect(t, template.Resources, roles)
	for role, statements := range roles {
		in := map[string][]string{} // the partitions, by what it may do there
		for _, key := range samplePartitions {
			may := slices.DeleteFunc([]string{"Delete", "Put", "Update"}, func(action string) bool {
				return !slices.ContainsFunc(statements, func(s statement) bool {
					keys, restricts := s.Condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
					return matches(texts(s.Action), "dynamodb:"+action+"Item") && (!restricts || matches(texts(keys), key))
				})
			})
			in[strings.Join(may, " ")] = append(in[strings.Join(may, " ")], key)
		}
		delete(in, "")
		for may, keys := range in {
			found[role] += may + ": " + strings.ReplaceAll(strings.Join(keys, " "), strings.Join(samplePartitions, " "), "all")
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

// collect adds the statements of all roles by the name of the role, which is that of its function and "Role". It expands loops.
func collect(t *testing.T, resources map[string]any, roles map[string][]statement) {
	for id, resource := range resources {
		if loop, is := resource.([]any); is && strings.HasPrefix(id, "Fn::ForEach::") {
			body, _ := json.Marshal(loop[2]) // it was YAML
			for _, name := range loop[1].([]any) {
				var expanded map[string]any
				text := strings.NewReplacer("${"+loop[0].(string)+"}", name.(string), `"`+loop[0].(string)+`",`, `"`+name.(string)+`",`).Replace(string(body))
				if err := json.Unmarshal([]byte(text), &expanded); err != nil {
					t.Fatal(err)
				}
				collect(t, expanded, roles)
			}
			continue
		}
		var policy struct {
			Type       string
			Properties struct {
				RoleName       any
				PolicyDocument struct{ Statement []any }
				Policies       []struct{ PolicyDocument struct{ Statement []any } }
			}
		}
		raw, _ := json.Marshal(resource)
		if json.Unmarshal(raw, &policy) != nil || !strings.HasPrefix(policy.Type, "AWS::IAM::Role") {
			continue
		}
		role := id // of a role itself
		switch name := policy.Properties.RoleName.(type) {
		case string:
			role = name
		case map[string]any:
			role = name["Ref"].(string)
		}
		all := policy.Properties.PolicyDocument.Statement
		for _, inline := range policy.Properties.Policies {
			all = append(all, inline.PolicyDocument.Statement...)
		}
		for _, one := range all {
			if choice, is := one.([]any); is { // !If: as if its condition held
				one = choice[1]
			}
			var s statement
			raw, _ := json.Marshal(one)
			if json.Unmarshal(raw, &s) != nil {
				t.Fatalf("%s has a statement that this test cannot read: %s", id, raw)
			}
			roles[strings.TrimSuffix(role, "Role")] = append(roles[strings.TrimSuffix(role, "Role")], s)
		}
	}
}
