package version

import (
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
