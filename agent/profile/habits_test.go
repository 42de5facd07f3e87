package profile_test

import (
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
)

// K-43: calls that models make from habit, with the names and arguments of
// other harnesses, are understood. The result says what was dropped and what is
// valid.
func TestHabits(t *testing.T) {
	t.Parallel()
	const ignored = "[Ignored: "
	for _, tt := range []struct {
		provider    string
		call        llmtest.Call
		tool, input string // what runs
		told        string // a part of the result
	}{
		{"anthropic", use("Grep", `{"pattern":"t","output_mode":"content","-n":true}`), "Grep", `{"pattern":"t","output_mode":"content","-n":true}`, "f:2:two\nf:3:three"},
		{"anthropic", use("Grep", `{"pattern":"t","output_mode":"content","-n":false}`), "Grep", `{"pattern":"t","output_mode":"content","-n":false}`, "f:two\nf:three"},
		{"anthropic", use("Grep", `{"pattern":"two","output_mode":"content","context":1}`), "Grep", `{"pattern":"two","output_mode":"content","-C":1}`, "f-1-one\nf:2:two\nf-3-three"},
		{"anthropic", use("Grep", `{"pattern":"one.two","multiline":true,"output_mode":"content"}`), "Grep", `{"pattern":"one.two","multiline":true,"output_mode":"content"}`, "f:1:one\nf:2:two"},
		{"anthropic", use("Grep", `{"pattern":"t","output_mode":"content","offset":1,"head_limit":5}`), "Grep", `{"pattern":"t","output_mode":"content","offset":1,"head_limit":5}`, "f:3:three"},
		{"anthropic", use("Grep", `{"pattern":"t.","fixed_strings":true}`), "Grep", `{"pattern":"t.","fixed_strings":true}`, "[Nothing was found.]"},
		{"anthropic", use("Grep", `{"pattern":"two","-o":true}`), "Grep", `{"pattern":"two"}`, ignored + `"-o". Grep takes pattern, -A, -B, -C,`},
		{"anthropic", use("TaskStop", `{"task_id":7}`), "TaskStop", `{"id":"7"}`, "no command was left running"},
		{"anthropic", use("KillShell", `{"shell_id":"7"}`), "TaskStop", `{"id":"7"}`, "no command was left running"},
		{"anthropic", use("BashOutput", `{"bash_id":"7"}`), "TaskOutput", `{"id":"7"}`, "no command was left running"},
		{"anthropic", use("TaskOutput", `{"task_id":"7","block":true,"timeout":5000}`), "TaskOutput", `{"id":"7","wait_ms":5000}`, "no command was left running"},
		{"anthropic", use("LS", `{"path":".","ignore":["odd","*.md"]}`), "ListDir", `{"path":".","ignore":["odd","*.md"]}`, ".codex/\n.git/\nf (14 bytes)\n"},
		{"anthropic", use("Read", `{"path":"f","start_line":2,"end_line":2}`), "Read", `{"file_path":"f","offset":2,"limit":1}`, "2\ttwo\n"},
		{"anthropic", use("Bash", `{"command":"echo hi","dangerouslyDisableSandbox":true,"timeout_ms":5000}`), "Bash", `{"command":"echo hi","timeout":5000,"unconfined":true}`, "hi\n"},
		{"anthropic", use("Bash", `{"command":["bash","-lc","echo $((1+1))"]}`), "Bash", `{"command":"echo $((1+1))","timeout":120000}`, "2\n"},
		{"anthropic", use("Read", `{"file_path":"f","zeal":1}`), "Read", `{"file_path":"f"}`, ignored + "zeal. Read takes file_path, limit, offset.]"},
		{"openai", use("exec_command", `{"cmd":"echo hi","login":true,"justification":"to greet"}`), "Bash", `{"command":"echo hi","yield_time_ms":10000}`, "Output:\nhi\n"},
		{"openai", use("exec_command", `{"command":["echo","a b","it's"]}`), "Bash", `{"command":"echo 'a b' 'it'\\''s'","yield_time_ms":10000}`, "Output:\na b it's\n"},
		{"openai", use("exec_command", `{"cmd":"echo hi","shell":"zsh"}`), "Bash", `{"command":"echo hi","yield_time_ms":10000}`, ignored + "shell. exec_command takes cmd, max_output_tokens, tty, unconfined, workdir, yield_time_ms.]"},
		{"openai", use("shell", `{"command":["bash","-lc","echo hi"],"workdir":"odd"}`), "Bash", `{"command":"echo hi","workdir":"odd","timeout":120000}`, "hi\n"},
		{"openai", use("container.exec", `{"cmd":["pwd"]}`), "Bash", `{"command":"pwd","timeout":120000}`, "/work/app"},
		{"openai", use("shell", `{"command":["apply_patch","*** Begin Patch\n*** Add File: new\n+x\n*** End Patch\n"]}`), "ApplyPatch", `{"input":"*** Begin Patch\n*** Add File: new\n+x\n*** End Patch\n"}`, "A new"},
		{"openai", use("apply_patch", `{"patch":"*** Begin Patch\n*** Add File: new\n+x\n*** End Patch"}`), "ApplyPatch", `{"input":"*** Begin Patch\n*** Add File: new\n+x\n*** End Patch"}`, "A new"},
		{"openai", use("applypatch", `{"input":"*** Begin Patch\n*** Delete File: f\n*** End Patch"}`), "ApplyPatch", `{"input":"*** Begin Patch\n*** Delete File: f\n*** End Patch"}`, "D f"},
		{"openai", use("view_image", `{"path":"f","detail":"high"}`), "Read", `{"file_path":"f"}`, "1 | one\n"},
		{"openai", use("grep", `{"pattern":"T","path":"f","-i":true,"-A":1,"output_mode":"files_with_matches"}`), "Grep", `{"pattern":"T","path":"f","-i":true,"-A":1,"output_mode":"files_with_matches","head_limit":100}`, "f"},
		{"gemini", use("read_file", `{"absolute_path":"f","offset":2,"limit":1,"wait_for_previous":true}`), "Read", `{"file_path":"f","offset":2,"limit":1}`, "two"},
		{"gemini", use("grep_search", `{"pattern":"t.","fixed_strings":true}`), "Grep", `{"pattern":"t.","fixed_strings":true,"output_mode":"content","-i":true,"head_limit":100}`, "[Nothing was found.]"},
		{"gemini", use("run_shell_command", `{"command":"echo hi","wait_for_previous":true,"directory":"odd"}`), "Bash", `{"command":"echo hi","workdir":"odd","timeout":120000}`, "Output: hi"},
		{"gemini", use("list_directory", `{"path":".","depth":2,"ignore":[".*","*.md"]}`), "ListDir", `{"path":".","depth":2,"ignore":[".*","*.md"]}`, "[DIR] odd\nf (14 bytes)\nodd/a (5 bytes)\n"},
		{"compat", use("shell", `{"cmd":"pwd","cwd":"odd","timeout":3000}`), "Bash", `{"command":"pwd","workdir":"odd","timeout":3000}`, "/work/app/odd"},
		{"compat", use("grep", `{"pattern":"one.two","multiline":true}`), "Grep", `{"pattern":"one.two","multiline":true,"output_mode":"content","head_limit":100}`, "f:1:one\nf:2:two"},
		{"compat", use("grep", `{"pattern":"t","offset":1}`), "Grep", `{"pattern":"t","offset":1,"output_mode":"content","head_limit":100}`, "f:3:three"},
		{"compat", use("grep", `{"pattern":"t","names_only":true}`), "Grep", `{"pattern":"t","output_mode":"files_with_matches","head_limit":100}`, "f"},
		{"compat", use("grep", `{"pattern":"TWO","case_sensitive":false}`), "Grep", `{"pattern":"TWO","-i":true,"output_mode":"content","head_limit":100}`, "f:2:two"},
		{"openai", use("exec_command", `{"cmd":"echo hi","run_in_background":true}`), "Bash", `{"command":"echo hi","yield_time_ms":10000}`, "Output:\nhi\n"},
		{"compat", use("Bash", `{"command":"echo hi"}`), "Bash", `{"command":"echo hi","timeout":120000}`, "hi\n"},
	} {
		p := newHabitsPlace(t, tt.provider)
		starts, ends := call(p, tt.call)
		if len(starts) != 1 || starts[0].Tool != tt.tool || !sameJSON(t, starts[0].Input, tt.input) {
			t.Errorf("%s %s %s: started %+v: %s", tt.provider, tt.call.Name, tt.call.Arguments, starts, ends[0].Output)
			continue
		}
		told := p.told(ends[0])
		if !strings.Contains(told, tt.told) || strings.Contains(told, ignored) != strings.HasPrefix(tt.told, ignored) {
			t.Errorf("%s %s %s told %q, want %q", tt.provider, tt.call.Name, tt.call.Arguments, told, tt.told)
		}
	}
}

func newHabitsPlace(t *testing.T, provider string) *place {
	p := newPlace(t, provider, "", nil)
	p.put(filepath.Join(p.folder, "f"), "one\ntwo\nthree\n")
	p.put(filepath.Join(p.folder, "odd", "a"), "mark\n")
	return p
}

// K-43: a call whose meaning would change is refused, and a call of a missing
// tool is answered with what to do instead.
func TestHabitsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		provider string
		call     llmtest.Call
		told     string
	}{
		{"anthropic", use("Write", `{"file_path":"f","content":"x","append":true}`), "append cannot be used here. The whole content is replaced"},
		{"anthropic", use("Read", `{"file_path":"f","pages":"1-2"}`), "pages cannot be used here."},
		{"anthropic", use("Edit", `{"file_path":"f","edits":[{"old_string":"one"}]}`), "Make one call for each edit"},
		{"anthropic", use("BashOutput", `{"bash_id":"1","filter":"x"}`), "filter cannot be used here."},
		{"anthropic", use("MultiEdit", `{"file_path":"f","edits":[]}`), "there are 0 edits: give 1 to 100"},
		{"anthropic", use("Grep", `{"path":"f"}`), `missing properties: ["pattern"]. It takes pattern, -A`},
		{"gemini", use("save_memory", `{"fact":"x"}`), "There is no tool save_memory here. What is to be remembered belongs in AGENTS.md"},
		{"gemini", use("grep_search", `{"pattern":"x","exclude_pattern":"y"}`), "exclude_pattern cannot be used here."},
		{"gemini", use("grep_search", `{"pattern":"x","no_ignore":true}`), "no_ignore cannot be used here."},
		{"compat", use("shell", `{"command":"x","run_in_background":true}`), "run_in_background cannot be used here."},
	} {
		_, ends := call(newHabitsPlace(t, tt.provider), tt.call)
		if !ends[0].IsError || !strings.Contains(ends[0].Output, tt.told) {
			t.Errorf("%s %s: error %t, %s", tt.provider, tt.call.Name, ends[0].IsError, ends[0].Output)
		}
	}
}

// K-43: agents can also be started, told and awaited by the names and members
// of other harnesses.
func TestAgentsByHabit(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"openai", "anthropic", "gemini", "compat"} {
		p := newPlace(t, provider, "", nil)
		tools := p.profiles.Profile(provider, "m").Tools
		for name, want := range map[string]string{
			"Task": "Agent", "SpawnAgent": "Agent", "invoke_agent": "Agent", "wait_agent": "Wait", "KillBash": "TaskStop",
			"BashOutput": "TaskOutput", "LS": "ListDir", "view_image": "Read", "applypatch": "ApplyPatch",
		} {
			if got := tools.Canonical(name); got != want {
				t.Errorf("%s: %s is %s, want %s", provider, name, got, want)
			}
		}
	}
}
