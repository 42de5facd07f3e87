//go:build sqlite_fts5 || fts5

package prompts_test

import (
	"fmt"
	"slices"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/prompts"
	"atelier.dev/atelier/storage"
	"atelier.dev/atelier/storage/search"
	"github.com/google/go-cmp/cmp"
)

// stage has sessions of two projects.
func stage(t *testing.T) (*prompts.Prompts, func(session, folder string, payloads ...agent.Payload)) {
	t.Helper()
	home := t.TempDir()
	store, err := storage.Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	index := search.Open(home, store.Logs())
	t.Cleanup(func() { _ = index.Close(); _ = store.Close() })
	at := int64(1_793_534_400_000)
	add := func(session, folder string, payloads ...agent.Payload) {
		t.Helper()
		info := backend.SessionInfo{ID: session, Folder: folder, State: agent.StateIdle, CreatedAt: at, UpdatedAt: at}
		if session == "agent" {
			info.Helper = &agent.Helper{Parent: "one"}
		}
		if err := store.CreateSession(t.Context(), info); err != nil {
			t.Fatal(err)
		}
		events := []agent.Event{{Session: session, At: at, Data: agent.SessionStart{Folder: folder, Helper: info.Helper}}}
		for _, p := range payloads {
			at += 1000
			events = append(events, agent.Event{Session: session, At: at, Data: p})
		}
		if _, err := store.Append(t.Context(), events...); err != nil {
			t.Fatal(err)
		}
		if err := index.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return prompts.New(prompts.Config{Folder: "/shop", Store: store, Search: index}), add
}

func texts(t *testing.T, p *prompts.Prompts, in prompts.PromptQuery) []string {
	t.Helper()
	list, err := p.List(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, one := range list.Prompts {
		out = append(out, one.Text)
	}
	return out
}

// What a person sent is found again, in all sessions, the newest first and each once (OC-05, OC-07).
func TestList(t *testing.T) {
	t.Parallel()
	p, add := stage(t)
	add("one", "/shop", agent.UserInput{Text: "Fix the login"}, agent.Title{Text: "Login"},
		agent.SteeringInjected{Text: "and the tests"}, agent.SteeringInjected{Text: "You have one minute.", ByLoop: true},
		agent.UserInput{Text: "# Review\nmain", Typed: "/review main"}, agent.UserInput{Text: "tool:Bash is slow"})
	add("agent", "/shop", agent.UserInput{Text: "Fix the login of an agent"})
	add("two", "/shop", agent.UserInput{Text: "Fix the login"}, agent.UserInput{Text: "从另一个会话", From: "worker"})
	add("three", "/bank", agent.UserInput{Text: "Fix the vault"})
	for name, tt := range map[string]struct {
		in   prompts.PromptQuery
		want []string
	}{
		"the project's":             {prompts.PromptQuery{}, []string{"Fix the login", "tool:Bash is slow", "/review main", "and the tests"}},
		"all projects'":             {prompts.PromptQuery{Text: "fix", All: true}, []string{"Fix the vault", "Fix the login"}},
		"every word":                {prompts.PromptQuery{Text: "LOGIN fix"}, []string{"Fix the login"}},
		"words are no filters":      {prompts.PromptQuery{Text: "tool:bash"}, []string{"tool:Bash is slow"}},
		"words are no exclusions":   {prompts.PromptQuery{Text: `-login "`}, []string{}},
		"the part of the agent":     {prompts.PromptQuery{Text: "minute"}, []string{}},
		"the newest, not all":       {prompts.PromptQuery{Limit: 2}, []string{"Fix the login", "tool:Bash is slow"}},
		"what was typed, not made":  {prompts.PromptQuery{Text: "review"}, []string{"/review main"}},
		"what nobody has ever sent": {prompts.PromptQuery{Text: "nothing of this", All: true}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, texts(t, p, tt.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An answer is bounded and says so; more messages of one session than a search shows are found.
func TestManyOfOneSession(t *testing.T) {
	t.Parallel()
	p, add := stage(t)
	var sent []agent.Payload
	for i := range 300 {
		sent = append(sent, agent.UserInput{Text: fmt.Sprintf("message %d", i)})
	}
	add("one", "/shop", sent...)
	list, err := p.List(t.Context(), prompts.PromptQuery{})
	if err != nil || len(list.Prompts) != 50 || !list.More || list.Prompts[0].Text != "message 299" {
		t.Errorf("%d messages, more: %v, %v", len(list.Prompts), list.More, err)
	}
	if got := texts(t, p, prompts.PromptQuery{Limit: 100_000}); len(got) != 200 || !slices.Contains(got, "message 100") {
		t.Errorf("%d messages", len(got))
	}
	if list, err := prompts.New(prompts.Config{}).List(t.Context(), prompts.PromptQuery{}); err != nil || list.Prompts != nil {
		t.Errorf("without a search: %+v %v", list, err)
	}
}
