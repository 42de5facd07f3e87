package lsp

import (
	"bufio"
	"context"
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
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/agent/sandbox/confine"
	"github.com/charmbracelet/x/powernap/pkg/lsp/protocol"
)

// project is a project with a file of the language toy, whose server behaves as told.
type project struct {
	*Servers
	tool agent.Tool
	env  env.Environment
	dir  string
}

func newProject(t *testing.T, how string, change func(*Config)) *project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	toy := Language{
		Name: "Toy", IDs: ids("toy", ".toy"), Markers: []string{"toy.json"}, Definition: `\bdef\s+NAME\b`,
		Servers: []Command{{Program: program, Env: []string{behaviour + "=" + how}}},
	}
	if how == "" {
		toy.Servers = []Command{{Program: "there-is-no-such-server"}}
	}
	cfg := Config{Languages: func(context.Context) []Language { return []Language{toy} }}
	if change != nil {
		change(&cfg)
	}
	p := &project{Servers: New(cfg), dir: dir}
	p.times = times{start: 20 * time.Second, request: 20 * time.Second, leave: time.Second, memory: 20 * time.Millisecond}
	t.Cleanup(p.Close)
	p.write(t, "a.toy", "# adds\ndef alpha(x)\n  beta(x)\n  gamma()\ndef beta(y)\nend\n")
	p.write(t, "toy.json", "{}")
	if p.env, err = env.NewLocal(dir); err != nil {
		t.Fatal(err)
	}
	p.tool = Tool(p.Servers, p.env)
	return p
}

func (p *project) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func (p *project) ask(t *testing.T, in Input) agent.Result {
	t.Helper()
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return p.tool.Run(t.Context(), agent.Invocation{Input: text, Output: func(string) {}})
}

// needed returns what is known of the servers that were needed.
func (p *project) needed(t *testing.T) []Status {
	return slices.DeleteFunc(p.Status(t.Context()), func(s Status) bool { return s.Root == "" })
}

var defined = Input{Operation: Definition, File: "a.toy", Line: 2, Character: 3}

// OAS-326, OC-01, K-25: whatever a server does, the question is answered, and the result
// says by whom.
func TestServersThatMisbehave(t *testing.T) {
	t.Parallel()
	for how, tt := range map[string]struct {
		change func(*project)
		want   []string
	}{
		"works":      {nil, []string{"[Answered by ", "a.toy:2:6: def alpha(x)"}},
		"asks":       {nil, []string{"[Answered by ", "a.toy:2:6"}},
		"elsewhere":  {nil, []string{"[Answered by ", "/etc/passwd:1:1"}},
		"":           {nil, []string{"no language server for Toy was found", "a.toy:5:def beta(y)"}},
		"start-dies": {nil, []string{"it ended with code 3: no licence", "a.toy:5:def beta(y)"}},
		"init-hangs": {func(p *project) { p.times.start = 300 * time.Millisecond }, []string{"did not answer in time", "def beta"}},
		"hangs":      {func(p *project) { p.times.request = 300 * time.Millisecond }, []string{"did not answer in time", "def beta"}},
		"dies":       {nil, []string{"it ended with code 4", "def beta"}},
		"floods":     {nil, []string{"Found by a search", "def beta"}},
		"huge":       {nil, []string{"Found by a search", "def beta"}},
		"prints":     {nil, []string{"Found by a search", "def beta"}},
		"refuses":    {nil, []string{"not today", "def beta"}},
		"nonsense":   {nil, []string{"read the language server's answer", "def beta"}},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, how, nil)
			if tt.change != nil {
				tt.change(p)
			}
			got := p.ask(t, defined)
			for _, want := range tt.want {
				if got.IsError || !strings.Contains(got.Output, want) {
					t.Errorf("it answered %v %q, without %q", got.IsError, got.Output, want)
				}
			}
			if strings.Contains(got.Output, "root:") {
				t.Errorf("the line of a file outside of the project is shown: %q", got.Output)
			}
		})
	}
}

// A server that fails again and again is given up for a while, and what it said is told.
func TestServerIsGivenUp(t *testing.T) {
	t.Parallel()
	p := newProject(t, "start-dies", nil)
	for range maxStarts {
		p.ask(t, defined)
	}
	if got := p.ask(t, defined); !strings.Contains(got.Output, "failed 3 times") || !strings.Contains(got.Output, "no licence") {
		t.Errorf("it answered %q", got.Output)
	}
	if s := p.needed(t); len(s) != 1 || s[0].Err == nil || s[0].PID != 0 {
		t.Errorf("status: %+v", s)
	}
}

// A server that died is started again at the next question, and there is one for a root.
func TestOneServerForARoot(t *testing.T) {
	t.Parallel()
	p := newProject(t, "works", nil)
	p.ask(t, defined)
	first := p.needed(t)[0].PID
	p.write(t, "sub/b.toy", "def sub\nsub\n")
	if p.ask(t, Input{Operation: Definition, File: "sub/b.toy"}); len(p.needed(t)) != 1 || p.needed(t)[0].PID != first {
		t.Errorf("status: %+v", p.needed(t))
	}
	p.write(t, "sub/toy.json", "{}")
	if p.ask(t, Input{Operation: Definition, File: "sub/b.toy"}); len(p.needed(t)) != 2 {
		t.Errorf("status: %+v", p.needed(t))
	}
	at := p.slots[key{p.dir, "Toy"}]
	at.server.end()
	<-at.server.over
	if got := p.ask(t, defined); !strings.Contains(got.Output, "[Answered by") || p.needed(t)[0].PID == first {
		t.Errorf("after its end: %q", got.Output)
	}
}

// serverOf returns the server of a project's folder.
func serverOf(p *project) *server {
	p.mu.Lock()
	at := p.slots[key{p.dir, "Toy"}]
	p.mu.Unlock()
	at.mu.Lock()
	defer at.mu.Unlock()
	return at.server
}

// A server that nobody needs ends, as does the least recently used of too many, and none
// is left when all are closed.
func TestServersEnd(t *testing.T) {
	t.Parallel()
	running := func(p *project) (n int) {
		for _, s := range p.needed(t) {
			if s.PID != 0 {
				n++
			}
		}
		return n
	}
	p := newProject(t, "stays", func(cfg *Config) { cfg.Idle = 500 * time.Millisecond })
	p.ask(t, defined)
	if s := serverOf(p); s != nil {
		<-s.process.Done()
	}
	if n := running(p); n > 0 {
		t.Errorf("%d idle servers run", n)
	}
	if got := p.ask(t, defined); !strings.Contains(got.Output, "[Answered by") {
		t.Errorf("after it was idle: %q", got.Output)
	}
	many := newProject(t, "works", nil)
	for n := range maxServers + 2 {
		many.write(t, fmt.Sprint("p", n, "/toy.json"), "{}")
		many.write(t, fmt.Sprint("p", n, "/a.toy"), "def x\n")
		many.ask(t, Input{Operation: Definition, File: fmt.Sprint("p", n, "/a.toy")})
	}
	if n := running(many); n != maxServers {
		t.Errorf("%d servers run", n)
	}
	at := many.slots[key{filepath.Join(many.dir, "p5"), "Toy"}].server
	many.Close()
	select {
	case <-at.process.Done():
	default:
		t.Error("a server is left")
	}
	if got := many.ask(t, defined); !strings.Contains(got.Output, "the program ends") {
		t.Errorf("after the end: %q", got.Output)
	}
}

// A server that takes too much memory is ended.
func TestMemory(t *testing.T) {
	t.Parallel()
	p := newProject(t, "eats", func(cfg *Config) { cfg.Memory = 200 << 20 })
	p.ask(t, defined)
	if p.needed(t)[0].Memory == 0 && p.needed(t)[0].Err == nil {
		t.Skip("it is not known here how much memory a program takes")
	}
	if s := serverOf(p); s != nil { // else it ended before it was ready
		<-s.over
	}
	if err := p.needed(t)[0].Err; !strings.Contains(err.Error(), "of memory, more than the 200 MB") {
		t.Errorf("it ended because %v", err)
	}
}

// The switch holds, and a server that may not be confined does not start.
func TestServersThatMayNotStart(t *testing.T) {
	t.Parallel()
	off := newProject(t, "works", func(cfg *Config) { cfg.Off = func(language string) bool { return language == "Toy" } })
	if got := off.ask(t, defined); !strings.Contains(got.Output, ErrOff.Error()) || !strings.Contains(got.Output, "def beta") || len(off.needed(t)) > 0 {
		t.Errorf("switched off: %q", got.Output)
	}
	free := newProject(t, "works", func(cfg *Config) {
		cfg.Confine = func(context.Context, string) (*confine.Profile, error) {
			return nil, errors.New("nothing can be confined here")
		}
	})
	if got := free.ask(t, defined); !strings.Contains(got.Output, "nothing can be confined") || free.needed(t)[0].PID != 0 {
		t.Errorf("without confinement: %q", got.Output)
	}
	if !sandbox.CanConfine(t.Context()) {
		t.Skip("nothing can be confined here")
	}
	confined := newProject(t, "works", func(cfg *Config) {
		cfg.Confine = func(_ context.Context, root string) (*confine.Profile, error) {
			program, err := os.Executable()
			return &confine.Profile{Writable: []string{root, filepath.Dir(program)}}, err // which are among temporary files
		}
	})
	if got := confined.ask(t, defined); !strings.Contains(got.Output, "[Answered by") {
		t.Errorf("confined: %q", got.Output)
	}
}

// A server cannot have the lines of files outside of the project shown.
func TestLinesOutside(t *testing.T) {
	t.Parallel()
	show := printer{"/project", func(string) []string { return []string{"text"} }}
	for path, want := range map[string]string{"/project/a.toy": "a.toy:1:1: text", "/project2/a.toy": "/project2/a.toy:1:1"} {
		if got := show.locations([]protocol.Location{{URI: protocol.URIFromPath(path)}}); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// A server has the filtered environment (K-16).
func TestEnvironment(t *testing.T) {
	t.Parallel()
	p := newProject(t, "works", func(cfg *Config) {
		cfg.Environ = func() []string { return []string{"PATH=/bin", "MY_API_KEY=secret", "PLAIN=1"} }
	})
	spec, err := p.spec(t.Context(), p.dir, Command{Program: "sh", Env: []string{"GIVEN=1"}})
	if err != nil || slices.Contains(spec.Env, "MY_API_KEY=secret") || !slices.Contains(spec.Env, "PLAIN=1") || !slices.Contains(spec.Env, "GIVEN=1") {
		t.Errorf("the environment is %v, %v", spec.Env, err)
	}
}

// What a server finds wrong with a change is told: errors first, no hints, of the text as
// it is now. The first change only starts the server.
func TestDiagnose(t *testing.T) {
	t.Parallel()
	p := newProject(t, "works", nil)
	path := filepath.Join(p.dir, "a.toy")
	if got := Diagnose(t.Context(), p.Servers, p.env, []string{path}); got != "" {
		t.Errorf("before there is a server: %q", got)
	}
	if p.stopped.Wait(); !p.running(p.languages(t.Context())[0], p.dir) {
		t.Error("the first change does not start the server")
	}
	want := "Diagnostics of the language server after this change:\na.toy:1:1: error: wrong in version 1\na.toy:1:1: warning: unused"
	if got := Diagnose(t.Context(), p.Servers, p.env, []string{path}); got != want {
		t.Errorf("the first: %q", got)
	}
	p.write(t, "a.toy", "def other\n")
	began := time.Now()
	if got := Diagnose(t.Context(), p.Servers, p.env, []string{path, filepath.Join(p.dir, "gone.toy"), "/etc/passwd"}); !strings.Contains(got, "version 2") || time.Since(began) >= diagnoseTime {
		t.Errorf("after a change, in %v: %q", time.Since(began), got)
	}
	none := newProject(t, "", nil)
	if got := Diagnose(t.Context(), none.Servers, none.env, []string{filepath.Join(none.dir, "a.toy")}); got != "" || len(none.needed(t)) > 0 {
		t.Errorf("without a server: %q", got)
	}
}

// Every operation is answered by a search, too.
func TestSearch(t *testing.T) {
	t.Parallel()
	p := newProject(t, "", nil)
	p.write(t, "b.toy", "alpha(1)\n# alpha\n")
	for operation, want := range map[Operation]string{
		Definition: "a.toy:2:def alpha(x)", PrepareCalls: "a.toy:2:def alpha(x)", References: "b.toy:1:alpha(1)", Hover: "# adds\ndef alpha(x)",
		DocumentSymbol: "line 5: def beta(y)", IncomingCalls: "b.toy:1:alpha(1)", OutgoingCalls: "beta, called in line 3\ngamma, called in line 4",
		Implementation: "No line looks like an implementation",
	} {
		got := p.ask(t, Input{Operation: operation, File: "a.toy", Line: 1, Character: 5})
		if got.IsError || !strings.Contains(got.Output, want) {
			t.Errorf("%s: %q", operation, got.Output)
		}
		if operation == IncomingCalls && strings.Contains(got.Output, "def alpha") {
			t.Errorf("the definition is a call: %q", got.Output)
		}
	}
	for query, want := range map[string]string{"Al": "a.toy:2:def alpha(x)", "zeta": "No definition has zeta"} {
		if got := p.ask(t, Input{Operation: WorkspaceSymbol, Query: query}); !strings.Contains(got.Output, want) || strings.Contains(got.Output, "beta") {
			t.Errorf("%s: %q", query, got.Output)
		}
	}
}

// Definitions are found in each language that is known.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	for path, lines := range map[string][]string{
		"a.go":    {"func x() {", "func (r *R) x(", "type x struct", "var x = 1", "const x = 1", "\tx int"},
		"a.ts":    {"export function x(", "class x {", "interface x", "type x = 1", "const x = 1", "  private async x(a: b): c {"},
		"a.py":    {"def x(", "  async def x(", "class x:", "x = 1", "x: int = 1"},
		"a.rs":    {"pub fn x(", "struct x", "impl T { const x", "macro_rules! x"},
		"a.c":     {"int x(void)", "struct x {", "#define x 1", "typedef int x;"},
		"a.java":  {"public class x", "  private static int x(", "record x("},
		"a.kt":    {"fun x(", "data class x(", "val x = 1"},
		"a.cs":    {"public class x", "  public int x(", "public string x {"},
		"a.swift": {"func x(", "let x = 1", "protocol x"},
		"a.rb":    {"def x", "  def self.x", "class x", "x = 1"},
		"a.php":   {"function x(", "class x", "$x = 1"},
		"a.zig":   {"pub fn x(", "const x ="},
		"a.lua":   {"local function x(", "function M.x(", "x = function"},
		"a.sh":    {"x() {", "function x", "x=1"},
	} {
		l, ok := LanguageOf(path, Languages)
		if !ok {
			t.Errorf("%s is of no language", path)
			continue
		}
		s := searcher{language: l}
		for _, line := range lines {
			if len(s.definitions([]string{line}, "x")) != 1 {
				t.Errorf("%s: %q does not define x", l.Name, line)
			}
		}
		if len(s.definitions([]string{"return y", "foo(y)"}, "x")) > 0 {
			t.Errorf("%s: x is defined everywhere", l.Name)
		}
	}
}

// A place is found although models count characters badly.
func TestPlaces(t *testing.T) {
	t.Parallel()
	lines := []string{"", "  foo.bar(1, 'ü𝄞', baz)", "123"}
	for _, tt := range []struct {
		in        Input
		symbol    string
		character int
	}{
		{Input{Line: 1, Character: 2}, "foo", 2}, {Input{Line: 1, Character: 0}, "foo", 2}, {Input{Line: 1, Character: 5}, "foo", 2}, {Input{Line: 1, Character: 7}, "bar", 7},
		{Input{Line: 1, Character: 999}, "baz", 19}, {Input{Line: 1, Query: "baz"}, "baz", 19}, {Input{Line: 1, Query: "none", Character: 6}, "bar", 6},
	} {
		if got, err := tt.in.placeIn(lines); err != nil || got.symbol != tt.symbol || got.character != tt.character {
			t.Errorf("%+v: %+v, %v", tt.in, got, err)
		}
	}
	for _, in := range []Input{{Line: 0}, {Line: 2}, {Line: 3}} {
		if got, err := in.placeIn(lines); err == nil {
			t.Errorf("%+v: %+v", in, got)
		}
	}
	if n := units(lines[1], 19); n != 20 {
		t.Errorf("the position is %d", n)
	}
}

// The gate learns what a question reads, and a question that makes no sense is refused.
func TestQuestions(t *testing.T) {
	t.Parallel()
	p := newProject(t, "", nil)
	access := p.tool.(agent.Accessor).Access(t.Context(), json.RawMessage(`{"operation":"hover","file_path":"/etc/x.toy"}`))
	if !slices.Equal(access.Reads, []string{p.dir, "/etc/x.toy"}) {
		t.Errorf("it reads %v", access.Reads)
	}
	for _, in := range []Input{{}, {Operation: "jump"}, {Operation: Hover}, {Operation: WorkspaceSymbol}, {Operation: Hover, File: "a", Line: -1}} {
		text, _ := json.Marshal(in)
		if p.tool.(agent.Validator).Validate(text) == nil {
			t.Errorf("%+v is accepted", in)
		}
	}
	for _, in := range []Input{{Operation: Hover, File: "a.unknown"}, {Operation: Hover, File: "none.toy"}, {Operation: Hover, File: "a.toy", Line: 99}} {
		if got := p.ask(t, in); !got.IsError {
			t.Errorf("%+v: %q", in, got.Output)
		}
	}
	claude, err := bindings()["anthropic"][0].Input(json.RawMessage(`{"operation":"hover","filePath":"a.toy","line":3,"character":4}`))
	if want := `{"operation":"hover","file_path":"a.toy","line":2,"character":3}`; err != nil || string(claude) != want {
		t.Errorf("Claude's question is %s, %v", claude, err)
	}
	spec, err := bindings()["spec"][0].Input(json.RawMessage(`{"operation":"hover","file_path":"a.toy","line":3,"character":4}`))
	if want := `{"operation":"hover","file_path":"a.toy","line":3,"character":4}`; err != nil || string(spec) != want {
		t.Errorf("the question of the spec is %s, %v", spec, err)
	}
}

// FuzzContentLength finds no header that is read without end or beyond the limits.
func FuzzContentLength(f *testing.F) {
	f.Add("Content-Length: 5\r\n\r\nhello")
	f.Add("content-length:5\nX: y\n\n")
	f.Add("Content-Length: -1\r\n\r\n")
	f.Add("Content-Length: 99999999999\r\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := contentLength(bufio.NewReader(strings.NewReader(text))); err == nil && (n < 0 || n > maxBody) {
			t.Errorf("%q has a length of %d", text, n)
		}
	})
}
