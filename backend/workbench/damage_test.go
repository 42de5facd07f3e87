package workbench_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/models"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// spoil runs a statement on the database of a closed page.
func spoil(t *testing.T, home, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(home, storage.File))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

// A session continues without its damaged events: the page shows that some are
// damaged, and the model is told so.
func TestDamagedSessionGoesOn(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"an answer":          "UPDATE events SET body = 'x' WHERE kind = 'assistant_text_end'",
		"an input":           "DELETE FROM events WHERE kind = 'user_input'",
		"the end of a turn":  "UPDATE events SET at = at + 1 WHERE kind = 'processing_end'",
		"settings":           "UPDATE sessions SET settings = '{'",
		"the first settings": "DELETE FROM events WHERE kind = 'settings'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Serve(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
			folder, home := t.TempDir(), t.TempDir()
			p := newPage(t, folder, home, environment(server, "sk-test"))
			id := p.session("compat")
			p.send(id, "first")
			await(p, anyOf[agent.ProcessingEnd])
			p.close()
			spoil(t, home, statement)

			p = newPage(t, folder, home, environment(server, "sk-test"))
			if err := p.bench.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			list := must[backend.SessionPage](p, "sessions.list", backend.Empty{}).Sessions
			if len(list) != 1 || list[0].Damaged != (name == "settings") {
				t.Fatalf("list: %+v", list)
			}
			lost := 0
			for _, w := range log[agent.Warning](p, id) {
				if w.Code == agent.WarningDamaged {
					lost++
				}
			}
			if want := 1; (lost == want) == (name == "settings") {
				t.Errorf("%d warnings", lost)
			}
			p.send(id, "second")
			if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndDone {
				t.Errorf("ended as %s", end.Reason)
			}
			requests := server.Requests()
			body := string(requests[len(requests)-1].Body)
			if strings.Contains(body, "was lost here") == (name == "settings") || !strings.Contains(body, "second") {
				t.Errorf("the model was sent %s", body)
			}
			if list := must[backend.SessionPage](p, "sessions.list", backend.Empty{}).Sessions; list[0].Damaged {
				t.Error("the row was not repaired")
			}
		})
	}
}

// Damaged preferences are the defaults until the user chooses again. A
// provider's damaged address is not guessed, and its key is sent nowhere.
func TestDamagedSettings(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	folder, home := t.TempDir(), t.TempDir()
	nothing := func(string) string { return "" }
	p := newPage(t, folder, home, nothing)
	prefer(p, func(prefs *backend.Preferences) { prefs.Theme = "dark" })
	key := models.SetKeyRequest{Provider: "openai", Key: "sk-test-key-0123456789", BaseURL: server.URL}
	must[models.KeyList](p, "keys.set", key)
	p.close()
	spoil(t, home, "UPDATE settings SET value = replace(replace(value, 'dark', 'dork'), '127.0.0.1', '127.0.0.2')")

	p = newPage(t, folder, home, nothing)
	prefs := must[backend.Preferences](p, "preferences.get", backend.Empty{})
	if !prefs.Damaged || prefs.Theme != "" {
		t.Errorf("%+v", prefs)
	}
	info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	if info.Settings.Provider != "demo" {
		t.Errorf("a new session begins with %+v", info.Settings)
	}
	id := p.session("openai")
	if _, err := call[backend.Empty](p, "conversation.send", conversation.SendRequest{Session: id, Text: "Go on."}); err == nil || err.ID != backend.ProblemAddressDamaged {
		t.Errorf("sending answered %+v", err)
	}
	prefs.Theme = "dark"
	if again := must[backend.Preferences](p, "preferences.change", workbench.PreferencesChange{After: prefs}); again.Damaged {
		t.Error("damaged still")
	}
	must[models.KeyList](p, "keys.set", key)
	if info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{}); info.Settings.Provider != "openai" {
		t.Errorf("a new session begins with %+v", info.Settings)
	}
}

// An agent whose row is lost is listed as its parent's agent, and is deleted
// with it.
func TestLostAgentStaysItsParents(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	folder, home := t.TempDir(), t.TempDir()
	p := newPage(t, folder, home, environment(server, "sk-test"))
	server.Script("helper", llmtest.Round{Text: "Done."})
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look.", map[string]any{"max_turns": 7})}}, llmtest.Round{Text: "It looks."})
	id := p.session("openai")
	p.send(id, "Have somebody look.")
	child, _ := agentOf(p, "Agent")
	p.close()
	spoil(t, home, "DELETE FROM sessions WHERE id = '"+child+"'")

	p = newPage(t, folder, home, environment(server, "sk-test"))
	list := must[backend.SessionPage](p, "sessions.list", backend.Empty{}).Sessions
	at := slices.IndexFunc(list, func(info backend.SessionInfo) bool { return info.ID == child })
	if at < 0 || list[at].Helper == nil || list[at].Helper.Parent != id || list[at].Helper.Rounds != 7 || list[at].Helper.Folder == "" {
		t.Fatalf("list: %+v", list)
	}
	must[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: id})
	if list := must[backend.SessionPage](p, "sessions.list", backend.Empty{}).Sessions; len(list) != 0 {
		t.Errorf("left after the parent was deleted: %+v", list)
	}
}
