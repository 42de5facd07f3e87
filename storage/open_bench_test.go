package storage_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

// manySessions fills a home with so many sessions, and one of 50,000 messages.
func manySessions(b *testing.B, home string, count int) {
	b.Helper()
	s, err := storage.Open(b.Context(), home)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	cost := llm.Cost(1_000_000)
	fill := func(id string, turns int) {
		err := s.CreateSession(b.Context(), backend.SessionInfo{
			ID: id, Folder: "/p", State: agent.StateIdle, Settings: agent.Settings{Provider: "demo", Model: "tour", Mode: agent.ModeDefault}, Usage: llm.Usage{Known: true},
		})
		if err != nil {
			b.Fatal(err)
		}
		events := []agent.Event{{Session: id, Data: agent.SessionStart{Folder: "/p"}}}
		for i := range turns {
			at := int64(i)
			events = append(events,
				agent.Event{Session: id, Turn: i + 1, At: at, Data: agent.UserInput{Text: fmt.Sprintf("Prompt %d of %s. %s", i, id, strings.Repeat("word ", 40))}},
				agent.Event{Session: id, Turn: i + 1, At: at, Data: agent.ToolCallEnd{CallID: fmt.Sprint("c", i), Tool: "Bash", Output: strings.Repeat("line of output\n", 60), Outcome: agent.OutcomeDone}},
				agent.Event{Session: id, Turn: i + 1, At: at, Data: agent.TextEnd{
					Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.PartText, Text: strings.Repeat("An answer. ", 30)}}},
					Usage:   llm.Usage{Input: 100, Known: true}, Cost: &cost, Provider: "demo", Model: "tour",
				}},
				agent.Event{Session: id, Turn: i + 1, At: at, Data: agent.ProcessingEnd{Reason: agent.EndDone}})
		}
		if _, err := s.Append(b.Context(), events...); err != nil {
			b.Fatal(err)
		}
	}
	for i := range count {
		fill(fmt.Sprintf("s%06d", i), 3)
	}
	fill("long", 25_000)
}

// BenchmarkOpen measures the start with 10,000 sessions and one of 50,000
// messages: with all checks of the start, which may take 50 ms.
func BenchmarkOpen(b *testing.B) {
	home := os.Getenv("ATELIER_BENCH_HOME") // kept between runs, because filling it takes a while
	if home == "" {
		home = b.TempDir()
	}
	if _, err := os.Stat(filepath.Join(home, storage.File)); err != nil {
		manySessions(b, home, 10_000)
	}
	for b.Loop() {
		s, err := storage.Open(b.Context(), home)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
