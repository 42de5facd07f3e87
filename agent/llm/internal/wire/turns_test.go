package wire_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// LLM-17 LLM-40 LLM-51: consecutive messages of one side are one turn, with
// results first. Messages that were sent before are reused from memory, and no
// turn changes them.
func TestTurns(t *testing.T) {
	t.Parallel()
	target := llm.Origin{Provider: "a"}
	call := llm.Message{Role: llm.RoleAssistant, Origin: &target, Parts: []llm.Part{{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: "1", WireID: "w1"}}}}
	result := llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: "1"}}}}
	messages := []llm.Message{
		llm.Text(llm.RoleUser, "go"), llm.Text(llm.RoleDeveloper, "slowly"), {Role: llm.RoleAssistant, Parts: []llm.Part{}},
		llm.Text(llm.RoleAssistant, "I see."), call, llm.Text(llm.RoleUser, "wait"), result, llm.Text(llm.RoleUser, "stop"),
	}
	want := []string{
		`{"role":"user","parts":["go","slowly"]}`,
		`{"role":"model","parts":["I see.","w1"]}`,
		`{"role":"user","parts":["w1","wait","stop"]}`,
	}
	var e wire.Encodings
	encoded := 0
	array := func(messages []llm.Message) string {
		t.Helper()
		turns, err := wire.Turns(&e, wire.Names{Content: "parts", User: "user", Assistant: "model"}, "s", target, messages, func(m llm.Message, ids *wire.IDs) (results, rest []string) {
			encoded++
			for _, p := range m.Parts {
				switch {
				case p.Call != nil:
					rest = append(rest, ids.Call(p.Call.ID))
				case p.Result != nil:
					results = append(results, ids.Result(p.Result))
				default:
					rest = append(rest, p.Text)
				}
			}
			return results, rest
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(bytes.Join(turns.Array(), nil))
	}
	// The result is new, whereas its call and the text since then are known.
	for _, tt := range []struct {
		messages, encoded int
		want              string
	}{
		{0, 0, "[]"},
		{1, 1, `[{"role":"user","parts":["go"]}]`},
		{6, 5, "[" + want[0] + "," + want[1] + `,{"role":"user","parts":["wait"]}]`},
		{8, 2, "[" + want[0] + "," + want[1] + "," + want[2] + "]"},
		{8, 0, "[" + want[0] + "," + want[1] + "," + want[2] + "]"},
		{2, 0, "[" + want[0] + "]"},
	} {
		encoded = 0
		if diff := cmp.Diff(tt.want, array(messages[:tt.messages])); diff != "" || encoded != tt.encoded {
			t.Errorf("%d messages: %d encoded, want %d %s", tt.messages, encoded, tt.encoded, diff)
		}
	}
}

// A conversation whose end changes again and again has the same turns as one
// that was never seen before, and a request that is being sent keeps its bytes.
func TestTurnsOfAChangingEnd(t *testing.T) {
	t.Parallel()
	target := llm.Origin{Provider: "a"}
	random := rand.New(rand.NewPCG(1, 2))
	array := func(e *wire.Encodings, messages []llm.Message) wire.Spoken {
		t.Helper()
		turns, err := wire.Turns(e, wire.Names{Content: "parts", User: "user", Assistant: "model"}, "s", target, messages, func(m llm.Message, ids *wire.IDs) (results, rest []string) {
			for _, p := range m.Parts {
				switch {
				case p.Call != nil:
					rest = append(rest, ids.Call(p.Call.ID))
				case p.Result != nil:
					results = append(results, ids.Result(p.Result))
				default:
					rest = append(rest, p.Text)
				}
			}
			return results, rest
		})
		if err != nil {
			t.Fatal(err)
		}
		return turns
	}
	text := func(pieces [][]byte) string { return string(bytes.Join(pieces, nil)) }
	backward := func(turns wire.Spoken) (all []string) {
		for i, turn := range turns.Backward() {
			all = append(all, fmt.Sprintf("%d %t %s|%s", i, turn.Assistant, turn.Results, turn.Rest))
		}
		return all
	}
	var kept wire.Encodings
	var messages []llm.Message
	type request struct {
		pieces [][]byte
		want   string
	}
	var sent []request
	for range 500 {
		messages = slices.Clone(messages[:len(messages)-random.IntN(min(len(messages), 20)+1)])
		for range random.IntN(12) {
			switch random.IntN(4) {
			case 0:
				messages = append(messages, llm.Message{Role: llm.RoleAssistant}) // without items
			case 1:
				messages = append(messages, llm.Text(llm.RoleUser, strings.Repeat("u", random.IntN(6000))))
			default:
				call := &llm.ToolCall{ID: fmt.Sprint(random.IntN(9)), WireID: fmt.Sprint("w", random.IntN(4))}
				messages = append(messages,
					llm.Message{Role: llm.RoleAssistant, Origin: &target, Parts: []llm.Part{{Kind: llm.PartToolCall, Call: call}}},
					llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: call.ID}}}})
			}
		}
		var fresh wire.Encodings
		got, want := array(&kept, messages), array(&fresh, messages)
		sent = append(sent, request{got.Array(), text(want.Array())})
		if diff := cmp.Diff(backward(want), backward(got)); diff != "" {
			t.Fatalf("%d messages (-fresh +kept):\n%s", len(messages), diff)
		}
	}
	for i, r := range sent {
		if text(r.pieces) != r.want {
			t.Fatalf("request %d sends\n%.2000s\nwant\n%.2000s", i, text(r.pieces), r.want)
		}
	}
}
