package hook_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/agent/sandbox"
	"github.com/google/go-cmp/cmp"
)

// ownMembers leaves out of an input what the documentation says once for all:
// the second spelling of each member, and the names of both SDKs for the same.
func ownMembers(t *testing.T, input json.RawMessage) json.RawMessage {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(input))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var kept []string
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		spelling := strings.ToLower(strings.ReplaceAll(name.(string), "_", ""))
		if seen[spelling] || name == "toolOutput" || name == "event" && !strings.Contains(string(input), "FileChanged") {
			continue
		}
		seen[spelling] = true
		quoted, _ := json.Marshal(name)
		kept = append(kept, string(quoted)+":"+string(v))
	}
	return json.RawMessage("{" + strings.Join(kept, ",") + "}")
}

// powerWords say in the documentation what a hook may do.
var powerWords = map[hook.Power]string{
	hook.PowerDeny: "deny", hook.PowerAsk: "ask", hook.PowerAllow: "allow", hook.PowerInput: "change the input",
	hook.PowerOutput: "replace the output", hook.PowerContext: "tell the model", hook.PowerEnd: "end the turn",
}

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/guide/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks returns the code blocks of a language.
func blocks(text, language string) []string {
	var all []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)\n```").FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// OAS-661: docs/guide/hook-events.md has each event with the input that hooks really get, what
// its matcher looks at and what a hook may do.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	sections := strings.Split(page(t, "hook-events.md"), "\n## ")[1:]
	examples := hook.Examples()
	if len(sections) != len(examples) {
		t.Fatalf("%d sections", len(sections))
	}
	for i, example := range examples {
		name, section, _ := strings.Cut(sections[i], "\n")
		if name != example.Event {
			t.Fatalf("%s stands in the place of %s", name, example.Event)
		}
		facts := "No matcher."
		if example.Target != "" {
			facts = "Matcher: `" + example.Target + "`."
		}
		var may []string
		for _, p := range example.May {
			may = append(may, powerWords[p])
		}
		if facts += " May " + strings.Join(may, ", ") + "."; len(may) == 0 {
			facts = strings.TrimSuffix(facts, " May .") + " Decides nothing."
		}
		if !strings.Contains(section, "\n"+facts+"\n") {
			t.Errorf("%s does not say: %s", name, facts)
		}
		shown := blocks(section, "json")
		if len(shown) != 1 {
			t.Fatalf("%s has %d inputs", name, len(shown))
		}
		var got, want bytes.Buffer
		if err := json.Compact(&got, []byte(shown[0])); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_ = json.Compact(&want, ownMembers(t, example.Input))
		if diff := cmp.Diff(want.String(), got.String()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The one input that is shown with both spellings is whole.
func TestDocumentationShowsBothSpellings(t *testing.T) {
	t.Parallel()
	_, part, _ := strings.Cut(page(t, "hooks.md"), "\n## What a hook reads\n")
	examples := hook.Examples()
	at := slices.IndexFunc(examples, func(e hook.Example) bool { return e.Event == "PreToolUse" })
	var got, want any
	if err := json.Unmarshal([]byte(blocks(part, "json")[0]), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(examples[at].Input, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// COM-83, COM-72: the first hook and the examples do what the documentation says.
func TestDocumentedExamples(t *testing.T) {
	t.Parallel()
	if sandbox.LookPath("python3") == "" || sandbox.LookPath("gofmt") == "" || sandbox.LookPath("make") == "" {
		t.Skip("the examples need Python, Go and make")
	}
	_, part, _ := strings.Cut(page(t, "hooks.md"), "\n## A first hook\n")
	var handlers []hook.Handler
	for _, block := range blocks(part, "json") {
		var file struct {
			Hooks json.RawMessage `json:"hooks"`
		}
		if err := json.Unmarshal([]byte(block), &file); err != nil {
			t.Fatal(err)
		}
		if file.Hooks != nil {
			handlers = append(handlers, parse(t, hook.FormAgent, string(file.Hooks))...)
		}
	}
	if len(handlers) != 5 {
		t.Fatalf("%d hooks", len(handlers))
	}
	r := newRig(t, timed(handlers, time.Minute)...)
	for _, script := range slices.Concat(blocks(part, "sh"), blocks(part, "python")) {
		name, _, _ := strings.Cut(strings.TrimPrefix(script, "# "), "\n")
		r.write(name, script, 0o600)
	}
	for call, want := range map[string]agent.Decision{
		`Bash {"command":"git push"}`: agent.Deny, `Bash {"command":"git status"}`: "", `Bash {"command":"cat .env.local"}`: agent.Deny,
		`Read {"file_path":".env"}`: agent.Deny, `Edit {"file_path":"/p/web/.env"}`: agent.Deny, `Grep {"pattern":".env","path":"src"}`: "",
		`Read {"file_path":"environment.go"}`: "", `Write {"file_path":"main.envoy","content":"see .env"}`: "",
	} {
		tool, input, _ := strings.Cut(call, " ")
		if advice := r.fire(use(tool, input)); advice.Decision != want {
			t.Errorf("%s: %+v", call, advice)
		}
	}
	read, patch := use("ReadMany", `{"paths":["a",".env"]}`), use("ApplyPatch", `{"input":"*** Add File: .env\n+x"}`)
	read.Access.Reads, patch.Access.Writes = []string{"/p/a", "/p/.env"}, []string{"/p/.env"}
	for _, call := range []agent.PreToolUseInput{read, patch} {
		if advice := r.fire(call); advice.Decision != agent.Deny {
			t.Errorf("%s: %+v", call.Tool, advice)
		}
	}
	file := r.write("a.go", "package  a\n", 0o600)
	input, _ := json.Marshal(map[string]string{"file_path": file})
	if r.fire(agent.PostToolUseInput{HookTool: use("Write", string(input)).HookTool}); r.read("a.go") != "package a\n" {
		t.Errorf("not formatted: %q, %+v", r.read("a.go"), r.log)
	}
	r.write("Makefile", "test:\n\t@echo broken; false\n", 0o600)
	if advice := r.fire(ending); advice.Decision != agent.Deny || !strings.Contains(advice.Reason, "broken") {
		t.Errorf("%+v", advice)
	}
	r.write("Makefile", "test:\n\t@true\n", 0o600)
	if advice := r.fire(ending); advice.Decision != "" {
		t.Errorf("%+v", advice)
	}
}
