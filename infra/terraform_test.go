package infra_test

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// terraformFolders are the folders with Terraform files, and how many they have.
var terraformFolders = map[string]int{"terraform": 4, "../examples/terraform/flags": 5, "../examples/terraform/deploy": 1}

// TestTerraformFiles checks that every file can be parsed, has the format of `terraform fmt`, and that each variable and
// output has a description in a module.
func TestTerraformFiles(t *testing.T) {
	for folder, want := range terraformFolders {
		files, err := filepath.Glob(folder + "/*.tf")
		if err != nil || len(files) != want {
			t.Errorf("%s has %d files, %v; want %d", folder, len(files), err, want)
		}
		for _, file := range files {
			source := []byte(read(t, file))
			if formatted := hclwrite.Format(source); !bytes.Equal(formatted, source) {
				t.Errorf("run terraform fmt on %s", file)
			}
			for _, block := range parse(t, file).Blocks {
				described := block.Type != "variable" && (block.Type != "output" || folder != "terraform")
				if !described && block.Body.Attributes["description"] == nil {
					t.Errorf("%s: the %s %s has no description", file, block.Type, block.Labels[0])
				}
			}
		}
	}
}

// TestTerraformReferences checks that each variable of a folder is used, and that each one that is used is declared.
func TestTerraformReferences(t *testing.T) {
	used, declares := regexp.MustCompile(`\bvar\.([a-z_]+)`), regexp.MustCompile(`(?m)^variable "([a-z_]+)"`)
	for folder := range terraformFolders {
		var source strings.Builder
		files, _ := filepath.Glob(folder + "/*.tf")
		for _, file := range files {
			source.WriteString(read(t, file))
		}
		declared, named := matches(declares, source.String()), matches(used, source.String())
		if !slices.Equal(declared, named) {
			t.Errorf("%s declares the variables %v and uses %v", folder, declared, named)
		}
	}
}

// TestTerraformStack checks that the module passes the parameters as they are, that its outputs and the parameters of the example are
// those of the template, and that the objects of the release before stay until the stack is updated: CloudFormation can go back to them.
func TestTerraformStack(t *testing.T) {
	var template struct {
		Parameters map[string]any `yaml:"Parameters"`
		Outputs    map[string]any `yaml:"Outputs"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "../template.yaml")), &template); err != nil {
		t.Fatal(err)
	}
	module := read(t, "terraform/main.tf")
	for text, want := range map[string]int{"\n  parameters   = var.parameters\n": 1, "\n    create_before_destroy = true": 2, "\nresource \"aws_s3_object\"": 2} {
		if n := strings.Count(module, text); n != want {
			t.Errorf("the module has %q %d times, want %d", text, n, want)
		}
	}
	outputs := matches(regexp.MustCompile(`outputs\["(\w+)"\]`), read(t, "terraform/outputs.tf"))
	_, set, _ := strings.Cut(read(t, "../examples/terraform/deploy/main.tf"), "\n  parameters = {\n")
	set, _, _ = strings.Cut(set, "\n  }\n")
	parameters := matches(regexp.MustCompile(`(?m)^    (\w+) *= `), set)
	if len(outputs) != 2 || len(parameters) == 0 {
		t.Errorf("found the outputs %v and the parameters %v, want two and some", outputs, parameters)
	}
	for _, name := range outputs {
		if template.Outputs[name] == nil {
			t.Errorf("the module has the output %s, which the template does not have", name)
		}
	}
	for _, name := range parameters {
		if template.Parameters[name] == nil {
			t.Errorf("the example sets %s, which is no parameter of the template", name)
		}
	}
}

// matches returns what a pattern captures in a text, sorted and each once.
func matches(pattern *regexp.Regexp, text string) (found []string) {
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// released are lines of a template in a release, which names the archive of each function.
const released = `Resources:
  FeaturesFunction:
    Properties:
      CodeUri: functions/features.zip
  TagsFunction: # not the folder functions/
    Properties:
      CodeUri: functions/tags.zip
`

// TestTerraformTemplate checks that the module replaces the path of each archive with its address in S3.
func TestTerraformTemplate(t *testing.T) {
	scope := &hcl.EvalContext{
		Functions: map[string]function.Function{
			"join": stdlib.JoinFunc, "split": stdlib.SplitFunc, "length": stdlib.LengthFunc,
			"regex": stdlib.RegexFunc, "regexall": stdlib.RegexAllFunc, "replace": stdlib.ReplaceFunc,
		},
		Variables: map[string]cty.Value{
			"var": cty.ObjectVal(map[string]cty.Value{"bucket": cty.StringVal("code")}),
			"local": cty.ObjectVal(map[string]cty.Value{
				"template": cty.StringVal(released),
				"function": evaluate(t, local(t, "function"), nil),
				"keys": cty.MapVal(map[string]cty.Value{
					"functions/features.zip": cty.StringVal("guidon/functions/features-1.zip"),
					"functions/tags.zip":     cty.StringVal("guidon/functions/tags-2.zip"),
				}),
			}),
		},
	}
	got := evaluate(t, local(t, "deployed"), scope).AsString()
	want := strings.NewReplacer("functions/features.zip", "s3://code/guidon/functions/features-1.zip",
		"functions/tags.zip", "s3://code/guidon/functions/tags-2.zip").Replace(released)
	if got != want {
		t.Errorf("the template is\n%s\nwant\n%s", got, want)
	}
	if loose := regexp.MustCompile(`CodeUri: functions`).FindString(got); loose != "" {
		t.Errorf("the template still has %q", loose)
	}
}

// local returns the expression of a local value of the module.
func local(t *testing.T, name string) hclsyntax.Expression {
	t.Helper()
	for _, block := range parse(t, "terraform/main.tf").Blocks {
		if block.Type == "locals" && block.Body.Attributes[name] != nil {
			return block.Body.Attributes[name].Expr
		}
	}
	t.Fatalf("the module has no local %s", name)
	return nil
}

func evaluate(t *testing.T, expression hclsyntax.Expression, scope *hcl.EvalContext) cty.Value {
	t.Helper()
	value, problems := expression.Value(scope)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	return value
}

func parse(t *testing.T, file string) *hclsyntax.Body {
	t.Helper()
	parsed, problems := hclsyntax.ParseConfig([]byte(read(t, file)), file, hcl.InitialPos)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	return parsed.Body.(*hclsyntax.Body)
}
