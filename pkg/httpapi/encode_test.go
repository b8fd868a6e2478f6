package httpapi

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTooLong compares the longest answers with the length of their JSON in the response of a function.
func TestTooLong(t *testing.T) {
	for _, text := range []string{"a", "é", `"`, `\`, "\n", "\r", "\t", "\x01", "<", "&", "\u2028", "\u2029", "\u2027", "a\u2028\"é\n"} {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		fits := MaxAnswer / (len(quoted) - 2)
		if TooLong([]byte(strings.Repeat(text, fits)), false) {
			t.Errorf("%d times %q is too long, and takes at most %d bytes", fits, text, MaxAnswer)
		}
		if !TooLong([]byte(strings.Repeat(text, fits+1)), false) {
			t.Errorf("%d times %q is not too long, and takes more than %d bytes", fits+1, text, MaxAnswer)
		}
	}
}
