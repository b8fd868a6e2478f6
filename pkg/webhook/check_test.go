package webhook

import (
	"strings"
	"testing"

	"guidon/pkg/flags"
)

func TestURLs(t *testing.T) {
	for text, want := range map[string]bool{
		"https://example.com":                                true,
		"http://example.com/hook?a=b":                        true,
		"https://example.com:8443/x":                         true,
		"http://127.0.0.1:8080/":                             true, // see Networks.CheckURL
		"http://[2001:db8::1]:443/":                          true,
		"":                                                   false,
		"example.com":                                        false,
		"//example.com":                                      false,
		"https:example.com":                                  false,
		"https:///path":                                      false,
		"ftp://example.com":                                  false,
		"file:///etc/passwd":                                 false,
		"gopher://example.com:70":                            false,
		"https://user:secret@example.com":                    false,
		"https://user@example.com":                           false,
		"https://example.com/#fragment":                      false,
		"https://example.com/#":                              false,
		"http://example.com:22":                              false,
		"http://example.com:25":                              false,
		"http://example.com:0":                               false,
		"http://example.com:65536":                           false,
		"http://example.com:":                                true,
		"http://[fe80::1%25eth0]:8080/":                      false,
		"http://exa mple.com/":                               false,
		"https://example.com/\r\nX: y":                       false,
		"https://example.com/" + strings.Repeat("x", maxURL): false,
	} {
		err := CheckURL(text)
		if (err == nil) != want {
			t.Errorf("%.60q: %v, want valid %t", text, err, want)
		}
		if err != nil && flags.KindOf(err) != flags.Invalid {
			t.Errorf("%.60q: %v is of kind %v", text, err, flags.KindOf(err))
		}
	}
}

func TestCustomHeaders(t *testing.T) {
	headers, err := ParseHeaders(`{"X-Team": "checkout", "authorization": "Bearer x"}`)
	if err != nil || headers["X-Team"] != "checkout" || len(headers) != 2 {
		t.Errorf("headers %v, %v", headers, err)
	}
	if headers, err := ParseHeaders("  "); err != nil || len(headers) != 0 {
		t.Errorf("no headers: %v, %v", headers, err)
	}
	for _, text := range []string{
		`[]`, `{"a": 1}`, `{"a": null, "b": {}}`, `x`, `{"a": "b", "a": "c"}`,
		`{"": "a"}`, `{"a b": "c"}`, `{"a:b": "c"}`, `{"ä": "c"}`, `{"a\r\nb": "c"}`, `{"a": "b\r\nc: d"}`, `{"a": "b\nc"}`, `{"a": "ü"}`, `{"a": "\u0000"}`,
		`{"Host": "internal"}`, `{"content-length": "0"}`, `{"Transfer-Encoding": "chunked"}`, `{"connection": "upgrade"}`, `{"Upgrade": "h2c"}`,
		`{"Proxy-Authorization": "x"}`, `{"webhook-signature": "v1,x"}`, `{"Webhook-Id": "x"}`,
		`{"a": "` + strings.Repeat("x", maxHeader+1) + `"}`, `{"` + strings.Repeat("x", 101) + `": "a"}`,
		`{` + strings.Repeat(`"x": "a",`, maxHeaders) + `"y": "a"}`,
	} {
		if headers, err := ParseHeaders(text); err == nil || flags.KindOf(err) != flags.Invalid {
			t.Errorf("%.60q: %v, %v, want an error of kind Invalid", text, headers, err)
		}
	}
}

func TestSecrets(t *testing.T) {
	for secret, want := range map[string]bool{
		"0123456789abcdef":               true,
		"whsec_MDEyMzQ1Njc4OWFiY2RlZg==": true,
		"whsec_not base64 at all":        false,
		"short":                          false,
		strings.Repeat("x", maxSecret+1): false,
		"0123456789abcdef\xff":           false,
	} {
		if err := CheckSecret(secret); (err == nil) != want {
			t.Errorf("%.40q: %v, want valid %t", secret, err, want)
		}
	}
}
