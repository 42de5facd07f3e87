package generate

import (
	"encoding/json"
	"testing"
)

// Every beginning of a JSON object is a whole object once it is closed.
func FuzzClosed(f *testing.F) {
	for _, s := range []string{``, `{`, `{"a":[1,{"b":"\"}`, `{"a":1,"b":"x,y"}`, `[{},[],"{"`, `}]`} {
		f.Add(s, len(s))
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		object := len(text) > 0 && text[0] == '{' && json.Valid([]byte(text))
		if cut >= 0 && cut < len(text) {
			text = text[:cut]
		}
		got := closed(text)
		if object && text != "" && !json.Valid([]byte(got)) {
			t.Errorf("closed(%q) = %q", text, got)
		}
	})
}
