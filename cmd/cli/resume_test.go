package cli_test

import (
	"database/sql"
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/projects"
	"atelier.dev/atelier/storage"
)

// begun runs a first prompt and lets a test change the stored session.
func (p *place) begun(change func(store *storage.Store, session backend.SessionInfo) error) backend.SessionInfo {
	p.t.Helper()
	if out, errs, code := p.run("run", "--model", "openai/m", "the first prompt"); code != 0 {
		p.t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	store, err := storage.Open(p.t.Context(), p.home)
	if err != nil {
		p.t.Fatal(err)
	}
	defer store.Close()
	folder, err := projects.Resolve(p.folder)
	if err != nil {
		p.t.Fatal(err)
	}
	all, err := store.Sessions(p.t.Context(), folder)
	if err != nil || len(all) != 1 {
		p.t.Fatalf("%d sessions, %v", len(all), err)
	}
	if err := change(store, all[0]); err != nil {
		p.t.Fatal(err)
	}
	return all[0]
}

// A run continues the newest session that a person began, not an agent's.
func TestContinueSkipsAgents(t *testing.T) {
	t.Parallel()
	p := newPlace(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	session := p.begun(func(store *storage.Store, session backend.SessionInfo) error {
		helper := session
		helper.ID, helper.UpdatedAt, helper.Helper = "0000-helper", session.UpdatedAt+1000, &agent.Helper{Parent: session.ID, Folder: session.Folder}
		return store.CreateSession(t.Context(), helper)
	})
	out, errs, code := p.run("run", "--continue", "--output", "json", "go on")
	var result struct {
		Session string `json:"session_id"`
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil || code != 0 || result.Session != session.ID {
		t.Errorf("exit %d: %s%s (%v)", code, out, errs, err)
	}
}

// A queued message is answered before the run ends, and counts in its result.
func TestRunAnswersQueuedMessages(t *testing.T) {
	t.Parallel()
	look := llmtest.Use("Glob", map[string]string{"pattern": "*"})
	for output, want := range map[string]string{"text": "Two.\nThree.\n", "json": `"status":"done","text":"Three.","rounds":2`} {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, llmtest.Round{Text: "One."}, llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Two."},
				llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Three."})
			p.begun(func(store *storage.Store, session backend.SessionInfo) error {
				return store.AddQueued(t.Context(), session.ID, agent.Queued{ID: "q1", Verb: agent.FollowUp, Text: "and then this"})
			})
			out, errs, code := p.run("run", "--continue", "--output", output, "go on")
			if code != 0 || !strings.Contains(out, want) {
				t.Errorf("exit %d: %s%s", code, out, errs)
			}
		})
	}
}

// A closed terminal, which a program is told of twice, ends a run in order.
func TestRunOutlivesItsTerminal(t *testing.T) {
	t.Parallel()
	// The tests may be started with nohup, whose setting children inherit from
	// a program that does not catch the signal.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	p := newPlace(t, llmtest.Round{Text: "I think ", Hang: true})
	cmd, lines := p.start("run", "--model", "openai/m", "--output", "stream-json", "x")
	hangUp := func() {
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Error(err)
		}
	}
	told, last := 0, agent.Event{}
	for lines.Scan() {
		read := events(t, lines.Text())
		if len(read) == 0 { // the result
			continue
		}
		last = read[0]
		end, ended := last.Data.(agent.ProcessingEnd)
		if last.Kind() == agent.KindTextDelta && told == 0 || ended {
			told++
			hangUp()
		}
		if ended && end.Reason != agent.EndInterrupted {
			t.Errorf("ended as %s", end.Reason)
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || last.Kind() != agent.KindSessionEnd || told != 2 {
		t.Errorf("exit %d after %s, reported %d times", code, last.Kind(), told)
	}
}

// A reader that closes its end also ends a run in order.
func TestRunWithoutReader(t *testing.T) {
	t.Parallel()
	p := newPlace(t, llmtest.Round{Text: "I think ", Hang: true})
	cmd := p.command("run", "--model", "openai/m", "--output", "text", "x")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = reader.Close()
	cmd.Stdout, cmd.Stderr = writer, os.Stderr
	_ = cmd.Run() // the exit code says enough
	_ = writer.Close()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit %d: %v", code, cmd.ProcessState)
	}
}

// A model's text and the names of its tools contain no control sequences for a
// terminal.
func TestRunPrintsNoEscapes(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{"text": "⟨U+001B⟩]52;c;eA==⟨U+0007⟩⟨U+009B⟩2J", "json": `\u001b]52;c;eA==\u0007\u009b2J`} {
		p := newPlace(t, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Re\x1b[1Aad\nx", map[string]string{})}}, llmtest.Round{Text: "\x1b]52;c;eA==\x07\u009b2J"})
		out, errs, code := p.run("run", "--model", "compat/m", "--output", output, "x")
		if code != 0 || !strings.Contains(out, want) || strings.ContainsAny(out+errs, "\x1b\x07\u009b") {
			t.Errorf("exit %d: %q %q", code, out, errs)
		}
	}
}

// A run that continues a damaged session says so beside its result.
func TestContinueTellsDamage(t *testing.T) {
	t.Parallel()
	const kept = "Everything else was kept"
	for name, c := range map[string]struct {
		statement string
		want      []string
		not       string
	}{
		"nothing":         {"SELECT 1", nil, "damaged"},
		"the row":         {"UPDATE sessions SET settings = '{'", []string{"restored it from the session's log"}, "missing"},
		"one event":       {"UPDATE events SET body = 'x' WHERE kind = 'assistant_text_end'", []string{"1 event of this session is damaged", kept}, "the list"},
		"events in a row": {"DELETE FROM events WHERE seq IN (2, 3, 5)", []string{"3 events of this session are damaged", kept}, "the list"},
		"the last ones":   {"DELETE FROM events WHERE seq > (SELECT max(seq) - 2 FROM events)", []string{"2 events of this session are damaged", kept}, "the list"},
	} {
		for _, flag := range []string{"--continue", "--session"} {
			t.Run(name+" "+flag, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
				session := p.begun(func(*storage.Store, backend.SessionInfo) error { return nil })
				db, err := sql.Open("sqlite3", filepath.Join(p.home, storage.File))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := db.Exec(c.statement); err != nil {
					t.Fatal(err)
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				args := []string{"run", flag, "--model", "openai/m", "--output", "json", "go on"}
				if flag == "--session" {
					args[1] += "=" + session.ID
				}
				out, errs, code := p.run(args...)
				if code != 0 || !strings.Contains(out, `"text":"Two."`) || strings.Contains(errs, c.not) {
					t.Errorf("exit %d: %s%s", code, out, errs)
				}
				for _, want := range c.want {
					if strings.Count(errs, want) != 1 {
						t.Errorf("%q is not said once in %q", want, errs)
					}
				}
			})
		}
	}
}
