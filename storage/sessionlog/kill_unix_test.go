//go:build unix

package sessionlog_test

import (
	"bufio"
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-sqlite3"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/compaction"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/sessions"
	"atelier.dev/atelier/storage/sessionlog"
)

var kills = flag.Int("kills", 6, "how often a compaction is killed")

// killed names the variable with the database of the process that is killed.
const killed = "SESSIONLOG_KILLED"

func TestMain(m *testing.M) {
	if path := os.Getenv(killed); path != "" {
		compactUntilKilled(path)
	}
	os.Exit(m.Run())
}

func open(path string) (*sessions.Store, *sql.DB, error) {
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		return nil, nil, err
	}
	log, err := sessionlog.Open(context.Background(), db)
	return &sessions.Store{Log: log}, db, err
}

func session(past []agent.Event, rounds ...llmtest.Round) (*agent.Session, error) {
	model := llmtest.Script(rounds...)
	return agent.New(agent.Config{
		ID: "s", Model: model, Gate: agent.AllowAll, Profiles: agent.Plain("Be kind.", nil),
		Settings: agent.Settings{Provider: llmtest.Provider, Model: "m"}, Compactor: &compaction.Service{Model: model},
	}, past...)
}

// compactUntilKilled compacts the session of a database, and says what it does before each
// event is stored.
func compactUntilKilled(path string) {
	must := func(err error) {
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
	}
	store, _, err := open(path)
	must(err)
	past, err := store.Load(context.Background(), "s")
	must(err)
	s, err := session(past, llmtest.Round{Text: "In short."})
	must(err)
	count := int64(len(past))
	for ev, err := range s.Compact(context.Background(), "") {
		must(err)
		fmt.Println(ev.Kind())
		count, err = store.Save(context.Background(), "s", count, ev)
		must(err)
	}
	fmt.Println("done")
	select {}
}

// texts are what a model would be shown.
func texts(s *agent.Session) (all []string) {
	for it := range s.Transcript().Conversation().Items() {
		all = append(all, it.ID()+" "+it.Text())
	}
	return all
}

// COM-19: a program that is killed in the middle of a compaction leaves the conversation as it
// was, or compacted, and nothing between; the session goes on.
func TestKilledWhileCompacting(t *testing.T) {
	t.Parallel()
	var before, after int
	for i := range *kills {
		path := filepath.Join(t.TempDir(), "sessions.db")
		store, db, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := session(nil, llmtest.Round{Text: strings.Repeat("It is so. ", 500), Usage: llm.Usage{Input: 100, Output: 1500, Known: true}})
		if err != nil {
			t.Fatal(err)
		}
		var count int64
		for _, err := range store.Keep(t.Context(), "s", &count, s.Run(t.Context(), "What is it?")) {
			if err != nil {
				t.Fatal(err)
			}
		}
		whole := texts(s)
		db.Close()
		stopped := kill(t, path, i)
		store, db, err = open(path)
		if err != nil {
			t.Fatal(err)
		}
		past, err := store.Load(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		s, err = session(past, llmtest.Round{Text: "I go on."})
		if err != nil {
			t.Fatal(err)
		}
		switch got := texts(s); {
		case cmp.Equal(whole, got):
			before++
		case strings.Contains(got[0], "In short."):
			after++
		default:
			t.Errorf("killed at %s: %.200q", stopped, got)
		}
		for _, err := range s.Resume(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if r, err := s.Prompt(t.Context(), "Go on."); err != nil || r.Text != "I go on." {
			t.Errorf("killed at %s: %+v, %v", stopped, r, err)
		}
		db.Close()
	}
	if before == 0 || after == 0 {
		t.Errorf("%d were as before, %d compacted: not both were tried", before, after)
	}
}

// kill has a process compact, and kills it once it has said so many lines.
func kill(t *testing.T, path string, lines int) (last string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), killed+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	for n := 0; said.Scan(); n++ {
		if last = said.Text(); strings.HasPrefix(last, "failed") {
			t.Error(last)
		}
		if n >= lines%8 || last == "done" {
			break
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return last
}
