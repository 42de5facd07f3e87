package wire

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"atelier.dev/atelier/agent/llm"
)

func TestArguments(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 64) + strings.Repeat("]", 64)
	for in, want := range map[string]string{
		`{"b":1,"a":9007199254740993}`:        `{"b":1,"a":9007199254740993}`,
		`{}`:                                  `{}`,
		``:                                    `{"invalid_arguments":""}`,
		`null`:                                `{"invalid_arguments":"null"}`,
		`[1]`:                                 `{"invalid_arguments":"[1]"}`,
		`{"a": <`:                             `{"invalid_arguments":"{\"a\": <"}`,
		`{"a":` + deep + `}`:                  `{"invalid_arguments":"{\"a\":` + deep + `}"}`,
		`{"a":"` + deep + deep + `"}`:         `{"a":"` + deep + deep + `"}`,
		`{"a":"\ud83d\ude00 \\ud83d \u00e9"}`: `{"a":"\ud83d\ude00 \\ud83d \u00e9"}`,
		`{"a":"\ud83d"}`:                      `{"a":"\ufffd"}`,
		`{"a":"\ude00\ud83d\ud83d\ude00\\\uDEAD"}`: `{"a":"\ufffd\ufffd\ud83d\ude00\\\ufffd"}`,
		"{\"a\":\"\xff\"}":                         "{\"a\":\"\uFFFD\"}",
	} {
		if got := Arguments(&llm.ToolCall{Arguments: json.RawMessage(in)}); string(got) != want {
			t.Errorf("%q gives %s, want %s", in, got, want)
		}
	}
}

func TestCallName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Read": "Read", "mcp__a-b_9": "mcp__a-b_9", "_x": "_x",
		"": "unnamed", "functions.Bash": "functions_Bash", "a b\n": "a_b_", "9x": "_9x", "-": "_-", "读": "_",
		strings.Repeat("é", 99): strings.Repeat("_", 64), strings.Repeat("9", 64): "_" + strings.Repeat("9", 63),
	} {
		if got := CallName(in); got != want || CallName(got) != got {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

// For any arguments of a model, the object that is sent is valid for every
// parser.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{"a":"\ud83d"}`, `{"a":"\\\ud83d\ude00"}`, "{\"\xff\":1}", `{"a":[[[]]]}`, `{`, ``} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := Arguments(&llm.ToolCall{Arguments: json.RawMessage(in)})
		var object map[string]any
		if err := json.Unmarshal(got, &object); err != nil || object == nil || !utf8.Valid(got) {
			t.Fatalf("%v in %s", err, got)
		}
		if again := readable(got); string(again) != string(got) || depth(got) > maxDepth {
			t.Fatalf("%s is not readable", got)
		}
	})
}

func TestAcceptedIDs(t *testing.T) {
	var ids IDs
	for id, want := range map[string]bool{"call_1-a": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "": false, "a:b": false, "a\n": false} {
		if got := ids.accepts(id); got != want {
			t.Errorf("%q: %v, want %v", id, got, want)
		}
	}
}
