package evaluate_test

import (
	"strings"
	"testing"

	"github.com/Unleash/unleash-client-go/v4/api"

	"guidon/pkg/evaluate"
)

// TestDifferencesFromGoSDK lists the kinds of deliberate differences from unleash-client-go v4.5.0, with the test of the client
// specification that decides, or with the reason where the specification is silent. A difference that disappears, because
// the SDK was corrected, fails here. TestSameAsGoSDK does not generate these cases.
func TestDifferencesFromGoSDK(t *testing.T) {
	const on, off, broken = "on", "off", "panics"
	oneStrategy := func(s evaluate.Strategy) []evaluate.Flag {
		return []evaluate.Flag{{Name: "flag", Enabled: true, Strategies: []evaluate.Strategy{s}}}
	}
	constrained := func(c evaluate.Constraint) []evaluate.Flag {
		return oneStrategy(evaluate.Strategy{Name: "default", Constraints: []evaluate.Constraint{c}})
	}
	properties := func(name, value string) evaluate.Context {
		return evaluate.Context{UserID: "7", Properties: map[string]string{name: value}}
	}
	clientID := map[string]string{"clientId": "1"}
	group := map[string]string{"groupId": "a"}
	tests := []struct {
		name, why   string
		flags       []evaluate.Flag
		context     evaluate.Context
		guidon, sdk string
	}{
		{"SEMVER_GTE and SEMVER_LTE", "suite 14, F8.semverGTE should be enabled",
			constrained(evaluate.Constraint{ContextName: "version", Operator: "SEMVER_GTE", Value: "1.2.2"}), properties("version", "1.2.2"), on, off},
		{"REGEX", "suite 21, Regex constraint is case sensitive by default (validate)",
			constrained(evaluate.Constraint{ContextName: "userId", Operator: "REGEX", Value: "^7$"}), properties("", ""), on, off},
		{"IN_CIDR", "suite 22, CIDR range should enable matching IP",
			constrained(evaluate.Constraint{ContextName: "ip", Operator: "IN_CIDR", Values: []string{"10.0.0.0/8"}}), properties("ip", "10.1.2.3"), on, off},
		{"user list with an empty item, and no user", "suite 02, Feature.A2 Should be disabled when no userId on context",
			oneStrategy(evaluate.Strategy{Name: "userWithId", Parameters: map[string]string{"userIds": "7,"}}), evaluate.Context{}, off, on},
		{"parent without variants, for a child that requires one", "suite 17, Child is disabled if the parent's variant does not match the specified one; " +
			"a parent without variants has the variant \"disabled\": Child is enabled if its parent's default variant is satisfied",
			[]evaluate.Flag{{Name: "flag", Enabled: true, Dependencies: []evaluate.Dependency{{Feature: "parent", Variants: []string{"a"}}}},
				{Name: "parent", Enabled: true}}, evaluate.Context{UserID: "7"}, off, on},
		{"parent with variants of its own, for a child that requires another one", "suite 17, as above",
			[]evaluate.Flag{{Name: "flag", Enabled: true, Dependencies: []evaluate.Dependency{{Feature: "parent", Variants: []string{"a"}}}},
				{Name: "parent", Enabled: true, Variants: []evaluate.Variant{{Name: "b", Weight: 1}}}}, evaluate.Context{UserID: "7"}, off, on},
		{"variants of a strategy inherit its stickiness", "suite 16, Feature.strategy.variants.stickiness should inherit stickiness from the strategy",
			oneStrategy(evaluate.Strategy{Name: "flexibleRollout", Parameters: map[string]string{"rollout": "100", "stickiness": "clientId", "groupId": "a"},
				Variants: []evaluate.Variant{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}}}),
			evaluate.Context{UserID: "0", Properties: clientID}, "a", "b"},

		{"variants of a strategy without a group", "no suite; UnleashClient for Python gives a variant too, and Guidon stores such strategies",
			oneStrategy(evaluate.Strategy{Name: "default", Variants: []evaluate.Variant{{Name: "a", Weight: 1}}}), evaluate.Context{UserID: "7"}, "a", off},
		{"flexibleRollout without stickiness", "no suite; the SDK panics",
			oneStrategy(evaluate.Strategy{Name: "flexibleRollout", Parameters: map[string]string{"rollout": "100"}}), evaluate.Context{UserID: "7"}, on, broken},
		{"flexibleRollout with an empty stickiness", "no suite; Yggdrasil looks for a property without a name, and the administration stores the default",
			oneStrategy(evaluate.Strategy{Name: "flexibleRollout", Parameters: map[string]string{"rollout": "100", "stickiness": "", "groupId": "a"}}), evaluate.Context{UserID: "7"}, off, on},
		{"all weights 0", "suite 08, Feature.Variants.F should be disabled when variants are empty; the SDK enables the disabled variant, from then on for all flags",
			[]evaluate.Flag{{Name: "flag", Enabled: true, Variants: []evaluate.Variant{{Name: "a"}}}}, evaluate.Context{UserID: "7"}, on, "disabled"},
		{"host names with blanks", "suite 06, Feature.remoteAddress.B, and suite 02, Feature.D2, have blanks in lists",
			oneStrategy(evaluate.Strategy{Name: "applicationHostname", Parameters: map[string]string{"hostNames": "other, " + sdkHost}}), evaluate.Context{}, on, off},
		{"date without a time", "no suite; the administration accepts such constraints",
			constrained(evaluate.Constraint{ContextName: "currentTime", Operator: "DATE_AFTER", Value: "2022-01-29"}), evaluate.Context{CurrentTime: "2022-01-30T00:00:00Z"}, on, off},
		{"inverted, and no number", "no suite; Yggdrasil, Node and Unleash invert the comparison with a value that cannot be read, and so for SEMVER and DATE",
			constrained(evaluate.Constraint{ContextName: "n", Operator: "NUM_GT", Value: "1", Inverted: true}), properties("n", "abc"), on, off},
		{"inverted, and no field", "no suite; as above",
			constrained(evaluate.Constraint{ContextName: "v", Operator: "SEMVER_GT", Value: "1.2.3", Inverted: true}), properties("n", "abc"), on, off},
		{"date in an absent field", "no suite; as above. The SDK takes the current time instead, as for an absent currentTime",
			constrained(evaluate.Constraint{ContextName: "d", Operator: "DATE_AFTER", Value: "2022-01-29T00:00:00Z"}), properties("n", "abc"), off, on},
		{"empty value of a list", "no suite; Yggdrasil and Node do not find an absent field, and Unleash refuses the value",
			constrained(evaluate.Constraint{ContextName: "plan", Operator: "IN", Values: []string{""}}), properties("n", "abc"), off, on},
		{"binary exponent", "no suite; no SDK in another language reads it",
			constrained(evaluate.Constraint{ContextName: "n", Operator: "NUM_GT", Value: "1"}), properties("n", "1p5"), off, on},
		{"property named random", "no suite; the SDK uses it as the stickiness \"random\" for variants, but not for rollouts",
			oneStrategy(evaluate.Strategy{Name: "default", Parameters: group, Variants: []evaluate.Variant{
				{Name: "a", Weight: 1, Stickiness: "random"}, {Name: "b", Weight: 1}}}), properties("random", "5"), "b", "a"},
		{"value over 10,000 bytes", "bounded time, see MaxValueLength",
			constrained(evaluate.Constraint{ContextName: "x", Operator: "STR_CONTAINS", Values: []string{"x"}}), properties("x", strings.Repeat("x", evaluate.MaxValueLength+1)), off, on},
		{"numbers beyond 2^53", "no suite; Yggdrasil and Node compare as float64",
			constrained(evaluate.Constraint{ContextName: "n", Operator: "NUM_EQ", Value: "9007199254740993"}), properties("n", "9007199254740992"), on, off},
		{"numbers that differ by rounding", "no suite; Yggdrasil tolerates it",
			constrained(evaluate.Constraint{ContextName: "n", Operator: "NUM_EQ", Value: "0.3"}), properties("n", "0.30000000000000004"), on, off},
		{"dotted I", "no suite; Yggdrasil and Node lower it to an i with a dot",
			constrained(evaluate.Constraint{ContextName: "x", Operator: "STR_ENDS_WITH", Values: []string{"i"}, CaseInsensitive: true}), properties("x", "İ"), off, on},
		{"final sigma", "no suite; Yggdrasil and Node lower Σ at the end of a word to ς",
			constrained(evaluate.Constraint{ContextName: "x", Operator: "STR_ENDS_WITH", Values: []string{"ας"}, CaseInsensitive: true}), properties("x", "ΑΣ"), on, off},
		{"date with a space", "no suite; Yggdrasil and Node read it, such as Python's str(datetime)",
			constrained(evaluate.Constraint{ContextName: "x", Operator: "DATE_AFTER", Value: "2022-01-29T00:00:00Z"}), properties("x", "2023-01-29 00:00:00+00:00"), on, off},
		{"IPv4 address in the form of IPv6", "no suite; Yggdrasil and Node find it in no network of IPv4",
			oneStrategy(evaluate.Strategy{Name: "remoteAddress", Parameters: map[string]string{"IPs": "10.0.0.0/8"}}), evaluate.Context{RemoteAddress: "::ffff:10.0.0.1"}, off, on},
		{"percentage with a fraction", "no suite; Yggdrasil is off, and the administration stores whole numbers",
			oneStrategy(evaluate.Strategy{Name: "flexibleRollout", Parameters: map[string]string{"rollout": "99.5", "stickiness": "userId", "groupId": "a"}}), evaluate.Context{UserID: "7"}, off, on},
		{"percentage over 100", "no suite; as above",
			oneStrategy(evaluate.Strategy{Name: "flexibleRollout", Parameters: map[string]string{"rollout": "101", "stickiness": "userId", "groupId": "a"}}), evaluate.Context{UserID: "7"}, off, on},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			state := func(enabled bool, v variantResult) string {
				switch {
				case v.Enabled:
					return v.Name
				case enabled:
					return on
				}
				return off
			}
			enabled, variant, _ := askGuidon(evaluate.NewSet(test.flags, nil), "flag", test.context)
			if got := state(enabled, variant); got != test.guidon {
				t.Errorf("got %s, want %s (%s)", got, test.guidon, test.why)
			}
			client, disabled := newGoSDK(t, test.flags, nil), *api.GetDefaultVariant()
			defer func() { *api.GetDefaultVariant() = disabled }() // the SDK shares and changes it
			got := func() (got string) {
				defer func() {
					if fault := recover(); fault != nil {
						got = broken
					}
				}()
				enabled, variant := askSDK(client, "flag", test.context)
				return state(enabled, variant)
			}()
			if got != test.sdk {
				t.Errorf("the Go SDK has %s, no longer %s: is this still a difference? (%s)", got, test.sdk, test.why)
			}
		})
	}
}
