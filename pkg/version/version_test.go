package version

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime/debug"
	"testing"

	"github.com/Masterminds/semver/v3"
)

func TestVersion(t *testing.T) {
	for _, v := range []string{Number(), String()} {
		if _, err := semver.StrictNewVersion(v); err != nil {
			t.Errorf("%q is no semantic version: %v", v, err)
		}
	}
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}
	for _, tt := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, "1.2.3"},
		{&debug.BuildInfo{}, "1.2.3"},
		{&debug.BuildInfo{Settings: []debug.BuildSetting{commit}}, "1.2.3+0123456789ab"},
		{&debug.BuildInfo{Settings: []debug.BuildSetting{commit, {Key: "vcs.modified", Value: "true"}}}, "1.2.3+0123456789ab.modified"},
	} {
		if got := withCommit("1.2.3", tt.info); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

// TestDescription checks that a build has its own version in the OpenAPI description, which is generated with that of the source.
func TestDescription(t *testing.T) {
	committed, err := os.ReadFile("../../infra/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Info struct {
			Version string `json:"version"`
		} `json:"info"`
	}
	if err := json.Unmarshal(InDescription(committed, "1.2.3-rc.1"), &got); err != nil || got.Info.Version != "1.2.3-rc.1" {
		t.Errorf("got the version %q, %v", got.Info.Version, err)
	}
	if bytes.Contains(InDescription(committed, "1.2.3"), []byte(source)) {
		t.Errorf("the description still contains %s", source)
	}
}
