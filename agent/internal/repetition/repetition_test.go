package repetition

import (
	"testing"

	"atelier.dev/atelier/agent/llm"
)

// LOOP-20, LOOP-107: cycles of one, two and three calls are recognised once
// they fill the window, told once, and again only after something else.
func TestRepetition(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		calls string // a letter a call
		told  map[int]int
	}{
		"short of the window": {"aaaaaaaaa", nil},
		"one call":            {"aaaaaaaaaaaa", map[int]int{9: 1}},
		"two":                 {"abababababab", map[int]int{9: 2}},
		"three":               {"xabcabcabcabcabc", map[int]int{9: 3}},
		"three at once":       {"abcabcabcabc", map[int]int{9: 3}},
		"four are work":       {"abcdabcdabcdabcdabcd", nil},
		"after something":     {"aaaaaaaaaabaaaaaaaaaa", map[int]int{9: 1, 20: 1}},
		"another cycle":       {"aaaaaaaaaabbbbbbbbbb", map[int]int{9: 1, 19: 1}},
	} {
		var r Watch
		for i, c := range tt.calls {
			call := llm.ToolCall{Name: "Look", Arguments: []byte(`{"at":"` + string(c) + `"}`)}
			if got := r.Add([]llm.ToolCall{call}, 10); got != tt.told[i] {
				t.Errorf("%s: after call %d: %d, want %d", name, i, got, tt.told[i])
			}
		}
	}
}

// The order and spacing of arguments make no other call; their values, down to
// the last digit, and the tool do.
func TestSign(t *testing.T) {
	t.Parallel()
	sig := func(name, arguments string) signature {
		return sign(llm.ToolCall{Name: name, Arguments: []byte(arguments)}, signature{})
	}
	if sig("Look", `{"a":1,"b":[2]}`) != sig("Look", "{ \"b\": [2],\n\"a\": 1 }") {
		t.Error("the same call has two signatures")
	}
	for _, other := range [][2]string{{"Look", `{"a":2,"b":[2]}`}, {"Read", `{"a":1,"b":[2]}`}, {"Look", `{"a":1`}, {"Look", ``}} {
		if sig("Look", `{"a":1,"b":[2]}`) == sig(other[0], other[1]) {
			t.Errorf("%v has the same signature", other)
		}
	}
	if sig("Look", `{"n":9007199254740992}`) == sig("Look", `{"n":9007199254740993}`) {
		t.Error("large numbers are confused")
	}
}
