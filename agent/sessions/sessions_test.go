package sessions_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-sqlite3"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/sessions"
	"atelier.dev/atelier/storage/sessionlog"
)

// logs are the places where sessions are kept, each with how it is opened again.
func logs(t *testing.T) map[string]func() sessions.Log {
	t.Helper()
	dir := t.TempDir()
	memory := &sessions.Memory{}
	return map[string]func() sessions.Log{
		"memory": func() sessions.Log { return memory },
		"files": func() sessions.Log {
			f, err := sessions.NewFiles(filepath.Join(dir, "sessions"))
			if err != nil {
				t.Fatal(err)
			}
			return f
		},
		"sqlite": func() sessions.Log {
			db, err := sql.Open("sqlite3", filepath.Join(dir, "sessions.db"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			l, err := sessionlog.Open(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			return l
		},
	}
}

// talk has a session answer a prompt, and keeps it. It returns the last request.
func talk(t *testing.T, store *sessions.Store, id, prompt, answer string) string {
	t.Helper()
	server := llmtest.Script(llmtest.Round{Text: answer})
	past, err := store.Load(t.Context(), id)
	if err != nil && !errors.Is(err, sessions.ErrNotFound) {
		t.Fatal(err)
	}
	session, err := agent.New(agent.Config{
		ID: id, Model: server, Settings: agent.Settings{Provider: llmtest.Provider, Model: "m"}, Gate: agent.AllowAll, Profiles: agent.Plain("Be kind.", nil),
	}, past...)
	if err != nil {
		t.Fatal(err)
	}
	count := int64(len(past))
	for _, err := range store.Keep(t.Context(), id, &count, session.Run(t.Context(), prompt)) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var said []string
	for _, m := range server.Requests()[0].Messages {
		said = append(said, m.Text())
	}
	return strings.Join(said, "|")
}

// Sessions are saved, loaded, listed, forked, rewound, renamed, tagged and deleted in each
// place, and models are asked as in the application (OAS-601, OAS-605, OAS-606, OAS-607).
func TestStore(t *testing.T) {
	t.Parallel()
	for name, open := range logs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &sessions.Store{Log: open()}
			talk(t, store, "one", "First question.\nMore of it.", "First answer.")
			talk(t, store, "one", "Second question.", "Second answer.")
			info, err := store.Info(t.Context(), "one")
			if err != nil || info.Title != "First question." || info.Messages != 4 || info.Created == 0 {
				t.Errorf("%+v, %v", info, err)
			}
			before := info.Updated
			if err := errors.Join(store.Rename(t.Context(), "one", "A talk"), store.Tag(t.Context(), "one", "kept", "long")); err != nil {
				t.Fatal(err)
			}
			fork, prompt, err := store.Fork(t.Context(), "one", agent.ForkPlace{Messages: 2})
			if err != nil || prompt != "" {
				t.Fatal(prompt, err)
			}
			if asked := talk(t, store, fork, "Another question.", "Another answer."); strings.Contains(asked, "Second") || !strings.Contains(asked, "First answer.") {
				t.Errorf("the fork asked %q", asked)
			}

			store = &sessions.Store{Log: open()} // as after a restart
			list, err := store.List(t.Context())
			if err != nil || len(list) != 2 {
				t.Fatalf("%+v, %v", list, err)
			}
			i := slices.IndexFunc(list, func(i sessions.Info) bool { return i.ID == "one" })
			one, other := list[i], list[1-i]
			if one.Title != "A talk" || cmp.Diff([]string{"kept", "long"}, one.Tags) != "" || one.Updated != before {
				t.Errorf("%+v", one)
			}
			if other.ID != fork || other.Origin == nil || other.Origin.Session != "one" || other.Origin.Through != 2 || other.Messages != 4 {
				t.Errorf("the fork: %+v", other)
			}

			events, err := store.Load(t.Context(), "one")
			if err != nil {
				t.Fatal(err)
			}
			second := events[slices.IndexFunc(events, func(ev agent.Event) bool {
				in, ok := ev.Data.(agent.UserInput)
				return ok && in.Text == "Second question."
			})]
			if prompt, err = store.Rewind(t.Context(), "one", agent.ForkPlace{Event: second.Seq}); err != nil || prompt != "Second question." {
				t.Errorf("%q, %v", prompt, err)
			}
			if asked := talk(t, store, "one", "In its place.", "Yes."); strings.Contains(asked, "Second") || !strings.Contains(asked, "First answer.") {
				t.Errorf("after the rewind it asked %q", asked)
			}

			if err := store.Append(t.Context(), "one", 1, events[:1]); !errors.Is(err, sessions.ErrConflict) {
				t.Errorf("over what somebody else wrote: %v", err)
			}
			if err := errors.Join(store.Delete(t.Context(), "one"), store.Delete(t.Context(), "one")); err != nil {
				t.Error(err)
			}
			if _, err := store.Load(t.Context(), "one"); !errors.Is(err, sessions.ErrNotFound) {
				t.Errorf("deleted: %v", err)
			}
			if _, _, err := store.Fork(t.Context(), fork, agent.ForkPlace{Messages: 99}); !errors.Is(err, agent.ErrNoSuchPlace) {
				t.Errorf("forked nowhere: %v", err)
			}
		})
	}
}

// What a crash left of a line is not read, and gone with the next event; the name of a
// session leads nowhere else (OAS-612).
func TestFilesAfterACrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, err := sessions.NewFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	store := &sessions.Store{Log: files}
	talk(t, store, "one", "Hello", "Yes?")
	whole, err := store.Load(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "one.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"session_id":"one","seq":99,"da`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if got, err := store.Load(t.Context(), "one"); err != nil || len(got) != len(whole) {
		t.Errorf("%d events of %d, %v", len(got), len(whole), err)
	}
	talk(t, store, "one", "Go on", "Done.")
	if got, err := store.Load(t.Context(), "one"); err != nil || len(got) <= len(whole) || got[len(got)-1].Seq != int64(len(got)) {
		t.Errorf("%d events, %v", len(got), err)
	}
	for _, id := range []string{"../x", "", "a/b", `a\b`, ".."} {
		if err := store.Append(t.Context(), id, 0, whole[:1]); err == nil {
			t.Errorf("%q names a session", id)
		}
	}
}
