package workbench_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

const smallID = "gpt-6-luna"

// suggestions switches them on, from a small model with a script of its own.
// Sessions are named after their first prompt, so that nothing else is asked.
func suggestions(prefs *backend.Preferences) {
	prefs.Levels.Low, prefs.PlainTitles, prefs.SuggestPrompts = "openai/"+smallID, true, true
}

// suggesting returns a page with suggestions switched on.
func suggesting(t *testing.T, rounds ...llmtest.Round) (*page, *llmtest.Server) {
	t.Helper()
	server := llmtest.Serve(t, rounds...)
	server.Script(smallID) // which waits for its rounds
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	prefer(p, suggestions)
	return p, server
}

// log returns a session's events of one kind.
func log[P agent.Payload](p *page, id string) (found []P) {
	p.t.Helper()
	for _, ev := range must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id}).Events {
		if d, ok := ev.Data.(P); ok {
			found = append(found, d)
		}
	}
	return found
}

// OAS-102, COM-51: after each turn that ended well, the small model suggests a
// prompt, from the beginning and the end of the conversation. The suggestion is
// stored and paid for, and is not a part of the conversation.
func TestSuggestion(t *testing.T) {
	t.Parallel()
	rounds := []llmtest.Round{{Text: "Shall I test it?", Usage: small}, {Text: "2"}, {Text: "3"}, {Text: "4"}, {Text: "5"}}
	p, server := suggesting(t, rounds...)
	id := p.session("compat")
	server.Script(smallID, llmtest.Round{Text: "“Yes,  test it”\n", Usage: small})
	p.send(id, "Mend the login")
	side := await(p, anyOf[agent.SideRequest])
	if side.Purpose != agent.PurposeSuggestion || side.Model != smallID || side.Cost == nil || *side.Cost == 0 {
		t.Errorf("%+v", side)
	}
	if got := await(p, anyOf[agent.PromptSuggestion]); got.Text != "Yes, test it" {
		t.Errorf("suggested %q", got.Text)
	}
	costs := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{Session: id})
	if costs.Total.Requests != 2 || costs.Total.Cost.Cost != *side.Cost {
		t.Errorf("%+v", costs)
	}
	for _, input := range []string{"two", "three", "four", "five"} {
		server.Script(smallID, llmtest.Round{Text: "Go on after " + input, Usage: small})
		p.send(id, input)
		await(p, anyOf[agent.PromptSuggestion])
	}
	for n, turns := range map[int][]string{2: {"two", "three"}, 3: {"two", "three", "four"}, 4: {"three", "four", "five"}} {
		shown := asked(server, smallID)[n]
		for _, want := range append(turns, "Mend the login") {
			if strings.Count(shown, want) != 1 {
				t.Errorf("after turn %d the model was not shown %q once: %s", n+1, want, shown)
			}
		}
		if n == 4 && strings.Contains(shown, "two") {
			t.Errorf("the model was shown old turns: %s", shown)
		}
	}
	for _, r := range server.Requests() {
		if body := string(r.Body); !strings.Contains(body, smallID) && strings.Contains(body, "Yes, test it") {
			t.Errorf("the conversation holds a suggestion: %s", body)
		}
	}
}

// Nothing is suggested if it is switched off, if nobody reads it, without a
// small model, after a turn that failed, or when the budget is spent (OAS-115).
func TestNoSuggestion(t *testing.T) {
	t.Parallel()
	done := llmtest.Round{Text: "Done.", Usage: small}
	for name, tt := range map[string]struct {
		round    llmtest.Round
		provider string
		prefer   func(*backend.Preferences)
		config   func(*workbench.Config)
		budget   llm.Cost
	}{
		"as shipped": {round: done, provider: "compat", prefer: func(prefs *backend.Preferences) {
			*prefs = backend.Preferences{Levels: prefs.Levels, PlainTitles: true}
		}},
		"no small model": {round: done, provider: "openai", prefer: func(prefs *backend.Preferences) { prefs.Levels.Low = "" }},
		"a failed turn":  {round: llmtest.Round{Status: 404}, provider: "compat"},
		"nobody there":   {round: done, provider: "compat", config: func(c *workbench.Config) { c.Unattended = true }},
		"a spent budget": {round: done, provider: "compat", budget: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Serve(t, tt.round)
			server.Script(smallID, done)
			p := openPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"), func(s *storage.Store) backend.Store { return s }, tt.config)
			prefer(p, suggestions)
			if tt.prefer != nil {
				prefer(p, tt.prefer)
			}
			id := p.session(tt.provider)
			must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: id, Settings: agent.Settings{
				Provider: tt.provider, Model: model, Mode: agent.ModeDefault, Budget: tt.budget,
			}})
			p.send(id, "go")
			await(p, anyOf[agent.ProcessingEnd])
			settle(p, id)
			settle(p, id) // by now one would be recorded
			if got := log[agent.PromptSuggestion](p, id); len(got) > 0 || len(asked(server, smallID)) > 0 {
				t.Errorf("asked %v, suggested %v", asked(server, smallID), got)
			}
		})
	}
}

// A queued follow-up comes first: only the last turn is followed by a
// suggestion. An agent's turns are not.
func TestSuggestionComesLast(t *testing.T) {
	t.Parallel()
	p, server := suggesting(t)
	server.Script("helper", llmtest.Round{Text: "Looked."})
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look.", nil)}})
	id := p.session("openai")
	p.send(id, "first")
	child, _ := agentOf(p, "Agent")
	p.queue(id, agent.FollowUp, "second")
	server.Script(model,
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Wait", map[string]any{"agent_id": child})}},
		llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	server.Script(smallID, llmtest.Round{Text: "Go on", Usage: small})
	await(p, anyOf[agent.PromptSuggestion])
	bodies := asked(server, smallID)
	if len(bodies) != 1 || !strings.Contains(bodies[0], "Two.") {
		t.Errorf("asked %v", bodies)
	}
}

// A suggestion that arrives after the user has continued is paid for and not
// shown.
func TestStaleSuggestion(t *testing.T) {
	t.Parallel()
	p, server := suggesting(t)
	server.Script(model, llmtest.Round{Text: "One."})
	id := p.session("compat")
	p.send(id, "first")
	await(p, anyOf[agent.ProcessingEnd])
	p.send(id, "second")
	prefer(p, func(prefs *backend.Preferences) { prefs.SuggestPrompts = false })
	server.Script(model, llmtest.Round{Text: "Two."})
	await(p, anyOf[agent.ProcessingEnd])
	server.Script(smallID, llmtest.Round{Text: "What you did already", Usage: small})
	if side := await(p, anyOf[agent.SideRequest]); side.Cost == nil || *side.Cost == 0 {
		t.Errorf("%+v", side)
	}
	settle(p, id)
	if got := log[agent.PromptSuggestion](p, id); len(got) > 0 {
		t.Errorf("suggested %v", got)
	}
}

// A suggestion that breaks off is dropped, and its cost is unknown.
func TestSuggestionBreaksOff(t *testing.T) {
	t.Parallel()
	p, server := suggesting(t, llmtest.Round{Text: "One."})
	id := p.session("compat")
	server.Script(smallID, llmtest.Round{Text: "Run the", Error: "invalid_request_error"})
	p.send(id, "first")
	if side := await(p, anyOf[agent.SideRequest]); side.Cost != nil || side.Usage.Known {
		t.Errorf("%+v", side)
	}
	settle(p, id)
	if got := log[agent.PromptSuggestion](p, id); len(got) > 0 {
		t.Errorf("suggested %v", got)
	}
}

// If the program ends while a suggestion is awaited, the suggestion is
// cancelled, and the session continues as usual.
func TestCloseGivesUpASuggestion(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	server.Script(model, llmtest.Round{Text: "One."})
	server.Script(smallID)
	folder, home := t.TempDir(), t.TempDir()
	p := newPage(t, folder, home, environment(server, "sk-test"))
	prefer(p, suggestions)
	id := p.session("compat")
	p.send(id, "first")
	await(p, anyOf[agent.ProcessingEnd])
	server.AwaitRequests(t, 2) // the turn's request, and the one for a suggestion
	p.close()
	server.AwaitIdle(t) // otherwise the cancelled request could take the next answer

	p = newPage(t, folder, home, environment(server, "sk-test"))
	if got := log[agent.PromptSuggestion](p, id); len(got) > 0 {
		t.Errorf("suggested %v", got)
	}
	server.Script(model, llmtest.Round{Text: "Two."})
	server.Script(smallID, llmtest.Round{Text: "Go on", Usage: small})
	p.send(id, "second")
	await(p, anyOf[agent.PromptSuggestion])
}

// batches is a store that records which events were stored together.
type batches struct {
	backend.Store
	mu  sync.Mutex
	all [][]agent.Kind
}

func (b *batches) Append(ctx context.Context, events ...agent.Event) (int64, error) {
	var kinds []agent.Kind
	for _, ev := range events {
		kinds = append(kinds, ev.Kind())
	}
	b.mu.Lock()
	b.all = append(b.all, kinds)
	b.mu.Unlock()
	return b.Store.Append(ctx, events...)
}

// A suggestion and its cost are stored together, so that the program cannot end
// in between.
func TestSuggestionIsStoredWithItsCost(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "One."})
	server.Script(smallID, llmtest.Round{Text: "Go on", Usage: small})
	var stored *batches
	p := newPageOn(t, environment(server, "sk-test"), func(s *storage.Store) backend.Store {
		stored = &batches{Store: s}
		return stored
	})
	prefer(p, suggestions)
	p.send(p.session("compat"), "go")
	await(p, anyOf[agent.PromptSuggestion])
	stored.mu.Lock()
	defer stored.mu.Unlock()
	want := []agent.Kind{agent.KindSideRequest, agent.KindPromptSuggestion}
	if diff := cmp.Diff(want, stored.all[len(stored.all)-1]); diff != "" {
		t.Error(diff)
	}
}

// full is a store that can be made full.
type full struct {
	backend.Store
	now atomic.Bool
}

func (f *full) Append(ctx context.Context, events ...agent.Event) (int64, error) {
	if f.now.Load() {
		return 0, &backend.Error{Code: backend.CodeStoreFailed, Message: "The disk is full."}
	}
	return f.Store.Append(ctx, events...)
}

// A turn that could not be stored is not followed by a second suggestion for
// the one before it.
func TestLostTurnSuggestsNothing(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "One."})
	server.Script(smallID, llmtest.Round{Text: "Go on", Usage: small})
	var disk *full
	p := newPageOn(t, environment(server, "sk-test"), func(s *storage.Store) backend.Store {
		disk = &full{Store: s}
		return disk
	})
	prefer(p, suggestions)
	id := p.session("compat")
	p.send(id, "first")
	await(p, anyOf[agent.PromptSuggestion])
	disk.now.Store(true)
	p.send(id, "second")
	await(p, anyOf[agent.ProcessingEnd])
	disk.now.Store(false)
	settle(p, id)
	if n := len(asked(server, smallID)); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// unpaid is a store without room for a side request, until it has room again.
type unpaid struct {
	backend.Store
	room atomic.Bool
}

func (u *unpaid) Append(ctx context.Context, events ...agent.Event) (int64, error) {
	if !u.room.Load() && events[0].Kind() == agent.KindSideRequest {
		return 0, &backend.Error{Code: backend.CodeStoreFailed, Message: "The disk is full."}
	}
	return u.Store.Append(ctx, events...)
}

// The cost of a suggestion that could not be recorded at once is recorded
// later.
func TestSuggestionIsPaidForLater(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	server.Script(smallID, llmtest.Round{Text: "Go on", Usage: small}, llmtest.Round{Text: "-", Usage: small})
	var disk *unpaid
	p := newPageOn(t, environment(server, "sk-test"), func(s *storage.Store) backend.Store {
		disk = &unpaid{Store: s}
		return disk
	})
	prefer(p, suggestions)
	id := p.session("compat")
	p.send(id, "first")
	await(p, func(end agent.ProcessingEnd) bool { return end.Reason == agent.EndFailed })
	disk.room.Store(true)
	p.send(id, "second")
	await(p, anyOf[agent.SideRequest])
	await(p, anyOf[agent.SideRequest])
	if n := len(asked(server, smallID)); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

// A model's answer becomes one line that can be sent as it is shown, or
// nothing.
func TestSuggestionFrom(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"Run the tests":               "Run the tests",
		" \"Run  the tests\" \n":      "Run the tests",
		"**“运行测试”**":                  "运行测试",
		`"a" or "b"`:                  `"a" or "b"`,
		`Rename "a" to "b"`:           `Rename "a" to "b"`,
		"-":                           "",
		"—":                           "",
		"!make":                       "",
		"` !make`":                    "",
		"\u200b\"!make\"":             "",
		"Really!":                     "Really!",
		"":                            "",
		"\"\"":                        "",
		"A prompt:\nRun the tests":    "",
		"Run\u202e the\U000e0041\x1b": "Run the",
		strings.Repeat("长", 120):      strings.Repeat("长", 120),
		strings.Repeat("长", 121):      "",
	} {
		if got := workbench.SuggestionFrom(answer); got != want {
			t.Errorf("%q became %q, not %q", answer, got, want)
		}
	}
}

func FuzzSuggestionFrom(f *testing.F) {
	for _, seed := range []string{"Run the tests", "“a”", "**\"a\"**", "a\u2028b", "\"\U000e0041\"", "-", "\"!ls\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		got := workbench.SuggestionFrom(answer)
		unseen := strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) })
		if unseen || strings.HasPrefix(got, "!") || utf8.RuneCountInString(got) > 120 || got != workbench.SuggestionFrom(got) {
			t.Errorf("%q became %q", answer, got)
		}
	})
}
