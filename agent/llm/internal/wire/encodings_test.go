package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
	"github.com/google/go-cmp/cmp"
)

// spell encodes a message as its text and whether it is the target's own.
func spell(target llm.Origin, count *int) func(llm.Message, *wire.IDs) []string {
	return func(m llm.Message, ids *wire.IDs) []string {
		*count++
		var out []string
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				out = append(out, "call "+ids.Call(p.Call.ID))
			case p.Result != nil:
				out = append(out, "result "+ids.Result(p.Result))
			default:
				out = append(out, fmt.Sprintf("%s <%t>", p.Text, m.Origin.Same(target)))
			}
		}
		return out
	}
}

func join(t *testing.T, e *wire.Encodings, key string, target llm.Origin, messages []llm.Message, encoded *int) []string {
	t.Helper()
	*encoded = 0
	b, err := wire.Join(e, key, target, messages, spell(target, encoded))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	if err := json.Unmarshal(bytes.Join(b, nil), &out); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return out
}

// LLM-17: messages that were sent before are reused from memory, byte for byte.
// A message that differs is encoded again, with everything after it.
func TestEncodings(t *testing.T) {
	t.Parallel()
	target, other := llm.Origin{Provider: "a", Model: "m"}, llm.Origin{Provider: "b", Model: "m"}
	call := llm.Message{Role: llm.RoleAssistant, Origin: &target, Parts: []llm.Part{{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: "1", WireID: "w1"}}}}
	result := llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: "1"}}}}
	messages := []llm.Message{llm.Text(llm.RoleUser, "go"), {Role: llm.RoleAssistant}, call, result}
	var e wire.Encodings
	var n int
	want := []string{"go <false>", "call w1", "result w1"}
	if diff := cmp.Diff(want, join(t, &e, "s", target, messages, &n)); diff != "" || n != 4 {
		t.Errorf("first: %d encoded %s", n, diff)
	}
	if diff := cmp.Diff(want, join(t, &e, "s", target, messages[:4:4], &n)); diff != "" || n != 0 {
		t.Errorf("again: %d encoded %s", n, diff)
	}
	more := append(messages[:4:4], llm.Text(llm.RoleUser, "on"))
	if diff := cmp.Diff(append(want[:3:3], "on <false>"), join(t, &e, "s", target, more, &n)); diff != "" || n != 1 {
		t.Errorf("one more: %d encoded %s", n, diff)
	}
	if diff := cmp.Diff([]string{"go <false>", "call 1", "result 1"}, join(t, &e, "s", other, messages, &n)); diff != "" || n != 4 {
		t.Errorf("another target: %d encoded %s", n, diff)
	}
	changed := append([]llm.Message(nil), messages...)
	changed[2].Origin = nil // no longer anyone's
	changed[3].Parts = append([]llm.Part(nil), result.Parts...)
	join(t, &e, "s", target, messages, &n)
	if diff := cmp.Diff([]string{"go <false>", "call 1", "result 1"}, join(t, &e, "s", target, changed, &n)); diff != "" || n != 2 {
		t.Errorf("changed: %d encoded %s", n, diff)
	}
	if got := join(t, &e, "s", target, nil, &n); len(got) != 0 {
		t.Errorf("nothing: %v", got)
	}
}

// Conversations do not disturb each other. One without a key is not kept, and
// old ones are forgotten.
func TestEncodingsForget(t *testing.T) {
	t.Parallel()
	var e wire.Encodings
	var n int
	target := llm.Origin{Provider: "a"}
	message := []llm.Message{llm.Text(llm.RoleUser, "go")}
	for _, tt := range []struct {
		key  string
		want int
	}{{"one", 1}, {"two", 1}, {"one", 0}, {"", 1}, {"", 1}} {
		if join(t, &e, tt.key, target, message, &n); n != tt.want {
			t.Errorf("%q: %d encoded, want %d", tt.key, n, tt.want)
		}
	}
	for i := range 8 {
		join(t, &e, fmt.Sprint("new ", i), target, message, &n)
	}
	if join(t, &e, "one", target, message, &n); n != 1 {
		t.Error("the oldest was kept")
	}
}

// A conversation whose end changes again and again, with calls whose ids
// repeat, is encoded like one that was never seen before, and a request that is
// being sent keeps its bytes.
func TestEncodingsOfAChangingEnd(t *testing.T) {
	t.Parallel()
	target := llm.Origin{Provider: "a", Model: "m"}
	random := rand.New(rand.NewPCG(1, 2))
	var kept wire.Encodings
	var messages []llm.Message
	request := func(e *wire.Encodings) [][]byte {
		pieces, err := wire.Join(e, "s", target, messages, spell(target, new(int)))
		if err != nil {
			t.Fatal(err)
		}
		return pieces
	}
	var sent [][][]byte
	var want []string
	for range 150 {
		left := random.IntN(len(messages) + 1)
		if random.IntN(10) > 0 { // it usually grows
			left = max(left, len(messages)-random.IntN(12))
		}
		messages = slices.Clone(messages[:left])
		for range random.IntN(9) {
			call := &llm.ToolCall{ID: fmt.Sprint(random.IntN(9)), WireID: fmt.Sprint("w", random.IntN(4))}
			messages = append(messages,
				llm.Text(llm.RoleUser, strings.Repeat("x", random.IntN(6000))),
				llm.Message{Role: llm.RoleAssistant, Origin: &target, Parts: []llm.Part{{Kind: llm.PartToolCall, Call: call}}},
				llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: call.ID}}}})
		}
		var fresh wire.Encodings
		sent, want = append(sent, request(&kept)), append(want, string(bytes.Join(request(&fresh), nil)))
	}
	for i, pieces := range sent {
		if got := string(bytes.Join(pieces, nil)); got != want[i] {
			t.Fatalf("request %d sends\n%.2000s\nwant\n%.2000s", i, got, want[i])
		}
	}
}

// A request that is still being sent keeps its bytes while later ones replace
// the end of the conversation.
func TestEncodingsOfARunningRequest(t *testing.T) {
	t.Parallel()
	var e wire.Encodings
	say := func(texts ...string) []llm.Message {
		var messages []llm.Message
		for _, text := range texts {
			messages = append(messages, llm.Text(llm.RoleUser, text))
		}
		return messages
	}
	encode := func(messages []llm.Message) [][]byte {
		b, err := wire.Join(&e, "s", llm.Origin{}, messages, func(m llm.Message, _ *wire.IDs) []string { return []string{m.Text()} })
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	begin := say("a", "b")
	first := encode(append(begin[:2:2], say("c")...))
	encode(append(begin[:2:2], say("d", "e")...))
	encode(begin[:1])
	encode(append(begin[:1:1], say("f")...))
	if got, want := string(bytes.Join(first, nil)), `["a","b","c"]`; got != want {
		t.Errorf("the first request sends %s, want %s", got, want)
	}
}
