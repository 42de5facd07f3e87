package settings

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const commented = `{
  // what runs {
  "a": 1, /* ], "b": 2 */
  "url": "https://x//y /* no comment */",
  "list": [1, 2, /* the last */ ],
  "none": {
    // nothing yet
  }, // "c": 3
}
`

// Comments and last commas are blank; strings that look like comments are not.
func TestPlain(t *testing.T) {
	t.Parallel()
	plain := Plain([]byte(commented))
	if len(plain) != len(commented) {
		t.Fatalf("%d bytes became %d", len(commented), len(plain))
	}
	var got map[string]any
	if err := json.Unmarshal(plain, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": 1., "url": "https://x//y /* no comment */", "list": []any{1., 2.}, "none": map[string]any{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{`{"a": 1,,}`, `{,}`, `[,]`, `{"a":,}`, `{"a": 1 /* never ended`, `{"a" / 1}`, `{"a": "never ended`} {
		if json.Valid(Plain([]byte(bad))) {
			t.Errorf("%s became %s", bad, Plain([]byte(bad)))
		}
	}
}

// An edit keeps comments, wherever they stand.
func TestSetKeepsComments(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, value, old, new string
		path                  []any
	}{
		{"replace", `5`, `"a": 1`, `"a": 5`, []any{"a"}},
		{"add", `5`, "  }, //", "  },\n  \"z\": 5, //", []any{"z"}},
		{"add to a list", `5`, "[1, 2,", "[1, 2,\n    5,", []any{"list", 2}},
		{"fill", `5`, "nothing yet\n  }", "nothing yet\n    \"x\": 5\n  }", []any{"none", "x"}},
		{"remove", ``, `, /* ], "b": 2 */` + "\n" + `  "url": "https://x//y /* no comment */"`, ``, []any{"url"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var value []byte
			if tc.value != "" {
				value = []byte(tc.value)
			}
			got, err := Set([]byte(commented), value, tc.path...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Replace(commented, tc.old, tc.new, 1), string(got)); diff != "" {
				t.Error(diff)
			}
			if text := Parse(got); text.Err != nil {
				t.Error(text.Err)
			}
		})
	}
	got, err := Set([]byte(`{"a": 1 /* one */}`), []byte(`2`), "b")
	if err != nil || Parse(got).Err != nil || !strings.Contains(string(got), "/* one */") {
		t.Errorf("%s, %v", got, err)
	}
}
