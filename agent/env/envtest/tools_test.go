package envtest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/tool"
)

// LOOP-125: the built-in tools work in an environment of another
// implementation: they find and change its files only.
func TestToolsOnTheFake(t *testing.T) {
	t.Parallel()
	f := &fake{files: fstest.MapFS{"fake-old.txt": {Data: []byte("needle\n")}}}
	f.life, f.end = context.WithCancel(t.Context())
	defer f.end()
	tools := map[string]agent.Tool{}
	for _, each := range tool.Builtin(f, tool.Options{}) {
		tools[each.Spec().Name] = each
	}
	var outputs strings.Builder
	for _, step := range []struct{ tool, input, want string }{
		{"Write", `{"file_path":"fake-new.txt","content":"one\n"}`, "fake-new.txt"},
		{"Edit", `{"file_path":"fake-new.txt","old_string":"one","new_string":"two"}`, "fake-new.txt"},
		{"Read", `{"file_path":"fake-new.txt"}`, "two"},
		{"Grep", `{"pattern":"needle"}`, "fake-old.txt"},
		{"Glob", `{"pattern":"fake-*.txt"}`, "fake-new.txt"},
		{"ListDir", `{}`, "fake-old.txt"},
		{"ReadMany", `{"paths":["fake-*.txt"]}`, "needle"},
		{"Bash", `{"command":"pwd"}`, home},
		{"Bash", `{"command":"pwd","run_in_background":true}`, "task 1"},
		{"TaskOutput", `{"id":"1","wait_ms":20000}`, "ended with exit code 0"},
	} {
		r := tools[step.tool].Run(t.Context(), agent.Invocation{CallID: "c", Input: json.RawMessage(step.input), Output: func(string) {}})
		if r.IsError || !strings.Contains(r.Output, step.want) {
			t.Errorf("%s: error %t, %q", step.tool, r.IsError, r.Output)
		}
		outputs.WriteString(r.Output)
	}
	// A task that ends at once has printed before Bash returns; TaskOutput does not repeat it.
	if got := strings.Count(outputs.String(), home); got != 2 {
		t.Errorf("the two commands printed %s %d times:\n%s", home, got, &outputs)
	}
	if got := string(f.files["fake-new.txt"].Data); got != "two\n" {
		t.Errorf("the environment holds %q", got)
	}
}
