package hook_test

import (
	"encoding/json"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"github.com/google/go-cmp/cmp"
)

// OAS-661: every point has an example, in the order of the points, and all its
// members are there.
func TestEachPointHasAnExample(t *testing.T) {
	t.Parallel()
	examples := hook.Examples()
	if len(examples) != 24 {
		t.Fatalf("%d examples", len(examples))
	}
	for i, data := range agent.HookInputs() {
		example := examples[i]
		if example.Point != data.Point() {
			t.Fatalf("the example of %s is one of %s", data.Point(), example.Point)
		}
		var sent map[string]any
		if err := json.Unmarshal(example.Input, &sent); err != nil {
			t.Fatalf("%s: %v", example.Point, err)
		}
		own, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		var members map[string]any
		if err := json.Unmarshal(own, &members); err != nil {
			t.Fatal(err)
		}
		for name := range members {
			if _, ok := sent[name]; !ok {
				t.Errorf("the example of %s lacks %s", example.Point, name)
			}
		}
		if example.Target != "" && sent[example.Target] == nil {
			t.Errorf("matchers of %s look at %s, which is not in its input", example.Point, example.Target)
		}
		event := string(example.Point)
		if example.Point == agent.HookFileChanged {
			event = "change" // it has a member of this name
		}
		if sent["hook_event_name"] != example.Event || sent["hookEventName"] != example.Event || sent["event"] != event {
			t.Errorf("%s is called %v, %v and %v", example.Point, sent["hook_event_name"], sent["hookEventName"], sent["event"])
		}
	}
}

// COM-74: an input has the members of both SDKs.
func TestInputHasBothSpellings(t *testing.T) {
	t.Parallel()
	r := newRig(t, command(t, "PreToolUse", "", "cat >input")...)
	r.fire(use("Bash", `{"command":"a && b <c>"}`))
	var got map[string]any
	if err := json.Unmarshal([]byte(r.read("input")), &got); err != nil {
		t.Fatal(err)
	}
	call := map[string]any{"command": "a && b <c>"}
	want := map[string]any{
		"session_id": "s1", "transcript_path": "", "cwd": r.folder, "permission_mode": "default", "hook_event_name": "PreToolUse",
		"tool_name": "Bash", "tool_input": call, "tool_call_id": "c1", "tool_use_id": "c1",
		"sessionId": "s1", "transcriptPath": "", "permissionMode": "default", "hookEventName": "PreToolUse",
		"toolName": "Bash", "toolInput": call, "toolCallId": "c1", "toolUseId": "c1", "event": "preToolUse",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r.log[0].Input != r.read("input") {
		t.Errorf("logged %s", r.log[0].Input)
	}
}
