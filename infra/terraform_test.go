package infra_test

import (
	"bytes"
	"maps"
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
	used := regexp.MustCompile(`\bvar\.([a-z_]+)`)
	for folder := range terraformFolders {
		declared, named := map[string]bool{}, map[string]bool{}
		files, _ := filepath.Glob(folder + "/*.tf")
		for _, file := range files {
			for _, block := range parse(t, file).Blocks {
				if block.Type == "variable" {
					declared[block.Labels[0]] = true
				}
			}
			for _, m := range used.FindAllStringSubmatch(read(t, file), -1) {
				named[m[1]] = true
			}
		}
		if !maps.Equal(declared, named) {
			t.Errorf("%s declares the variables %v and uses %v", folder, slices.Sorted(maps.Keys(declared)), slices.Sorted(maps.Keys(named)))
		}
	}
}

// TestTerraformParameters checks that the module passes every parameter of the template as it is, and that the outputs it
// names are outputs of the template.
func TestTerraformParameters(t *testing.T) {
	var template struct {
		Parameters map[string]any `yaml:"Parameters"`
		Outputs    map[string]any `yaml:"Outputs"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "../template.yaml")), &template); err != nil {
		t.Fatal(err)
	}
	if len(template.Parameters) < 30 {
		t.Fatalf("only %d parameters were found", len(template.Parameters))
	}
	parameters := map[string]cty.Value{}
	for name := range template.Parameters {
		parameters[name] = cty.StringVal("a value of " + name)
	}
	given := cty.MapVal(parameters)
	stack := resource(t, "aws_cloudformation_stack", "guidon")
	passed, problems := stack.Body.Attributes["parameters"].Expr.Value(&hcl.EvalContext{
		Variables: map[string]cty.Value{"var": cty.ObjectVal(map[string]cty.Value{"parameters": given})},
	})
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	if !passed.RawEquals(given) {
		t.Errorf("the stack gets the parameters %#v", passed)
	}

	outputs := map[string]cty.Value{}
	for name := range template.Outputs {
		outputs[name] = cty.StringVal("a value of " + name)
	}
	state := &hcl.EvalContext{Variables: map[string]cty.Value{"aws_cloudformation_stack": cty.ObjectVal(map[string]cty.Value{
		"guidon": cty.ObjectVal(map[string]cty.Value{"outputs": cty.MapVal(outputs)}),
	})}}
	got := map[string]string{}
	for _, block := range parse(t, "terraform/outputs.tf").Blocks {
		value, problems := block.Body.Attributes["value"].Expr.Value(state)
		if problems.HasErrors() {
			t.Errorf("the output %s: %v", block.Labels[0], problems)
		} else if value.Type() == cty.String {
			got[block.Labels[0]] = value.AsString()
		}
	}
	if want := map[string]string{"address": "a value of Address", "admin_token_secret": "a value of AdminTokenSecret"}; !maps.Equal(got, want) {
		t.Errorf("the outputs are %v, want %v", got, want)
	}
}

// TestTerraformExampleParameters checks that the example sets only parameters of the template.
func TestTerraformExampleParameters(t *testing.T) {
	var template struct {
		Parameters map[string]any `yaml:"Parameters"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "../template.yaml")), &template); err != nil {
		t.Fatal(err)
	}
	for _, block := range parse(t, "../examples/terraform/deploy/main.tf").Blocks {
		if block.Type != "module" {
			continue
		}
		set, problems := block.Body.Attributes["parameters"].Expr.Value(nil)
		if problems.HasErrors() {
			t.Fatal(problems)
		}
		if set.LengthInt() == 0 {
			t.Error("the example sets no parameters")
		}
		for name := range set.AsValueMap() {
			if template.Parameters[name] == nil {
				t.Errorf("the example sets %s, which is no parameter of the template", name)
			}
		}
		return
	}
	t.Error("the example has no module")
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

// TestTerraformKeepsOldObjects checks that objects of the release before are deleted after the update of the stack, so that
// CloudFormation can go back to them.
func TestTerraformKeepsOldObjects(t *testing.T) {
	for _, name := range []string{"function", "template"} {
		found := false
		for _, block := range resource(t, "aws_s3_object", name).Body.Blocks {
			if block.Type == "lifecycle" && block.Body.Attributes["create_before_destroy"] != nil {
				found = evaluate(t, block.Body.Attributes["create_before_destroy"].Expr, nil).True()
			}
		}
		if !found {
			t.Errorf("aws_s3_object.%s has no create_before_destroy", name)
		}
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

// resource returns a resource of the module.
func resource(t *testing.T, kind, name string) *hclsyntax.Block {
	t.Helper()
	for _, block := range parse(t, "terraform/main.tf").Blocks {
		if block.Type == "resource" && block.Labels[0] == kind && block.Labels[1] == name {
			return block
		}
	}
	t.Fatalf("the module has no resource %s.%s", kind, name)
	return nil
}

func parse(t *testing.T, file string) *hclsyntax.Body {
	t.Helper()
	parsed, problems := hclsyntax.ParseConfig([]byte(read(t, file)), file, hcl.InitialPos)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	return parsed.Body.(*hclsyntax.Body)
}
