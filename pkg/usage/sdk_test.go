package usage

import "testing"

// TestOutdatedSDK compares with the answers of Unleash 5.12.8 to GET /api/admin/metrics/sdks/outdated.
func TestOutdatedSDK(t *testing.T) {
	for sdk, want := range map[string]bool{
		"unleash-client-node:5.3.1": true, "unleash-client-node:5.3.2-beta.0": true, "unleash-client-node:5.3.2": false,
		"unleash-client-java:9.1.9": true, "unleash-client-java:9.2.0": false,
		"unleash-client-go:4.0.9": true, "unleash-client-go:4.1.0": false,
		"unleash-client-python:5.10.9": true, "unleash-client-python:5.11.0": false,
		"unleash-client-ruby:5.0.0-rc1": true, "unleash-client-ruby:5.0.0": false,
		"unleash-client-dotnet:4.1.2": true, "unleash-client-dotnet:4.1.3": false,
		"unleash-client-php:2.2.9": true, "unleash-client-php:2.3.0": false,
		"unleash-client-rust:0.0.0": false, "unleash-node-sdk:1.0.0": false, "unleash-client-node": false, "unleash-client-node:": false,
		"unleash-client-node:v5.0.0": true, "unleash-client-node:5.0.0+build": true, "unleash-client-node:5.9.0-beta.1": false,
		"unleash-client-node:5.1": false, "unleash-client-node:abc": false, "": false, "Unleash-Client-Node:5.0.0": false,
	} {
		if got := OutdatedSDK(sdk); got != want {
			t.Errorf("OutdatedSDK(%q) = %t, want %t", sdk, got, want)
		}
	}
}

func TestKnowsOperator(t *testing.T) {
	for sdk, want := range map[string][2]bool{ // REGEX, IN_CIDR
		"unleash-go-sdk:5.1.0": {false, false}, "unleash-go-sdk:5.2.0": {true, true}, "unleash-client-go:4.5.0": {false, false},
		"unleash-client-java:11.1.0": {false, false}, "unleash-client-java:12.2.1": {true, false}, "unleash-client-java:12.3.0": {true, true},
		"unleash-client-php:2.9.0": {false, false}, "unleash-php-sdk:2.10.1": {false, false}, "unleash-client-ruby:5.1.0": {false, false},
		"unleash-ruby-sdk:6.6.0": {true, false}, "unleash-dotnet-sdk:6.0.1": {false, false}, "unleash-dotnet-sdk:6.1.0": {true, false},
		"unleash-client-node:5.0.0": {true, true}, "unleash-go-sdk": {true, true}, "": {true, true},
	} {
		if got := [2]bool{KnowsOperator(sdk, "REGEX"), KnowsOperator(sdk, "IN_CIDR")}; got != want || !KnowsOperator(sdk, "IN") {
			t.Errorf("%q: got %v, want %v", sdk, got, want)
		}
	}
}
