package httpapi_test

import (
	"testing"

	"guidon/pkg/httpapi"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	if got := httpapi.Address(" 203.0.113.7:51234 "); got != "203.0.113.7" {
		t.Errorf("with blanks and a port: %q", got)
	}
	for text, want := range map[string]string{
		"203.0.113.7": "203.0.113.7", "203.0.113.7:51234": "203.0.113.7", "[203.0.113.7]": "203.0.113.7", "::ffff:203.0.113.7": "203.0.113.7", "[::ffff:203.0.113.7]:1": "203.0.113.7",
		"2001:db8::7": "2001:db8::7", "2001:DB8:0::7": "2001:db8::7", "[2001:db8::7]": "2001:db8::7", "[2001:db8::7]:443": "2001:db8::7", "fe80::1%eth0": "fe80::1", "[fe80::1%eth0]:80": "fe80::1",
		"unknown": "unknown", "_hidden:80": "_hidden:80", "203.0.113.7:": "203.0.113.7", "": "", "[": "[", "1.2.3": "1.2.3",
	} {
		if got := httpapi.Address(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
