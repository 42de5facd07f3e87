package profile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/profile"
	"github.com/google/go-cmp/cmp"
)

// use returns a call of a tool with its input as JSON.
func use(name, input string) llmtest.Call { return llmtest.Call{Name: name, Arguments: input} }

// call has a model make calls, one a round, and returns their starts and ends.
func call(p *place, calls ...llmtest.Call) (starts []agent.ToolCallStart, ends []agent.ToolCallEnd) {
	p.t.Helper()
	for _, c := range calls {
		p.server.Add(llmtest.Round{Calls: []llmtest.Call{c}})
	}
	p.server.Add(llmtest.Round{Text: "done"})
	for _, ev := range p.run("go") {
		switch d := ev.Data.(type) {
		case agent.ToolCallStart:
			starts = append(starts, d)
		case agent.ToolCallEnd:
			ends = append(ends, d)
		}
	}
	return starts, ends
}

// seconds and chunks match the values that differ in every run.
var (
	seconds = regexp.MustCompile(`\d+\.(?:\d|\d{4}) seconds`)
	chunks  = regexp.MustCompile(`(?m)^Chunk ID: [0-9a-f]{6}$`)
)

// told returns what the model reads at a call's end, without the values that
// differ in every run.
func (p *place) told(end agent.ToolCallEnd) string {
	return p.stable(chunks.ReplaceAllString(seconds.ReplaceAllString(end.ForModel(), "N seconds"), "Chunk ID: X"))
}

// LOOP-39, LOOP-40: Gemini's form of a search, which has more lines than
// matches, loses its end if it is too long, and says so.
func TestManyGroups(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "gemini", "", nil)
	for i := range 100 {
		p.put(filepath.Join(p.folder, fmt.Sprintf("f%02d", i)), "mark\n")
	}
	_, ends := call(p, use("grep_search", `{"pattern":"mark"}`))
	told := p.told(ends[0])
	if !strings.HasPrefix(told, "Found more than 66 matches; these are the first\n---\nFile: f00\n") || !strings.HasSuffix(told, "File: f65\nL1: mark\n") || strings.Contains(told, "omitted") {
		t.Errorf("%s", told)
	}
}

// LOOP-23..31, LOOP-109..111, LOOP-175, K-01, K-03, K-04: a call in the form of
// each vendor's models, over the vendor's wire format, runs the canonical tool
// with its own input, and the result is written in the vendor's form.
func TestNativeCalls(t *testing.T) {
	t.Parallel()
	tests := []struct {
		provider    string
		naming      profile.Naming
		call        llmtest.Call
		tool, input string
		told        string
	}{
		{"openai", "", use("exec_command", `{"cmd":"echo hi; exit 3"}`), "Bash", `{"command":"echo hi; exit 3","yield_time_ms":10000}`,
			"Chunk ID: X\nWall time: N seconds\nProcess exited with code 3\nOriginal token count: 1\nOutput:\nhi\n"},
		{"openai", "", use("exec_command", `{"cmd":"sleep 300 & echo on","yield_time_ms":99000}`), "Bash", `{"command":"sleep 300 & echo on","yield_time_ms":30000}`,
			"Chunk ID: X\nWall time: N seconds\nProcess exited with code 0\nOriginal token count: 1\nOutput:\non\n[A process was left running in the background; what it prints from now on is lost. To keep it, let the command itself run on, without &.]"},
		{"openai", "", use("shell_command", `{"command":"echo hi; exit 3"}`), "Bash", `{"command":"echo hi; exit 3","timeout":120000}`,
			"Exit code: 3\nWall time: N seconds\nOutput:\nhi\n"},
		{"openai", "", use("shell_command", `{"command":"pwd","workdir":"it's","timeout_ms":500}`), "Bash", `{"command":"pwd","workdir":"it's","timeout":500}`,
			"Exit code: 0\nWall time: N seconds\nOutput:\n/work/app/it's\n"},
		{"openai", "", use("shell_command", `{"command":"pwd","workdir":"f"}`), "Bash", `{"command":"pwd","workdir":"f","timeout":120000}`,
			"the command did not run: f is not a directory."},
		{"openai", "", use("read_file", `{"file_path":"f","offset":2,"limit":1}`), "Read", `{"file_path":"f","offset":2,"limit":1}`,
			"2 | two\n[Lines 2 to 2 of 3. Read on with offset 3.]\n"},
		{"anthropic", "", use("Read", `{"file_path":"f","limit":2}`), "Read", `{"file_path":"f","limit":2}`,
			"1\tone\n2\ttwo\n[Lines 1 to 2 of 3. Read on with offset 3.]\n"},
		{"anthropic", "", use("Bash", `{"command":"exit 1"}`), "Bash", `{"command":"exit 1","timeout":120000}`, "[Exit code 1]"},
		{"anthropic", "", use("Edit", `{"file_path":"g","old_string":"x","new_string":"y"}`), "Edit", `{"file_path":"g","old_string":"x","new_string":"y"}`,
			"g does not exist. To create a file use Write."},
		{"anthropic", "", use("Grep", `{"pattern":"t","path":"f"}`), "Grep", `{"pattern":"t","path":"f"}`, "f"},
		{"anthropic", "", use("read_file", `{"file_path":"f","limit":1}`), "Read", `{"file_path":"f","limit":1}`,
			"1 | one\n[Lines 1 to 1 of 3. Read on with offset 2.]\n"},
		{"gemini", "", use("read_file", `{"file_path":"f","start_line":2,"end_line":3}`), "Read", `{"file_path":"f","offset":2,"limit":2}`, "two\nthree"},
		{"gemini", "", use("read_file", `{"file_path":"f","end_line":1}`), "Read", `{"file_path":"f","limit":1}`,
			"[Lines 1 to 1 of 3. Read on with start_line 2.]\none"},
		{"gemini", "", use("read_many_files", `{"include":["f","it's/*"]}`), "ReadMany", `{"paths":["f","it's/*"]}`,
			"--- f ---\none\ntwo\nthree\n--- it's/h ---\nhh\n"},
		{"gemini", "", use("run_shell_command", `{"command":"echo hi; exit 3"}`), "Bash", `{"command":"echo hi; exit 3","timeout":120000}`, "Output: hi\nExit Code: 3"},
		{"gemini", "", use("run_shell_command", `{"command":"pwd","dir_path":"it's"}`), "Bash", `{"command":"pwd","workdir":"it's","timeout":120000}`, "Output: /work/app/it's"},
		{"gemini", "", use("run_shell_command", `{"command":"true"}`), "Bash", `{"command":"true","timeout":120000}`, "Output: [The command succeeded and printed nothing.]"},
		{"gemini", "", use("grep_search", `{"pattern":"T","include_pattern":"f","after":1}`), "Grep", `{"pattern":"T","glob":"f","output_mode":"content","-i":true,"-A":1,"head_limit":100}`,
			"Found 2 matches\n---\nFile: f\nL2: two\nL3: three\n"},
		{"gemini", "", use("search_file_content", `{"pattern":"one","include_pattern":"f","after":1,"case_sensitive":true}`), "Grep", `{"pattern":"one","glob":"f","output_mode":"content","-A":1,"head_limit":100}`,
			"Found 1 matches\n---\nFile: f\nL1: one\nL2- two\n"},
		{"gemini", "", use("grep_search", `{"pattern":"mark","dir_path":"odd","before":1}`), "Grep", `{"pattern":"mark","path":"odd","output_mode":"content","-i":true,"-B":1,"head_limit":100}`,
			"Found 2 matches\n---\nFile: odd/a\nL1- a:3:y\nL2: mark\n--\n---\nFile: odd/a-1-\nL1: mark\n"},
		{"gemini", "", use("grep_search", `{"pattern":"two","names_only":true}`), "Grep", `{"pattern":"two","output_mode":"files_with_matches","-i":true,"head_limit":100}`, "f"},
		{"gemini", "", use("glob", `{"pattern":"*","dir_path":"it's"}`), "Glob", `{"pattern":"*","path":"it's"}`, "it's/h"},
		{"gemini", "", use("list_directory", `{"dir_path":"it's"}`), "ListDir", `{"path":"it's"}`, "[DIR] sub\nh (3 bytes)\n"},
		{"gemini", "", use("replace", `{"file_path":"g","instruction":"begin","old_string":"","new_string":"x"}`), "Edit",
			`{"file_path":"g","old_string":"","new_string":"x","fuzzy":true}`, "Created g."},
		{"gemini", "", use("write_file", `{"file_path":"f","content":""}`), "Write", `{"file_path":"f","content":""}`,
			"f exists and has not been read in this session. Read it first, then change it."},
		{"compat", "", use("shell", `{"command":"echo hi"}`), "Bash", `{"command":"echo hi","timeout":120000}`, "Exit code: 0\nWall time: N seconds\nOutput:\nhi\n"},
		{"compat", "", use("grep", `{"pattern":"TWO","case_insensitive":true,"glob_filter":"f"}`), "Grep",
			`{"pattern":"TWO","glob":"f","output_mode":"content","-i":true,"head_limit":100}`, "f:2:two"},
		{"gemini", profile.NamingSpec, use("read_file", `{"file_path":"f","offset":3}`), "Read", `{"file_path":"f","offset":3}`, "3 | three\n"},
		{"openai", profile.NamingSpec, use("shell_command", `{"command":"echo hi"}`), "Bash", `{"command":"echo hi","timeout":10000}`, "Exit code: 0\nWall time: N seconds\nOutput:\nhi\n"},
	}
	for _, tt := range tests {
		p := newPlace(t, tt.provider, tt.naming, nil)
		p.put(filepath.Join(p.folder, "f"), "one\ntwo\nthree\n")
		p.put(filepath.Join(p.folder, "odd", "a"), "a:3:y\nmark\n")
		p.put(filepath.Join(p.folder, "odd", "a-1-"), "mark\n")
		p.put(filepath.Join(p.folder, "it's/h"), "hh\n")
		if err := os.Mkdir(filepath.Join(p.folder, "it's/sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		starts, ends := call(p, tt.call)
		if len(starts) != 1 || starts[0].Tool != tt.tool || !sameJSON(t, starts[0].Input, tt.input) {
			t.Errorf("%s %s: started %+v", tt.provider, tt.call.Name, starts)
			continue
		}
		told := p.told(ends[0])
		if diff := cmp.Diff(tt.told, told); diff != "" || ends[0].Tool != tt.tool {
			t.Errorf("%s %s told (-want +got):\n%s", tt.provider, tt.call.Name, diff)
		}
		if body := string(p.server.Requests()[1].Body); !strings.Contains(body, `"`+tt.call.Name+`"`) {
			t.Errorf("%s: the history does not name %s", tt.provider, tt.call.Name)
		}
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		t.Fatalf("%s, %s", a, b)
	}
	return cmp.Equal(x, y)
}

// LOOP-25, LOOP-44, LOOP-111, LOOP-175, K-28: each vendor's own form of an edit
// works, on a file that was read before.
func TestNativeEdits(t *testing.T) {
	t.Parallel()
	for provider, calls := range map[string][]llmtest.Call{
		"anthropic": {use("Read", `{"file_path":"f"}`), use("Edit", `{"file_path":"f","old_string":"\ttwo","new_string":"\t2"}`)},
		"gemini":    {use("read_file", `{"file_path":"f"}`), use("replace", `{"file_path":"f","instruction":"digits","old_string":"    two","new_string":"    2"}`)},
		"compat":    {use("read_file", `{"file_path":"f"}`), use("edit_file", `{"file_path":"f","old_string":"\ttwo","new_string":"\t2"}`)},
		"openai":    {use("read_file", `{"file_path":"f"}`), use("edit_file", `{"file_path":"f","old_string":"\ttwo","new_string":"\t2"}`)},
	} {
		p := newPlace(t, provider, "", nil)
		p.put(filepath.Join(p.folder, "f"), "one\n\ttwo\n")
		_, ends := call(p, calls...)
		data, err := os.ReadFile(filepath.Join(p.folder, "f"))
		if err != nil || string(data) != "one\n\t2\n" {
			t.Errorf("%s: %q, %v: %+v", provider, data, err, ends)
		}
	}
}

// A tool's advice uses the names that the model was shown.
func TestAdviceIsInTheModelsWords(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "gemini", "", nil)
	p.put(filepath.Join(p.folder, "f"), "a\na\n")
	_, ends := call(p,
		use("replace", `{"file_path":"gone","instruction":"i","old_string":"a","new_string":"b"}`),
		use("read_file", `{"file_path":"f"}`),
		use("replace", `{"file_path":"f","instruction":"i","old_string":"a","new_string":"b"}`))
	for i, want := range map[int]string{0: "use write_file", 2: "set allow_multiple"} {
		if got := ends[i].ForModel(); !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}

// custom is a tool that a host adds.
type custom struct{ name string }

func (c custom) Spec() agent.Spec {
	return agent.Spec{Name: c.name, Description: "Says who it is.", ReadOnly: true, Schema: json.RawMessage(`{"type":"object"}`)}
}

func (c custom) Run(context.Context, agent.Invocation) agent.Result {
	return agent.Result{Output: "custom " + c.name}
}

// LOOP-32, LOOP-113, LOOP-114: a custom tool can be added to any profile, and
// replaces the built-in one that has its name in any vocabulary.
func TestCustomTools(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ provider, name, gone string }{
		{"openai", "weather", ""}, {"anthropic", "weather", ""}, {"gemini", "weather", ""}, {"compat", "weather", ""},
		{"openai", "shell", "exec_command"}, {"openai", "write_stdin", ""}, {"anthropic", "shell", "Bash"}, {"anthropic", "Bash", ""},
		{"gemini", "shell", "run_shell_command"}, {"gemini", "run_shell_command", ""}, {"compat", "Bash", "shell"},
	} {
		p := newPlace(t, tt.provider, "", []agent.Tool{custom{tt.name}})
		names := p.profiles.Profile(tt.provider, "m").Tools.Names()
		if !slices.Contains(names, tt.name) || tt.gone != "" && slices.Contains(names, tt.gone) {
			t.Errorf("%s is shown %v", tt.provider, names)
		}
		starts, ends := call(p, use(tt.name, "{}"))
		if starts[0].Tool != tt.name || ends[0].Output != "custom "+tt.name {
			t.Errorf("%s ran %s: %s", tt.provider, starts[0].Tool, ends[0].Output)
		}
	}
}

// LOOP-21, LOOP-29..31: each profile shows its own tools. An endpoint that may
// serve any vendor's models is shown the specification's, and the demo, whose
// script uses them, the canonical ones.
func TestShownTools(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "openai", "", []agent.Tool{custom{"WebFetch"}})
	const agents, planning, more = " spawn_agent send_input wait close_agent", " enter_plan_mode exit_plan_mode task_create task_get task_update send_message team_create team_delete", " WebFetch"
	const claude = " MultiEdit NotebookEdit WebSearch Agent SendInput Wait CloseAgent Monitor AskUserQuestion TodoWrite EnterPlanMode ExitPlanMode TaskCreate TaskGet TaskUpdate SendMessage TeamCreate TeamDelete"
	for provider, want := range map[string]string{
		"openai":     "openai: exec_command write_stdin apply_patch read_file write_file grep glob" + " notebook_edit web_search" + agents + " monitor request_user_input update_plan" + planning + more,
		"anthropic":  "anthropic: Read Write Edit Bash WriteStdin TaskOutput TaskList TaskStop Grep Glob" + claude + more,
		"gemini":     "gemini: read_file read_many_files write_file replace run_shell_command list_background_processes read_background_output stop_background_process grep_search glob list_directory" + " multi_edit notebook_edit google_web_search" + agents + " monitor ask_user write_todos" + planning + more,
		"compat":     "spec: read_file write_file edit_file shell task_output task_stop grep glob" + " multi_edit notebook_edit web_search" + agents + " monitor ask_user todo_write" + planning + more,
		"openrouter": "spec: read_file write_file edit_file shell task_output task_stop grep glob" + " multi_edit notebook_edit web_search" + agents + " monitor ask_user todo_write" + planning + more,
		"demo":       "anthropic: Read Write Edit Bash WriteStdin TaskOutput TaskList TaskStop Grep Glob" + claude + more,
	} {
		got := p.profiles.Profile(provider, "m")
		if shown := got.ID + ": " + strings.Join(got.Tools.Names(), " "); shown != want {
			t.Errorf("%s is shown %s, want %s", provider, shown, want)
		}
	}
}
