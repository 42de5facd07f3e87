package workbench_test

import (
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// running has the calls of one vendor's models for commands that run on.
type running struct {
	start func(command string) llmtest.Call
	read  func(id string) llmtest.Call
	stop  func(id string) llmtest.Call
	// told matches the text that tells the model the id.
	told string
}

var runningOf = map[string]running{
	"openai": {
		start: func(command string) llmtest.Call {
			return llmtest.Use("exec_command", args{"cmd": command, "yield_time_ms": 1000})
		},
		// A mere wait takes five seconds, so harmless text is typed to a
		// program that does not read.
		read: func(id string) llmtest.Call {
			return llmtest.Use("write_stdin", args{"session_id": id, "chars": "\x03", "yield_time_ms": 1000})
		},
		stop: func(id string) llmtest.Call {
			return llmtest.Use("write_stdin", args{"session_id": id, "chars": "\x03", "yield_time_ms": 30_000})
		},
		told: "session ID 1",
	},
	"anthropic": {
		start: func(command string) llmtest.Call {
			return llmtest.Use("Bash", args{"command": command, "run_in_background": true})
		},
		read: func(id string) llmtest.Call { return llmtest.Use("TaskOutput", args{"id": id, "wait_ms": 1000}) },
		stop: func(id string) llmtest.Call { return llmtest.Use("TaskStop", args{"id": id}) },
		told: "as task 1",
	},
	"gemini": {
		start: func(command string) llmtest.Call {
			return llmtest.Use("run_shell_command", args{"command": command, "is_background": true})
		},
		read: func(id string) llmtest.Call {
			return llmtest.Use("read_background_output", args{"pid": id, "delay_ms": 1000})
		},
		stop: func(id string) llmtest.Call { return llmtest.Use("stop_background_process", args{"pid": id}) },
		told: "Background PIDs: 1",
	},
}

// LOOP-26, LOOP-164: a server is started, read and stopped in each vendor's
// form, and no process is left.
func TestParityOfServers(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.provider, func(t *testing.T) {
			t.Parallel()
			token, r := rand.Text(), runningOf[d.provider]
			c := newCell(t, d)
			// The program asks a question at the first interrupt and ends at
			// the second. Both are traps, because bash drops an interrupt that
			// arrives while the command it waits for ends well.
			c.says(r.start("bash -c 'trap \"trap exit INT; echo asked\" INT; echo listening; while true; do sleep 0.1; done; : " + token + "'"))
			ends := c.turn("serve")
			c.fine(ends, 1)
			if carrying(t, token) == 0 || !strings.Contains(c.last(), r.told) {
				t.Fatalf("nothing runs on: %s", ends[0].Output)
			}
			printed := ends[0].Output
			c.says(r.read("1"))
			ends = c.turn("look")
			c.fine(ends, 1)
			if printed += ends[0].Output; !strings.Contains(printed, "listening\n") || d.provider == "openai" && !strings.Contains(printed, "asked\n") {
				t.Errorf("the server printed %q", printed)
			}
			if carrying(t, token) == 0 {
				t.Error("reading its output ended the server")
			}
			c.says(r.stop("1"))
			c.fine(c.turn("stop"), 1)
			if n := carrying(t, token); n > 0 {
				t.Errorf("%d processes are left", n)
			}
		})
	}
}

// result returns the newest result of a call in the newest request to OpenAI.
func (c *cell) result() (output string) {
	c.t.Helper()
	var request struct {
		Input []struct{ Type, Output string }
	}
	if err := json.Unmarshal([]byte(c.last()), &request); err != nil {
		c.t.Fatal(err)
	}
	for _, item := range request.Input {
		if item.Type == "function_call_output" {
			output = item.Output
		}
	}
	return output
}

// outlived tests a command that runs on after OpenAI's call has returned, until
// the model interrupts it.
func (c *cell) outlived() {
	c.t.Helper()
	c.says(c.shell("echo begun; sleep 30", 300))
	c.fine(c.turn("run it"), 1)
	told := c.result()
	_, id, _ := strings.Cut(told, "Process running with session ID ")
	id, _, running := strings.Cut(id, "\n")
	if !running || !strings.HasSuffix(told, "begun\n") {
		c.t.Fatalf("the model is told %q", told)
	}
	c.says(llmtest.Use("write_stdin", args{"session_id": id, "chars": "\x03", "yield_time_ms": 30_000}))
	c.turn("stop it")
	if told := c.result(); !strings.Contains(told, "Process exited with code ") {
		c.t.Errorf("after an interrupt the model is told %q", told)
	}
}

// LOOP-29, LOOP-109: OpenAI's models wait for a command, interrupt one, and
// type to one on a terminal, over their wire format.
func TestUnifiedShell(t *testing.T) {
	t.Parallel()
	c := newCell(t, dialects[0])
	token := rand.Text()
	typed := func(id int, chars string) llmtest.Call {
		return llmtest.Use("write_stdin", args{"session_id": id, "chars": chars, "yield_time_ms": 1000})
	}
	for _, step := range []struct {
		call llmtest.Call
		told []string // to the model
	}{
		{llmtest.Use("exec_command", args{"cmd": "sleep 1; echo built; : " + token, "yield_time_ms": 250}), []string{"running with session ID 1"}},
		{llmtest.Use("write_stdin", args{"session_id": 1}), []string{"exited with code 0", "built"}},
		{llmtest.Use("exec_command", args{"cmd": "sleep 300; : " + token, "yield_time_ms": 250}), []string{"running with session ID 2"}},
		{typed(2, "x"), []string{"start it again with tty"}},
		{typed(2, "\x03"), []string{"exited with code 130"}},
		{llmtest.Use("exec_command", args{"cmd": "PS1='ready> ' bash --norc -i; : " + token, "yield_time_ms": 1000, "tty": true}), []string{"running with session ID 3", "ready> "}},
		{typed(3, "sleep 300\n"), []string{"running with session ID 3"}},
		{typed(3, "\x03"), []string{"running with session ID 3", "^C", "ready> "}},
		{typed(3, "echo $((6 * 7))\n"), []string{"running with session ID 3", "42"}},
		{typed(3, "\x04"), []string{"exited with code 0"}},
	} {
		c.says(step.call)
		c.turn("go on")
		for _, want := range step.told {
			if told := c.result(); !strings.Contains(told, want) || strings.Contains(told, "\x1b") {
				t.Errorf("%s %s: told %q, want %q", step.call.Name, step.call.Arguments, told, want)
			}
		}
	}
	if n := carrying(t, token); n > 0 {
		t.Errorf("%d processes are left", n)
	}
}

// The approval of a command for another directory names that directory.
func TestApprovalSaysWhere(t *testing.T) {
	t.Parallel()
	c := newCell(t, dialects[0])
	c.configure(agent.Settings{Provider: c.provider, Model: c.model, Mode: agent.ModeDefault})
	c.says(llmtest.Use("exec_command", args{"cmd": "pwd", "workdir": "/"}))
	c.server.Script(c.model, llmtest.Round{Text: "Done."})
	c.send(c.session, "look")
	request := await(c.page, anyOf[agent.ApprovalRequest])
	if request.Access.Command != "pwd" || request.Access.Dir != "/" {
		t.Errorf("asked about %+v", request.Access)
	}
	c.allow(c.session, request)
	if end := await(c.page, anyOf[agent.ToolCallEnd]); end.Output != "/\n" {
		t.Errorf("the command ran in %q", end.Output)
	}
}

// outlasts tests commands that take longer than they may, where calls wait for their end: one
// that only waits is ended, and any other goes on as a task (OAS-306).
func (c *cell) outlasts() {
	c.t.Helper()
	c.says(c.shell("sleep 30", 300))
	ends := c.turn("wait")
	if len(ends) != 1 || !ends[0].IsError || !strings.Contains(c.last(), "timed out") ||
		!strings.Contains(c.last(), "by setting the "+named(c.shell("", 1), "timeout")+" parameter.") {
		c.t.Errorf("%+v", ends)
	}
	r := runningOf[c.provider]
	c.says(c.shell("echo begun; sleep 30", 300))
	ends = c.turn("run it")
	if len(ends) != 1 || ends[0].IsError || !strings.Contains(ends[0].Output, "begun") || !strings.Contains(c.last(), r.told) ||
		!strings.Contains(c.last(), r.read("1").Name+" reads what it prints") || !strings.Contains(c.last(), r.stop("1").Name+" ends it") {
		c.t.Errorf("%+v\n%s", ends, c.last())
	}
	c.says(r.stop("1"))
	c.fine(c.turn("stop it"), 1)
}
