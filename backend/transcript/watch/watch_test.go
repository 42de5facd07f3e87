package watch_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend/transcript"
	"atelier.dev/atelier/backend/transcript/watch"
)

// session is a session of Claude Code that a test writes on.
type session struct {
	t     *testing.T
	path  string
	store transcript.Store
	lines int
}

const name = "-p/s.jsonl"

func newSession(t *testing.T) *session {
	t.Helper()
	home := t.TempDir()
	s := &session{t: t, store: transcript.Stores(home, func(string) string { return "" })[0]}
	s.path = filepath.Join(s.store.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *session) write(kind, rest string) {
	s.t.Helper()
	s.lines++
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	parent := ""
	if s.lines > 1 {
		parent = fmt.Sprintf(`"parentUuid":"u%d",`, s.lines-1)
	}
	fmt.Fprintf(f, `{"type":%q,"uuid":"u%d",%s"sessionId":"s","cwd":"/p","timestamp":"2026-01-02T03:04:%02dZ","message":{"role":%q,%s}}`+"\n", kind, s.lines, parent, s.lines%60, kind, rest)
	if err := f.Close(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) ask(text string) { s.write("user", fmt.Sprintf(`"content":%q`, text)) }
func (s *session) say(text string) {
	s.write("assistant", fmt.Sprintf(`"id":"m%d","model":"claude-x","usage":{"input_tokens":10,"output_tokens":5},"content":[{"type":"text","text":%q}]`, s.lines, text))
}

func (s *session) edit(path, now string) {
	id := fmt.Sprint("c", s.lines)
	s.write("assistant", fmt.Sprintf(`"id":"m%d","model":"claude-x","content":[{"type":"tool_use","id":%q,"name":"Edit","input":{"file_path":%q,"old_string":"x","new_string":%q}}]`, s.lines, id, path, now))
	s.write("user", fmt.Sprintf(`"content":[{"type":"tool_result","tool_use_id":%q,"content":"done"}]`, id))
}

// until watches until the transcript was read again: a large one is not read at once.
func until(t *testing.T, w *watch.Watcher, s *session, version string) watch.Watched {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		out, err := w.Watch(t.Context(), s.store, name, version)
		if err != nil {
			t.Fatal(err)
		}
		if out.Version != version {
			return out
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing new came")
		}
	}
}

// LIVE-01: a session of another program is watched while it happens, with what it used and
// costs. A caller is given what is new to it, at first the newest pieces, and earlier ones
// when it asks.
func TestWatch(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	w := &watch.Watcher{Price: func(_, _ string, u llm.Usage, _ time.Time) *llm.Cost {
		return new(llm.Cost(u.Output) * llm.Dollar / 100)
	}}
	s.ask("Name a river.")
	s.say("The Rhine.")
	first := until(t, w, s, "")
	if first.From != 0 || first.Total != 2 || first.Pieces[0].Text != "Name a river." || first.Pieces[1].Kind != watch.PieceAnswer {
		t.Fatalf("%+v", first)
	}
	if first.Usage.Input != 10 || first.Usage.Output != 5 || first.Cost == nil || first.Cost.Dollars() != 0.05 || first.Model != "claude-x" {
		t.Errorf("it used %+v, %v", first.Usage, first.Cost)
	}
	if again, err := w.Watch(t.Context(), s.store, name, first.Version); err != nil || len(again.Pieces) != 0 || again.Version != first.Version {
		t.Errorf("without news: %+v, %v", again, err)
	}
	s.ask("And another?")
	second := until(t, w, s, first.Version)
	if second.From != 2 || len(second.Pieces) != 1 || second.Pieces[0].Text != "And another?" {
		t.Errorf("after a prompt: %+v", second)
	}
	for i := range 300 {
		s.say(fmt.Sprint("River ", i))
	}
	third := until(t, w, s, "")
	for third.Total < 303 {
		third = until(t, w, s, third.Version)
	}
	fresh, err := w.Watch(t.Context(), s.store, name, "")
	if err != nil || fresh.From != 103 || len(fresh.Pieces) != 200 || fresh.Pieces[199].Text != "River 299" {
		t.Errorf("at first %d pieces from %d, %v", len(fresh.Pieces), fresh.From, err)
	}
	earlier, err := w.Earlier(t.Context(), s.store, name, fresh.From)
	if err != nil || earlier.From != 53 || len(earlier.Pieces) != 50 || earlier.Pieces[49].Text != "River 99" {
		t.Errorf("earlier %d from %d, %v", len(earlier.Pieces), earlier.From, err)
	}
	for _, wrong := range []string{"../s.jsonl", "-p/missing.jsonl", "/etc/passwd"} {
		if _, err := w.Watch(t.Context(), s.store, wrong, ""); err == nil {
			t.Errorf("%s was read", wrong)
		}
	}
}

func (s *session) listed() []watch.Listed {
	s.t.Helper()
	found, _, err := s.store.List(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	var all []watch.Listed
	for _, f := range found {
		all = append(all, watch.Listed{Store: s.store, Found: f})
	}
	return all
}

// LIVE-02: words are found in what was said, asked and run in sessions of others.
func TestSearch(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ask("Name a river.")
	s.say("The Rhine flows to the “North Sea”.")
	s.edit("/p/rivers.txt", "Elbe")
	w := &watch.Watcher{}
	for query, want := range map[string]string{
		"rhine": "The Rhine flows", "SEA north": "North Sea", "elbe": "Elbe", "“north": "North", "rivers.txt": "rivers.txt", "Danube": "", "rhine danube": "", " ": "",
	} {
		hits, more, err := w.Search(t.Context(), s.listed(), query)
		if err != nil || more || (len(hits) == 1) != (want != "") || want != "" && (!strings.Contains(hits[0].Text, want) || hits[0].Prompt != "Name a river." || hits[0].Program != agent.ProgramClaudeCode) {
			t.Errorf("%q: %+v, %t, %v", query, hits, more, err)
		}
	}
}

// Lines of a file belong to the newest call of a session of others that wrote them.
func TestBlame(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ask("Write.")
	s.edit("/p/a.go", "func one() {\n\treturn\n}\n")
	s.edit("/p/b.go", "func other() {")
	s.edit("a.go", "func two() {\n")
	w := &watch.Watcher{}
	got, more, err := w.Blame(t.Context(), s.listed(), "/p/a.go", "package a\nfunc one() {\n\treturn\n}\nfunc other() {\nfunc two() {\n}\n")
	if err != nil || more || len(got) != 2 {
		t.Fatalf("%+v, %t, %v", got, more, err)
	}
	if got[0].From != 2 || got[0].To != 4 || got[1].From != 6 || got[1].To != 7 || got[0].Prompt != "Write." || got[0].When >= got[1].When {
		t.Errorf("%+v", got)
	}
}
