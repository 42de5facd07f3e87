package transcript_test

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend/transcript"
)

// geminiLines is a chat of Gemini CLI: a message that grows, one that is taken back, and lines
// that are none of ours.
const geminiLines = `{"sessionId":"g-1","projectHash":"HASH","startTime":"2026-01-02T03:04:05Z","lastUpdated":"2026-01-02T03:04:05Z"}
{"id":"1","timestamp":"2026-01-02T03:04:05.000Z","type":"user","content":[{"text":"Name a river."}]}
{"id":"x","timestamp":"2026-01-02T03:04:05.500Z","type":"info","content":"Update available"}
{"id":"2","timestamp":"2026-01-02T03:04:06.000Z","type":"gemini","content":"","model":"gemini-9"}
{"id":"2","timestamp":"2026-01-02T03:04:06.000Z","type":"gemini","content":"I look.","thoughts":[{"subject":"Rivers","description":"There are many."}],"model":"gemini-9","tokens":{"input":100,"output":7,"cached":40,"thoughts":3,"total":150},"toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"ls"},"status":"success","result":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"rivers.txt"}}}]}]}
{"$set":{"summary":"Rivers"}}
{"id":"3","timestamp":"2026-01-02T03:04:07.000Z","type":"user","content":"Never mind this."}
{"$rewindTo":"3"}
not json
{"id":"4","timestamp":"2026-01-02T03:04:08.000Z","type":"user","content":"And a lake?"}
{"id":"5","timestamp":"2026-01-02T03:04:09.000Z","type":"gemini","content":"Constance.","model":"gemini-9"}
`

const geminiDocument = `{
  "sessionId": "g-0",
  "projectHash": "HASH",
  "startTime": "2026-01-02T03:04:05Z",
  "messages": [
    {"id": "1", "timestamp": "2026-01-02T03:04:05Z", "type": "user", "content": "An older one."},
    {"id": "2", "timestamp": "2026-01-02T03:04:06Z", "type": "gemini", "content": "So it is.", "model": "gemini-8"}
  ],
  "lastUpdated": "2026-01-02T03:04:06Z"
}`

// outline is a log as short lines.
func outline(events []agent.Event) (all []string) {
	for _, ev := range events {
		switch d := ev.Data.(type) {
		case agent.UserInput:
			all = append(all, "user "+d.Text)
		case agent.TextEnd:
			var thought string
			for _, p := range d.Message.Parts {
				if p.Kind == llm.PartReasoning {
					thought = " (" + strings.ReplaceAll(p.Reasoning.Text, "\n", "; ") + ")"
				}
			}
			all = append(all, fmt.Sprint(d.Provider, "/", d.Model, " ", d.Message.Text(), thought, " ", d.Usage.Context(), "+", d.Usage.Output, " ", d.Usage.Charged.Dollars()))
		case agent.ToolCallEnd:
			all = append(all, fmt.Sprint(d.Tool, " ", d.Output, " ", d.Outcome))
		}
	}
	return all
}

func sameLines(t *testing.T, got, want []string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("read\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// LIVE-02: chats of Gemini CLI, of either form, are found with their folder and read. A message
// counts as it was written last, and what was taken back does not.
func TestGemini(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("/elsewhere")))
	for name, text := range map[string]string{
		"tmp/shop/.project_root": "/shop\n", "tmp/shop/chats/session-2026-01-02T03-04-g1.jsonl": geminiLines, "tmp/shop/chats/g-1/sub.jsonl": geminiLines,
		"tmp/shop/logs.json": "[]", "tmp/" + sum + "/chats/session-old.json": geminiDocument, "projects.json": `{"projects":{"/elsewhere":"elsewhere"}}`,
	} {
		path := filepath.Join(home, ".gemini", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "HASH", sum)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := storeOf(t, home, agent.ProgramGemini)
	found, _, err := s.List(t.Context())
	if err != nil || len(found) != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	for _, f := range found {
		d := s.Describe(f)
		want, folder := "Name a river.", "/shop"
		if strings.HasSuffix(d.Name, ".json") {
			want, folder = "", "/elsewhere"
		}
		if d.Folder != folder || want != "" && d.Prompt != want {
			t.Errorf("%+v", d)
		}
	}
	sameLines(t, outline(readIn(t, s, "shop/chats/session-2026-01-02T03-04-g1.jsonl")), []string{
		"user Name a river.", "gemini/gemini-9 I look. (Rivers; There are many.) 100+10 0", "Bash rivers.txt done",
		"user And a lake?", "gemini/gemini-9 Constance. 0+0 0",
	})
	sameLines(t, outline(readIn(t, s, sum+"/chats/session-old.json")), []string{"user An older one.", "gemini/gemini-8 So it is. 0+0 0"})
}

func storeOf(t *testing.T, home string, p agent.Program) transcript.Store {
	t.Helper()
	for _, s := range transcript.Stores(home, func(string) string { return "" }) {
		if s.Program == p {
			return s
		}
	}
	t.Fatalf("no store of %s", p)
	return transcript.Store{}
}

// readIn reads a transcript of a store, and checks that it is a sound log.
func readIn(t *testing.T, s transcript.Store, name string) []agent.Event {
	t.Helper()
	f, err := s.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, err := collect(f)
	if err != nil {
		t.Fatal(err)
	}
	sound(t, events)
	return events
}

// opencodeDatabase makes a database as opencode has it, with a session, one of an agent, and one
// that is empty.
func opencodeDatabase(t *testing.T, home string) *sql.DB {
	t.Helper()
	dir := filepath.Join(home, ".local", "share", "opencode")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", filepath.Join(dir, "opencode.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	run(t, db, `PRAGMA journal_mode = WAL`)
	run(t, db, `CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text, directory text, title text, version text, revert text, time_created integer, time_updated integer)`)
	run(t, db, `CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text)`)
	run(t, db, `CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text)`)
	run(t, db, `INSERT INTO session VALUES ('ses_1', 'p', NULL, 's', '/shop', 'Rivers of Europe', '1', NULL, 1767323045000, 1767323050000),
		('ses_2', 'p', 'ses_1', 's', '/shop', 'An agent', '1', NULL, 1, 1767323060000), ('ses_3', 'p', NULL, 's', '/shop', 'Empty', '1', NULL, 1, 1)`)
	say(t, db, "msg_1", `{"role":"user","time":{"created":1767323045000}}`, `{"type":"text","text":"Name a river."}`, `{"type":"text","text":"added by opencode","synthetic":true}`)
	say(t, db, "msg_2", `{"role":"assistant","providerID":"anthropic","modelID":"claude-x","cost":0.5,"tokens":{}}`,
		`{"type":"step-start"}`, `{"type":"reasoning","text":"Many."}`, `{"type":"text","text":"I look."}`,
		`{"type":"tool","callID":"c1","tool":"edit","state":{"status":"completed","input":{"filePath":"/shop/a","oldString":"x","newString":"y"},"output":"edited"}}`,
		`{"type":"step-finish","cost":0.25,"tokens":{"input":100,"output":7,"reasoning":3,"cache":{"read":40,"write":2}}}`,
		`{"type":"step-start"}`, `{"type":"tool","callID":"c2","tool":"bash","state":{"status":"error","input":{"command":"no"},"error":"not found"}}`, `{"type":"step-finish","cost":0.25}`)
	return db
}

func run(t *testing.T, db *sql.DB, text string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}

func say(t *testing.T, db *sql.DB, id, data string, parts ...string) {
	t.Helper()
	run(t, db, `INSERT INTO message VALUES (?, 'ses_1', 1767323046000, 1, ?)`, id, data)
	for i, p := range parts {
		run(t, db, `INSERT INTO part VALUES (?, ?, 'ses_1', 1, 1, ?)`, fmt.Sprintf("prt_%s_%02d", id, i), id, p)
	}
}

// LIVE-02: sessions of opencode are found in its database and read, while opencode writes on.
// What was taken back is left out, and a session that grew says so.
func TestOpencode(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := storeOf(t, home, agent.ProgramOpencode)
	if found, _, err := s.List(t.Context()); err != nil || len(found) != 0 {
		t.Fatalf("without a database: %+v, %v", found, err)
	}
	db := opencodeDatabase(t, home)
	found, more, err := s.List(t.Context())
	if err != nil || more || len(found) != 1 || found[0].Name != "ses_1" || found[0].Folder != "/shop" || found[0].Prompt != "Rivers of Europe" || found[0].At != 1767323050000 {
		t.Fatalf("%+v, %v", found, err)
	}
	want := []string{
		"user Name a river.", "anthropic/claude-x I look. (Many.) 142+10 0.25", "Edit edited done", "anthropic/claude-x  0+0 0.25", "Bash not found failed",
	}
	want[3] = "anthropic/claude-x  0+0 0"
	events := readIn(t, s, "ses_1")
	sameLines(t, outline(events), want)
	if last := events[len(events)-1].Data.(agent.Imported); last.Size != found[0].Size || last.ID != "ses_1" || last.Path != filepath.Join(s.Dir, "opencode.db", "ses_1") {
		t.Errorf("%+v, found with %d bytes", last, found[0].Size)
	}
	say(t, db, "msg_3", `{"role":"user"}`, `{"type":"text","text":"And a lake?"}`)
	again, _, err := s.List(t.Context())
	if err != nil || again[0].Size <= found[0].Size {
		t.Errorf("%+v, %v", again, err)
	}
	sameLines(t, outline(readIn(t, s, "ses_1")), append(want, "user And a lake?"))
	run(t, db, `UPDATE session SET revert = '{"messageID":"msg_3"}' WHERE id = 'ses_1'`)
	sameLines(t, outline(readIn(t, s, "ses_1")), want)
	if _, err := s.Open("ses_9"); err == nil || !os.IsNotExist(unwrapped(err)) {
		t.Errorf("a session that is none: %v", err)
	}
}

func unwrapped(err error) error {
	if strings.Contains(err.Error(), os.ErrNotExist.Error()) {
		return os.ErrNotExist
	}
	return err
}
