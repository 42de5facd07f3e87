package profile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/profile"
)

// step is a call and what the model is told of it.
type step struct {
	call llmtest.Call
	told string
}

// walk has a model make calls, one a round, and compares the results.
func walk(t *testing.T, p *place, steps ...step) {
	t.Helper()
	var calls []llmtest.Call
	for _, s := range steps {
		calls = append(calls, s.call)
	}
	_, ends := call(p, calls...)
	for i, s := range steps {
		if diff := cmp.Diff(s.told, p.told(ends[i])); diff != "" {
			t.Errorf("%s %s told (-want +got):\n%s", s.call.Name, s.call.Arguments, diff)
		}
	}
}

// unified returns what OpenAI's models are told of a command.
func unified(state string, tokens int, output string) string {
	return fmt.Sprintf("Chunk ID: X\nWall time: N seconds\nProcess %s\nOriginal token count: %d\nOutput:\n%s", state, tokens, output)
}

// LOOP-29, LOOP-109: a command of OpenAI's models runs on when its call
// returns. It can be awaited, interrupted and, on a terminal, typed to.
func TestUnifiedShell(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "openai", "", nil)
	t.Cleanup(func() { p.cleanUp() })
	walk(t, p,
		step{use("exec_command", `{"cmd":"echo ready; sleep 300","yield_time_ms":1000}`), unified("running with session ID 1", 2, "ready\n")},
		step{use("write_stdin", `{"session_id":1,"chars":"exit\n"}`),
			`nothing was typed to session 1: it was started without tty and takes only Ctrl-C (\u0003); to type to it, start it again with tty.`},
		step{use("write_stdin", `{"session_id":1,"chars":"\u0003","yield_time_ms":30000}`), unified("exited with code 130", 0, "")},
		step{use("write_stdin", `{"session_id":9}`), `there is no session "9"; the sessions are: 1 (echo ready; sleep 300), ended.`},
		step{use("exec_command", `{"cmd":"PS1='> ' exec bash --norc -i","tty":true,"yield_time_ms":1000}`), unified("running with session ID 2", 1, "> ")},
		step{use("write_stdin", `{"session_id":2,"chars":"X=42; printf '\\033[31mred\\033[m\\n'\n","yield_time_ms":1000}`),
			unified("running with session ID 2", 11, "X=42; printf '\\033[31mred\\033[m\\n'\nred\n> ")},
		step{use("write_stdin", `{"session_id":2,"chars":"exit $((X+1))\n","yield_time_ms":30000}`), unified("exited with code 43", 5, "exit $((X+1))\nexit\n")},
	)
}

// OpenAI's models choose how long they wait, within bounds.
func TestUnifiedWaits(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "openai", "", nil)
	for call, want := range map[llmtest.Call]string{
		use("exec_command", `{"cmd":"true"}`):                                              `"yield_time_ms":10000}`,
		use("exec_command", `{"cmd":"true","yield_time_ms":1}`):                            `"yield_time_ms":250}`,
		use("exec_command", `{"cmd":"true","yield_time_ms":60000,"max_output_tokens":50}`): `"yield_time_ms":30000,"max_output_tokens":50}`,
		use("exec_command", `{"cmd":"true","max_output_tokens":99999}`):                    `"yield_time_ms":10000,"max_output_tokens":99999}`,
		use("write_stdin", `{"session_id":1}`):                                             `"yield_time_ms":5000}`,
		use("write_stdin", `{"session_id":1,"yield_time_ms":900000}`):                      `"yield_time_ms":300000}`,
		use("write_stdin", `{"session_id":1,"chars":"x"}`):                                 `"yield_time_ms":250}`,
		use("write_stdin", `{"session_id":1,"chars":"x","yield_time_ms":60000}`):           `"yield_time_ms":30000}`,
	} {
		starts, _ := callOnce(p, call)
		if !strings.HasSuffix(starts.Input, want) || strings.Contains(starts.Input, "timeout") {
			t.Errorf("%s %s started as %s", call.Name, call.Arguments, starts.Input)
		}
	}
}

// callOnce is call for one call of a session that continues.
func callOnce(p *place, c llmtest.Call) (agent.ToolCallStart, agent.ToolCallEnd) {
	starts, ends := call(p, c)
	return starts[0], ends[0]
}

// LOOP-38: only the output is cut, to the size that the call asks for, never
// the text around it.
func TestUnifiedOutputIsCut(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "openai", "", nil)
	_, end := callOnce(p, use("exec_command", `{"cmd":"seq -s, 20000","max_output_tokens":100}`))
	want := unified("exited with code 0", 27224, "1,2,3,")
	got := p.told(end)
	if !strings.HasPrefix(got, want) || !strings.Contains(got, "\n[... 27124 tokens are left out here ...]\n") || !strings.HasSuffix(got, ",19999,20000\n") || len(got) > len(want)+450 {
		t.Errorf("told %s", got)
	}
	if end.Size == 0 && len(end.Output) < 100_000 {
		t.Errorf("the event has %d bytes", len(end.Output))
	}
	_, end = callOnce(p, use("exec_command", `{"cmd":"seq 20000"}`))
	if got := p.told(end); !strings.HasPrefix(got, unified("exited with code 0", 27224, "1\n2\n")) || !strings.Contains(got, "WARNING: Tool output was truncated") || len(got) > 31_000 {
		t.Errorf("told %d characters: %s", len(got), got)
	}
	_, end = callOnce(p, use("exec_command", `{"cmd":"seq 1000"}`)) // K-41: no cap on lines
	if got := p.told(end); got != unified("exited with code 0", 974, numbers(1, 1000)+"\n") {
		t.Errorf("told %s", got)
	}
	for wanted, want := range map[int]int{15_000: 60_000, 20_000: 80_000, 90_000: 80_000} {
		_, end = callOnce(p, use("exec_command", fmt.Sprintf(`{"cmd":"seq -s, 20000","max_output_tokens":%d}`, wanted)))
		if got := len(p.told(end)); got < want || got > want+400 {
			t.Errorf("%d characters for %d tokens", got, wanted)
		}
	}
	_, end = callOnce(p, use("exec_command", `{"cmd":"yes ä | head -c 3000 | tr -d '\\n'","max_output_tokens":10}`))
	if got := p.told(end); !strings.Contains(got, "\nOutput:\nää") || strings.Contains(got, "\uFFFD") {
		t.Errorf("told %s", got)
	}
}

// Every provider's models are told which shell runs their commands.
func TestShellIsNamedByPlatform(t *testing.T) {
	t.Parallel()
	local, err := env.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	registry, err := agent.NewRegistry(productTools(local)...)
	if err != nil {
		t.Fatal(err)
	}
	for platform, want := range map[string]string{
		"linux": "in bash and returns", "windows": "in cmd.exe, which takes a single line, and returns",
	} {
		profiles := profile.New(registry, profile.Surroundings{Platform: platform})
		for _, provider := range []string{"openai", "anthropic", "gemini", "compat"} {
			tools := profiles.Profile(provider, "m").Tools
			for _, d := range tools.Definitions() {
				if tools.Canonical(d.Name) == "Bash" && !strings.Contains(d.Description, want) {
					t.Errorf("%s on %s: %s", provider, platform, d.Description)
				}
			}
		}
	}
}

// LOOP-29: on Windows only the shell that waits for its commands exists; write_stdin follows
// those that outlive their limit.
func TestShellsOfOpenAIByPlatform(t *testing.T) {
	t.Parallel()
	local, err := env.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	registry, err := agent.NewRegistry(productTools(local)...)
	if err != nil {
		t.Fatal(err)
	}
	for platform, want := range map[string]string{
		"linux": "exec_command write_stdin apply_patch", "darwin": "exec_command write_stdin apply_patch", "windows": "shell_command write_stdin apply_patch",
	} {
		tools := profile.New(registry, profile.Surroundings{Platform: platform}).Profile("openai", "m").Tools
		if got := strings.Join(tools.Names(), " "); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", platform, got)
		}
		for _, name := range []string{"exec_command", "shell_command", "shell", "local_shell", "Bash"} {
			if tools.Canonical(name) != "Bash" {
				t.Errorf("%s: %s is not understood", platform, name)
			}
		}
	}
}

// LOOP-31, LOOP-111: a background command of Gemini's models is listed, read
// and stopped by its number.
func TestGeminiBackground(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "gemini", "", nil)
	t.Cleanup(func() { p.cleanUp() })
	walk(t, p,
		step{use("run_shell_command", `{"command":"seq 200; sleep 300","is_background":true,"delay_ms":1000}`),
			"Output: " + numbers(1, 200) + "\nBackground PIDs: 1"},
		step{use("list_background_processes", `{}`), "1 (seq 200; sleep 300), running"},
		step{use("read_background_output", `{"pid":1,"delay_ms":1}`), "Output: (empty)\nBackground PIDs: 1"},
		step{use("read_background_output", `{"pid":7}`), `there is no background command "7"; they are: 1 (seq 200; sleep 300), running.`},
		step{use("stop_background_process", `{"pid":1}`), "Output: (empty)\nExit Code: 143\n[Task 1 was stopped.]"},
		step{use("run_shell_command", `{"command":"echo over; exit 3","is_background":true,"delay_ms":30000}`), "Output: over\nExit Code: 3"},
		step{use("run_shell_command", `{"command":"sleep 0.5; seq 200","is_background":true,"delay_ms":1}`), "Output: (empty)\nBackground PIDs: 3"},
		step{use("read_background_output", `{"pid":3,"delay_ms":30000}`), "Output: [100 lines before this.]\n" + numbers(101, 200) + "\nExit Code: 0"},
		step{use("run_shell_command", `{"command":"sleep 300 & echo on"}`),
			"Output: on\n[A process was left running in the background; what it prints from now on is lost. To keep it, use is_background.]"},
	)
}

func numbers(from, to int) string {
	var lines []string
	for i := from; i <= to; i++ {
		lines = append(lines, fmt.Sprint(i))
	}
	return strings.Join(lines, "\n")
}
