package workbench_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// dialect has the calls of the matrix in the form of one vendor's models.
type dialect struct {
	provider, model string
	create          func(path, text string) llmtest.Call
	edit            func(path, before, after string) llmtest.Call
	read            func(path string) llmtest.Call
	shell           func(command string, timeoutMs int) llmtest.Call
	grep            func(pattern, path string) llmtest.Call // everywhere without a path
	glob            func(pattern string) llmtest.Call
	spawn           func(task string) llmtest.Call
	wait            func(id string) llmtest.Call
	// effort matches the part of the request that asks for much thought.
	effort string
}

type args = map[string]any

var dialects = []dialect{
	{
		provider: "openai", model: "gpt-6.1-sol",
		create: func(path, text string) llmtest.Call {
			return llmtest.Custom("apply_patch", "*** Begin Patch\n*** Add File: "+path+"\n+"+strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n+")+"\n*** End Patch")
		},
		edit: func(path, before, after string) llmtest.Call {
			return llmtest.Custom("apply_patch", "*** Begin Patch\n*** Update File: "+path+"\n@@\n-"+before+"\n+"+strings.ReplaceAll(after, "\n", "\n+")+"\n*** End Patch")
		},
		read: func(path string) llmtest.Call { return llmtest.Use("read_file", args{"file_path": path}) },
		shell: func(command string, timeout int) llmtest.Call {
			return llmtest.Use("exec_command", limited(args{"cmd": command}, "yield_time_ms", timeout))
		},
		grep: func(pattern, path string) llmtest.Call {
			return llmtest.Use("grep", within(args{"pattern": pattern}, "path", path))
		},
		glob: func(pattern string) llmtest.Call { return llmtest.Use("glob", args{"pattern": pattern}) },
		spawn: func(task string) llmtest.Call {
			return llmtest.Use("spawn_agent", args{"task": task, "model": "helper"})
		},
		wait:   func(id string) llmtest.Call { return llmtest.Use("wait", args{"agent_id": id}) },
		effort: `"effort":"high"`,
	},
	{
		provider: "anthropic", model: "claude-sonnet-5-5",
		create: func(path, text string) llmtest.Call {
			return llmtest.Use("Write", args{"file_path": path, "content": text})
		},
		edit: func(path, before, after string) llmtest.Call {
			return llmtest.Use("Edit", args{"file_path": path, "old_string": before, "new_string": after})
		},
		read: func(path string) llmtest.Call { return llmtest.Use("Read", args{"file_path": path}) },
		shell: func(command string, timeout int) llmtest.Call {
			return llmtest.Use("Bash", limited(args{"command": command}, "timeout", timeout))
		},
		grep: func(pattern, path string) llmtest.Call {
			return llmtest.Use("Grep", within(args{"pattern": pattern}, "path", path))
		},
		glob: func(pattern string) llmtest.Call { return llmtest.Use("Glob", args{"pattern": pattern}) },
		spawn: func(task string) llmtest.Call {
			return llmtest.Use("SpawnAgent", args{"task": task, "model": "helper"})
		},
		wait:   func(id string) llmtest.Call { return llmtest.Use("Wait", args{"agent_id": id}) },
		effort: `"effort":"high"`,
	},
	{
		provider: "gemini", model: "gemini-4-argon",
		create: func(path, text string) llmtest.Call {
			return llmtest.Use("write_file", args{"file_path": path, "content": text})
		},
		edit: func(path, before, after string) llmtest.Call {
			return llmtest.Use("replace", args{"file_path": path, "old_string": before, "new_string": after, "instruction": "as asked"})
		},
		read: func(path string) llmtest.Call { return llmtest.Use("read_file", args{"file_path": path}) },
		shell: func(command string, timeout int) llmtest.Call {
			return llmtest.Use("run_shell_command", limited(args{"command": command}, "timeout_ms", timeout))
		},
		grep: func(pattern, path string) llmtest.Call {
			return llmtest.Use("grep_search", within(args{"pattern": pattern}, "dir_path", path))
		},
		glob: func(pattern string) llmtest.Call { return llmtest.Use("glob", args{"pattern": pattern}) },
		spawn: func(task string) llmtest.Call {
			return llmtest.Use("spawn_agent", args{"task": task, "model": "helper"})
		},
		wait:   func(id string) llmtest.Call { return llmtest.Use("wait", args{"agent_id": id}) },
		effort: `"thinkingLevel":"HIGH"`,
	},
}

// named returns the member of a call whose name has a prefix.
func named(call llmtest.Call, prefix string) string {
	var in args
	if err := json.Unmarshal([]byte(call.Arguments), &in); err != nil {
		return err.Error()
	}
	for name := range in {
		if strings.HasPrefix(name, prefix) {
			return name
		}
	}
	return ""
}

// limited adds a time limit, 0 for none.
func limited(in args, name string, timeout int) args {
	if timeout > 0 {
		in[name] = timeout
	}
	return in
}

// within adds a path, unless it is empty.
func within(in args, name, path string) args {
	if path != "" {
		in[name] = path
	}
	return in
}

// cell is one row of the matrix for one vendor: a session that is allowed
// everything, over the vendor's own wire format.
type cell struct {
	*page
	dialect
	server  *llmtest.Server
	session string
}

func newCell(t *testing.T, d dialect, changes ...func(*workbench.Config)) *cell {
	t.Helper()
	server := llmtest.Serve(t)
	getenv := func(name string) string {
		switch name {
		case "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "COMPAT_API_KEY":
			return "sk-test"
		case "OPENAI_BASE_URL", "COMPAT_BASE_URL":
			return server.URL
		case "ANTHROPIC_BASE_URL", "GEMINI_BASE_URL":
			return server.Root
		}
		return ""
	}
	p := openPage(t, t.TempDir(), t.TempDir(), getenv, func(s *storage.Store) backend.Store { return s }, changes...)
	c := &cell{page: p, dialect: d, server: server}
	c.session = must[backend.SessionInfo](p, "sessions.create", backend.Empty{}).ID
	c.configure(agent.Settings{Provider: d.provider, Model: d.model, Mode: agent.ModeBypass})
	return c
}

func (c *cell) configure(set agent.Settings) {
	c.t.Helper()
	must[backend.SessionInfo](c.page, "conversation.configure", conversation.ConfigureRequest{Session: c.session, Settings: set})
	await(c.page, func(s agent.SettingsChange) bool { return s.Settings == set })
}

// says scripts an answer with calls.
func (c *cell) says(calls ...llmtest.Call) {
	c.server.Script(c.model, llmtest.Round{Calls: calls})
}

// turn runs one input whose last answer is text, and returns the ends of its
// calls.
func (c *cell) turn(input string) (ends []agent.ToolCallEnd) {
	c.t.Helper()
	c.server.Script(c.model, llmtest.Round{Text: "Done."})
	c.mu.Lock()
	c.events = nil
	c.mu.Unlock()
	c.send(c.session, input)
	for deadline := time.After(patience); ; c.more(deadline, "the end of the turn") {
		c.mu.Lock()
		events := c.events
		c.mu.Unlock()
		ends = ends[:0]
		for _, ev := range events {
			switch d := ev.Data.(type) {
			case agent.ToolCallEnd:
				ends = append(ends, d)
			case agent.ProcessingEnd:
				if d.Reason != agent.EndDone {
					c.t.Fatalf("the turn ended as %s: %+v", d.Reason, events)
				}
				return ends
			}
		}
	}
}

func (c *cell) put(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.folder, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cell) holds(name, want string) {
	c.t.Helper()
	if b, err := os.ReadFile(filepath.Join(c.folder, name)); err != nil || string(b) != want {
		c.t.Errorf("%s holds %q, want %q (%v)", name, b, want, err)
	}
}

// last returns the body of the newest request.
func (c *cell) last() string {
	requests := c.server.Requests()
	return string(requests[len(requests)-1].Body)
}

func (c *cell) fine(ends []agent.ToolCallEnd, n int) {
	c.t.Helper()
	if len(ends) != n {
		c.t.Fatalf("%d calls ended, want %d", len(ends), n)
	}
	for _, e := range ends {
		if e.IsError {
			c.t.Errorf("%s: %s", e.Tool, e.Output)
		}
	}
}

// matrix are the rows of the parity matrix.
var matrix = map[string]func(*cell){
	"LOOP-161 create a file": func(c *cell) {
		c.says(c.create("a.txt", "one\n"))
		c.fine(c.turn("create a.txt"), 1)
		c.holds("a.txt", "one\n")
	},
	"LOOP-162 read, then edit": func(c *cell) {
		c.put("a.txt", "one\ntwo\n")
		c.says(c.read("a.txt"))
		c.says(c.edit("a.txt", "two", "three"))
		c.fine(c.turn("change it"), 2)
		c.holds("a.txt", "one\nthree\n")
	},
	"LOOP-163 several files": func(c *cell) {
		c.put("a.txt", "a\n")
		c.put("b.txt", "b\n")
		c.says(c.read("a.txt"), c.read("b.txt"))
		c.says(c.edit("a.txt", "a", "A"), c.edit("b.txt", "b", "B"))
		c.fine(c.turn("change both"), 4)
		c.holds("a.txt", "A\n")
		c.holds("b.txt", "B\n")
	},
	"LOOP-164 a command": func(c *cell) {
		c.says(c.shell("echo from the shell", 0))
		ends := c.turn("run it")
		c.fine(ends, 1)
		if ends[0].Tool != "Bash" || !strings.Contains(ends[0].Output, "from the shell") || !strings.Contains(c.last(), "from the shell") {
			c.t.Errorf("%+v", ends[0])
		}
	},
	"LOOP-165 a command that takes too long": func(c *cell) {
		if c.provider == "openai" { // its calls end before its commands
			c.outlived()
			return
		}
		c.outlasts()
	},
	"LOOP-166 search": func(c *cell) {
		c.put("a.go", "package needle\n")
		c.put("b.txt", "hay\n")
		c.put("sub/c.go", "package needle\n")
		c.says(c.grep("needle", ""))
		c.says(c.grep("needle", "sub"))
		c.says(c.glob("*.go"))
		ends := c.turn("find it")
		c.fine(ends, 3)
		for i, want := range []string{"a.go sub/c.go", "sub/c.go", "a.go"} {
			var found []string
			for _, name := range []string{"a.go", "b.txt", "sub/c.go"} {
				if strings.Contains(ends[i].Output, name) {
					found = append(found, name)
				}
			}
			if got := strings.Join(found, " "); got != want {
				c.t.Errorf("%s found %q, want %q: %s", ends[i].Tool, got, want, ends[i].Output)
			}
		}
	},
	"LOOP-167 several steps": func(c *cell) {
		c.put("a.go", "package a\n\nconst size = 1\n")
		c.says(c.grep("size", ""))
		c.says(c.read("a.go"))
		c.says(c.edit("a.go", "const size = 1", "const size = 2"))
		c.says(c.shell("grep -c 'size = 2' a.go", 0))
		c.fine(c.turn("make it bigger"), 4)
		c.holds("a.go", "package a\n\nconst size = 2\n")
	},
	"LOOP-168 a large file": func(c *cell) {
		c.put("large.txt", strings.Repeat(strings.Repeat("x", 59)+"\n", 1800))
		c.says(c.read("large.txt"))
		ends := c.turn("read it")
		if len(ends) != 1 || ends[0].Size < 100_000 || !strings.Contains(c.last(), "truncated") || 10*strings.Count(c.last(), strings.Repeat("x", 10)) > 60_000 {
			c.t.Errorf("%d bytes in the event, %d in the request", ends[0].Size, len(c.last()))
		}
	},
	"LOOP-169 calls side by side": func(c *cell) {
		var calls []llmtest.Call
		for i := range 3 {
			c.put(fmt.Sprintf("%d.txt", i), fmt.Sprintf("content %d\n", i))
			calls = append(calls, c.read(fmt.Sprintf("%d.txt", i)))
		}
		c.says(calls...)
		c.fine(c.turn("read all"), 3)
		var order []agent.Kind // all have begun before one ends
		c.mu.Lock()
		events := c.events
		c.mu.Unlock()
		for _, ev := range events {
			if k := ev.Kind(); k == agent.KindToolCallStart || k == agent.KindToolCallEnd {
				order = append(order, k)
			}
		}
		if !slices.Equal(order, slices.Concat(slices.Repeat([]agent.Kind{agent.KindToolCallStart}, 3), slices.Repeat([]agent.Kind{agent.KindToolCallEnd}, 3))) {
			c.t.Errorf("the calls ran as %v", order)
		}
		body, at := c.last(), 0
		for i := range 3 { // in the order of the calls
			next := strings.Index(body[at:], fmt.Sprintf("content %d", i))
			if next < 0 {
				c.t.Fatalf("the result of call %d is in the wrong place", i)
			}
			at += next
		}
	},
	"LOOP-171 another effort": func(c *cell) {
		c.turn("hello")
		if strings.Contains(c.last(), c.effort) {
			c.t.Fatal("the request already asks for much thought")
		}
		c.configure(agent.Settings{Provider: c.provider, Model: c.model, Mode: agent.ModeBypass, Effort: llm.EffortHigh})
		c.turn("think")
		if !strings.Contains(c.last(), c.effort) {
			c.t.Errorf("the effort is not in %s", c.last())
		}
	},
	"LOOP-173 a model that repeats itself": func(c *cell) {
		c.put("a.txt", "a\n")
		for range 11 {
			c.says(c.read("a.txt"))
		}
		c.fine(c.turn("read it"), 11)
		if !strings.Contains(c.last(), "Your last 10 tool calls repeat") {
			c.t.Error("the model was not told")
		}
	},
	"LOOP-174 a failed call": func(c *cell) {
		c.put("right.txt", "here\n")
		c.says(c.read("wrong.txt"))
		c.says(c.read("right.txt"))
		ends := c.turn("read it")
		if len(ends) != 2 || !ends[0].IsError || ends[1].IsError || !strings.Contains(ends[0].Output, "wrong.txt does not exist") || !strings.Contains(c.last(), "wrong.txt does not exist") {
			c.t.Errorf("%+v", ends)
		}
	},
	"LOOP-175 the vendor's own form of an edit": func(c *cell) {
		c.put("a.txt", "one\n  two\nthree\n")
		c.says(c.read("a.txt"))
		c.says(c.edit("a.txt", "  two", "  2\n  and a half"))
		ends := c.turn("change it")
		c.fine(ends, 2)
		c.holds("a.txt", "one\n  2\n  and a half\nthree\n")
		if ends[1].Details == nil {
			c.t.Error("the difference is not shown")
		}
	},
}

// LOOP-109, LOOP-110, LOOP-111: the parity matrix holds in every row for every
// vendor, over its wire format, with the tools that its models know.
func TestParity(t *testing.T) {
	t.Parallel()
	for row, test := range matrix {
		for _, d := range dialects {
			t.Run(row+"/"+d.provider, func(t *testing.T) {
				t.Parallel()
				test(newCell(t, d))
			})
		}
	}
}

// LOOP-170, LOOP-185: a steering message reaches the model after the running tools.
func TestParityOfSteering(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.provider, func(t *testing.T) {
			t.Parallel()
			c := newCell(t, d)
			c.configure(agent.Settings{Provider: d.provider, Model: d.model, Mode: agent.ModeDefault})
			c.says(c.create("a.txt", "a\n"))
			c.send(c.session, "create it")
			request := await(c.page, anyOf[agent.ApprovalRequest])
			c.queue(c.session, agent.Steer, "only the header")
			c.server.Script(c.model, llmtest.Round{Text: "Done."})
			c.allow(c.session, request)
			await(c.page, anyOf[agent.ProcessingEnd])
			called, steered := strings.LastIndex(c.last(), "a.txt"), strings.Index(c.last(), "only the header")
			if called < 0 || steered < called {
				t.Errorf("the model reads %s", c.last())
			}
			c.holds("a.txt", "a\n")
			if n := strings.Count(c.last(), "only the header"); n != 1 {
				t.Errorf("the model is told %d times", n)
			}
		})
	}
}

// LOOP-172, LOOP-186: a subagent is started and awaited.
func TestParityOfSubagents(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.provider, func(t *testing.T) {
			t.Parallel()
			c := newCell(t, d)
			c.server.Script("helper", llmtest.Round{Calls: []llmtest.Call{c.create("bug_test.txt", "line 7\n")}}, llmtest.Round{Text: "It is on line 7."})
			c.says(c.spawn("Find the bug."))
			c.send(c.session, "find the bug")
			child, _ := agentOf(c.page, "Agent")
			c.says(c.wait(child))
			c.server.Script(c.model, llmtest.Round{Text: "Line 7."})
			await(c.page, func(e agent.TextEnd) bool { return e.Message.Text() == "Line 7." })
			if !strings.Contains(c.last(), "It is on line 7.") {
				t.Errorf("the report is not in %s", c.last())
			}
			c.holds("bug_test.txt", "line 7\n")
			if ends := log[agent.ToolCallEnd](c.page, child); len(ends) != 1 || ends[0].IsError {
				t.Errorf("the agent's calls: %+v", ends)
			}
		})
	}
}

// The smoke list of the specification holds for every vendor.
func TestSmoke(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.provider, func(t *testing.T) {
			t.Parallel()
			c := newCell(t, d)
			// LOOP-181
			c.says(c.create("hello.py", "print(\"Hello\")\n"))
			c.fine(c.turn("Create hello.py that prints Hello"), 1)
			c.holds("hello.py", "print(\"Hello\")\n")
			// LOOP-182
			c.says(c.read("hello.py"))
			c.says(c.edit("hello.py", `print("Hello")`, "print(\"Hello\")\nprint(\"Goodbye\")"))
			c.fine(c.turn("Print Goodbye, too"), 2)
			c.holds("hello.py", "print(\"Hello\")\nprint(\"Goodbye\")\n")
			// LOOP-183: by Python, or by a similar program if there is none.
			c.says(c.shell(`python3 hello.py 2>/dev/null || sed 's/print("\(.*\)")/\1/' hello.py`, 0))
			if ends := c.turn("Run it"); len(ends) != 1 || !strings.Contains(ends[0].Output, "Hello\nGoodbye") {
				t.Errorf("ran %+v", ends)
			}
			// LOOP-184
			c.put("big.txt", strings.Repeat(strings.Repeat("y", 99)+"\n", 1000))
			c.says(c.read("big.txt"))
			if ends := c.turn("Read big.txt"); len(ends) != 1 || ends[0].Size < 100_000 || !strings.Contains(c.last(), "were removed") {
				t.Errorf("read %+v", ends[0].Size)
			}
			// LOOP-187, K-44: a call without a limit has the vendor's own.
			if want := map[string]string{"openai": "10000 if left out", "anthropic": "120000", "gemini": "2 minutes"}[d.provider]; !strings.Contains(c.last(), want) {
				t.Errorf("no limit of %s is told", want)
			}
			if d.provider == "openai" {
				c.outlived()
				return
			}
			c.says(c.shell("sleep 30", 10))
			if ends := c.turn("Sleep"); len(ends) != 1 || !ends[0].IsError || !strings.Contains(c.last(), "timed out") {
				t.Errorf("slept %+v", ends)
			}
		})
	}
}
