package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"github.com/charmbracelet/x/powernap/pkg/lsp/protocol"
)

// run judges, shows and runs a call, as a session does.
func run(t *testing.T, tool agent.Tool, in RenameInput) agent.Result {
	t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	tool.(agent.Accessor).Access(t.Context(), input)
	if _, err := tool.(agent.Previewer).Preview(t.Context(), input); err != nil {
		return agent.Fail(err.Error())
	}
	return tool.Run(t.Context(), agent.Invocation{Input: input, Output: func(string) {}})
}

var omega = RenameInput{File: "a.toy", Line: 2, Symbol: "alpha", NewName: "omega"}

// OAS-326, OC-01: a symbol is renamed in all files or in none, whatever a server answers; nothing
// outside of the project is changed, and nothing that was not judged.
func TestRename(t *testing.T) {
	t.Parallel()
	const before = "# adds\ndef alpha(x)\n  beta(x)\n  gamma()\ndef beta(y)\nend\n"
	for how, want := range map[string]string{
		"works":     "Renamed in 1 lines of 1 files:\na.toy",
		"":          "no language server for Toy was found: find the uses with Grep",
		"refuses":   "cannot rename: find the uses with Grep",
		"elsewhere": "alpha is used in /etc/passwd, outside of the project",
		"twice":     "changes a place twice",
		"beyond":    "names a place that is not there",
		"long":      "names a place that is not there",
		"creates":   "would create a file as well",
		"nothing":   "changes nothing for alpha",
		"many":      "more than 200 files or 20000 places",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, how, nil)
			got := run(t, RenameTool(p.Servers, p.env), omega)
			if !strings.Contains(got.Output, want) || got.IsError != (how != "works") {
				t.Errorf("it answered %v %q, without %q", got.IsError, got.Output, want)
			}
			expected := before
			if how == "works" {
				expected = strings.Replace(before, "alpha", "omega", 1)
			}
			if now, err := os.ReadFile(filepath.Join(p.dir, "a.toy")); err != nil || string(now) != expected {
				t.Errorf("the file is %q, %v", now, err)
			}
		})
	}
}

// The gate judges, the user sees and the tool writes the same, although the server changes its
// mind; and a file that changed meanwhile is left alone.
func TestRenameIsWhatWasJudged(t *testing.T) {
	t.Parallel()
	p := newProject(t, "turns", nil)
	tool := RenameTool(p.Servers, p.env)
	input, _ := json.Marshal(omega)
	access := tool.(agent.Accessor).Access(t.Context(), input)
	if !slices.Equal(access.Writes, []string{filepath.Join(p.dir, "a.toy")}) || !slices.Equal(access.Reads, []string{p.dir}) {
		t.Errorf("it touches %+v", access)
	}
	shown, err := tool.(agent.Previewer).Preview(t.Context(), input)
	again, _ := tool.(agent.Previewer).Preview(t.Context(), input)
	done := tool.Run(t.Context(), agent.Invocation{Input: input, Output: func(string) {}})
	if err != nil || len(shown) != 1 || !strings.Contains(shown[0].Diff, "-def alpha(x)\n+omegaef alpha(x)") || again[0].Diff != shown[0].Diff || done.Details.Changes[0].Diff != shown[0].Diff {
		t.Errorf("shown %+v, %v, done %+v", shown, err, done)
	}
	if twice := tool.Run(t.Context(), agent.Invocation{Input: input}); !twice.IsError {
		t.Errorf("without being judged again: %+v", twice)
	}
	tool.(agent.Accessor).Access(t.Context(), input)
	p.write(t, "a.toy", "def alpha\n")
	if late := tool.Run(t.Context(), agent.Invocation{Input: input}); !strings.Contains(late.Output, "a file was changed meanwhile") {
		t.Errorf("a file that changed: %+v", late)
	}
	for _, in := range []RenameInput{{}, {File: "a", Line: 0, Symbol: "a", NewName: "b"}, {File: "a", Line: 1, Symbol: "a", NewName: "a"}, {File: "a", Line: 1, Symbol: "a", NewName: "b c"}, {File: "a", Line: 1, Symbol: "a", NewName: "b;"}} {
		text, _ := json.Marshal(in)
		if tool.(agent.Validator).Validate(text) == nil {
			t.Errorf("%+v is accepted", in)
		}
	}
}

// Places are counted in units of UTF-16, lines may end with a carriage return, and a file keeps
// its encoding.
func TestApply(t *testing.T) {
	t.Parallel()
	at := func(line, character uint32) protocol.Position {
		return protocol.Position{Line: line, Character: character}
	}
	got, err := apply([]byte("𝄞 ü old\r\nold\r\n"), []protocol.TextEdit{
		{Range: protocol.Range{Start: at(1, 0), End: at(1, 3)}, NewText: "new"}, {Range: protocol.Range{Start: at(0, 5), End: at(0, 8)}, NewText: "new"},
	})
	if string(got) != "𝄞 ü new\r\nnew\r\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	p := newProject(t, "works", nil)
	p.write(t, "a.toy", "\xff\xfe#\x00\n\x00d\x00e\x00f\x00 \x00a\x00l\x00p\x00h\x00a\x00\n\x00")
	if done := run(t, RenameTool(p.Servers, p.env), omega); done.IsError {
		t.Skip(done.Output) // servers are told other encodings as they stand
	}
	if now, err := env.ReadText(t.Context(), p.env, "a.toy"); err != nil || string(now.UTF8) != "#\ndef omega\n" {
		t.Errorf("%q, %v", now.UTF8, err)
	}
}

// The state of servers is known without waiting for one, also of those that did not run yet, and
// one that failed too often is started again when a person says so.
func TestStatus(t *testing.T) {
	t.Parallel()
	off := false
	p := newProject(t, "dies", func(cfg *Config) { cfg.Off = func(string) bool { return off } })
	state := func() Status { return p.Status(t.Context())[0] }
	if s := state(); s.State != LanguageReady || s.Root != "" || s.Language != "Toy" || s.Program == "" {
		t.Errorf("before it is needed: %+v", s)
	}
	for range maxStarts + 1 {
		p.ask(t, defined)
	}
	if s := state(); s.State != LanguageFailed || s.Err == nil || s.Root != p.dir {
		t.Errorf("after it failed: %+v", s)
	}
	if err := p.Restart(t.Context(), "Toy", p.dir); err != nil || state().State != LanguageRunning || state().PID == 0 {
		t.Errorf("started again: %v, %+v", err, state())
	}
	if err := p.Restart(t.Context(), "Toy", "/elsewhere"); err == nil {
		t.Error("one that was never needed is started")
	}
	off = true
	p.StopLanguage(t.Context(), "Toy")
	if s := state(); s.State != LanguageOff || s.PID != 0 {
		t.Errorf("switched off: %+v", s)
	}
	at, _ := p.slot(key{p.dir, "Toy"})
	at.mu.Lock()
	off = false
	if s := state(); s.State != LanguageStarting {
		t.Errorf("while it starts: %+v", s)
	}
	at.mu.Unlock()
	if s := state(); s.State != LanguageReady {
		t.Errorf("afterwards: %+v", s)
	}
}

// Faults are those of servers that run.
func TestFaults(t *testing.T) {
	t.Parallel()
	p := newProject(t, "works", nil)
	if got := Faults(t.Context(), p.Servers, p.env, []string{"a.toy"}); len(got) > 0 || len(p.needed(t)) > 0 {
		t.Errorf("before a server runs: %+v", got)
	}
	p.ask(t, defined)
	want := []Fault{{filepath.Join(p.dir, "a.toy"), 1, 1, false, "wrong in version 1"}, {filepath.Join(p.dir, "a.toy"), 1, 1, true, "unused"}}
	if got := Faults(t.Context(), p.Servers, p.env, []string{"a.toy", "gone.toy", "/etc/passwd", "x.txt"}); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}
