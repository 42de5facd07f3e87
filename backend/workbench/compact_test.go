package workbench_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/contexts"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// compactModel has a window of 128,000 tokens.
const compactModel = "gpt-4o"

// lengthy returns a session whose first turn had the given number of tokens.
func lengthy(t *testing.T, tokens int64, rounds ...llmtest.Round) (*page, *llmtest.Server, string) {
	t.Helper()
	return lengthyOn(t, func(s *storage.Store) backend.Store { return s }, tokens, rounds...)
}

// lengthyOn is lengthy with a wrapper around the store.
func lengthyOn(t *testing.T, around func(*storage.Store) backend.Store, tokens int64, rounds ...llmtest.Round) (*page, *llmtest.Server, string) {
	t.Helper()
	first := llmtest.Round{Text: strings.Repeat(strings.Repeat("word,", 400)+" ", int(tokens)/500), Usage: llm.Usage{Input: tokens, Output: 10, Known: true}}
	server := llmtest.Serve(t, append([]llmtest.Round{first}, rounds...)...)
	p := newPageOn(t, environment(server, "sk-test"), around)
	id := p.session("openai")
	set := agent.Settings{Provider: "openai", Model: compactModel, Mode: agent.ModeDefault}
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: id, Settings: set})
	p.send(id, "Mend the login.")
	await(p, anyOf[agent.ProcessingEnd])
	return p, server, id
}

// K-08, COM-16, COM-93: a conversation that exceeds the setting's share of the
// window is summarised by the session's own model before the next request. The
// ledger has the cost and its purpose.
func TestCompact(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		when      backend.CompactWhen
		tokens    int64
		threshold int64 // 0 for none
	}{
		"as shipped":     {"", 105_000, 102_400},
		"below":          {"", 100_000, 0},
		"at a share":     {backend.CompactAtShare, 105_000, 102_400},
		"before the end": {backend.CompactAtEnd, 105_000, 0},
		"at the end":     {backend.CompactAtEnd, 119_000, 118_000},
		"never":          {backend.CompactNever, 119_000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rounds := []llmtest.Round{{Text: "## Goal\nThe login.", Usage: small}, {Text: "Yes.", Usage: small}}
			if tt.threshold == 0 {
				rounds = rounds[1:]
			}
			p, server, id := lengthy(t, tt.tokens, rounds...)
			prefer(p, func(prefs *backend.Preferences) { prefs.Compact = tt.when })
			p.send(id, "Go on.")
			if tt.threshold == 0 {
				await(p, anyOf[agent.ProcessingEnd])
				if n := len(server.Requests()); n != 2 {
					t.Errorf("%d requests", n)
				}
				return
			}
			start, side, end := await(p, anyOf[agent.CompactionStart]), await(p, anyOf[agent.SideRequest]), await(p, anyOf[agent.CompactionEnd])
			if start.Threshold != tt.threshold || end.Outcome != agent.OutcomeDone || end.Summary != "## Goal\nThe login." {
				t.Errorf("%+v, then %+v", start, end)
			}
			if done := await(p, anyOf[agent.ProcessingEnd]); done.Reason != agent.EndDone {
				t.Errorf("ended as %s", done.Reason)
			}
			summary, next := string(server.Requests()[1].Body), string(server.Requests()[2].Body)
			if !strings.Contains(summary, compactModel) || !strings.Contains(summary, "word,word") || strings.Contains(next, "word,word") || !strings.Contains(next, "The login.") {
				t.Errorf("asked %.500s, then %.500s", summary, next)
			}
			costs := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{Session: id})
			if costs.Total.Requests != 3 || side.Purpose != agent.PurposeSummary || side.Model != compactModel || side.Cost == nil || *side.Cost == 0 {
				t.Errorf("%+v, in all %+v", side, costs.Total)
			}
		})
	}
}

// readsMany returns a session whose model reads twenty long files, which fill its window,
// and then answers with the given rounds.
func readsMany(t *testing.T, room contexts.RoomSettings, then ...llmtest.Round) (*page, *llmtest.Server, string) {
	t.Helper()
	const reads = 20
	var rounds []llmtest.Round
	for i := range reads {
		rounds = append(rounds, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"file_path": fmt.Sprint(i)})}, Usage: small})
	}
	rounds[reads-1].Usage = llm.Usage{Input: 105_000, Output: 10, Known: true}
	server := llmtest.Serve(t, append(rounds, then...)...)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	for i := range reads {
		text := fmt.Sprintf("This is file %d.\n", i) + strings.Repeat("It is a line.\n", 1500) + fmt.Sprintf("TOKEN=sk-test and the end of %d.\n", i)
		if err := os.WriteFile(filepath.Join(p.folder, fmt.Sprint(i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	prefer(p, func(prefs *backend.Preferences) { prefs.Levels.Low, prefs.PlainTitles = "openai/gpt-4o-mini", true })
	must[contexts.RoomSettings](p, "context.setRoom", room)
	id := p.session("openai")
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: id, Settings: agent.Settings{Provider: "openai", Model: compactModel, Mode: agent.ModeDefault}})
	p.send(id, "Look around.")
	return p, server, id
}

// COM-20, COM-21: what a compaction shortens becomes a file of the session, which the model
// reads without asking, and which goes with the session.
func TestOffloadOfSessions(t *testing.T) {
	t.Parallel()
	p, server, id := readsMany(t, contexts.RoomSettings{}, llmtest.Round{Text: "Done.", Usage: small})
	end := await(p, anyOf[agent.CompactionEnd])
	if len(end.Steps) == 0 || len(end.Steps[0].Files) != 15 {
		t.Fatalf("%+v", end)
	}
	path := end.Steps[0].Files["tool_result:1:1"]
	await(p, anyOf[agent.ProcessingEnd])
	server.Add(llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"file_path": path, "offset": 1400})}, Usage: small}, llmtest.Round{Text: "I see.", Usage: small})
	p.send(id, "What did file 0 say in the end?")
	read := await(p, func(e agent.ToolCallEnd) bool { return e.Tool == "Read" && strings.Contains(e.Output, "the end of") })
	if read.IsError || !strings.Contains(read.Output, "the end of 0.") {
		t.Errorf("%+v", read)
	}
	await(p, anyOf[agent.ProcessingEnd])
	must[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: id})
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

// COM-14, COM-16: sessions follow the user's choices of how room is made. Rules that suffice
// spare the summary, which the small model writes else.
func TestRoomOfSessions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		room  contexts.RoomSettings
		steps bool
		by    string
	}{
		"as shipped":   {contexts.RoomSettings{}, true, ""},
		"by a summary": {contexts.RoomSettings{Preset: contexts.RulesSummary}, false, "gpt-4o-mini"},
		"by the same":  {contexts.RoomSettings{Preset: contexts.RulesSummary, OwnSummary: true}, false, compactModel},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, server, id := readsMany(t, tt.room, llmtest.Round{Text: "In short.", Usage: small}, llmtest.Round{Text: "Done.", Usage: small})
			end := await(p, anyOf[agent.CompactionEnd])
			if end.Outcome != agent.OutcomeDone || len(end.Steps) > 0 != tt.steps || (end.Summary != "") == tt.steps {
				t.Errorf("%+v", end)
			}
			await(p, anyOf[agent.ProcessingEnd])
			costs := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{Session: id})
			by := ""
			for _, r := range server.Requests() {
				if body := string(r.Body); strings.Contains(body, "You summarise the older part") {
					by = compactModel
					if strings.Contains(body, "gpt-4o-mini") {
						by = "gpt-4o-mini"
					}
				}
			}
			if by != tt.by || costs.Total.Requests != len(server.Requests()) {
				t.Errorf("summarised by %q, %d requests counted", by, costs.Total.Requests)
			}
		})
	}
}

// undecided is a store whose preferences cannot be read once lost is set.
type undecided struct {
	backend.Store
	lost atomic.Bool
}

func (u *undecided) Setting(ctx context.Context, key string) (string, error) {
	if u.lost.Load() && key == backend.PreferencesSetting {
		return "", errFault
	}
	return u.Store.Setting(ctx, key)
}

// If the user's choice cannot be read, no summary is paid for that may be unwanted.
func TestUnreadableChoiceCompactsNothing(t *testing.T) {
	t.Parallel()
	store := &undecided{}
	p, server, id := lengthyOn(t, func(s *storage.Store) backend.Store {
		store.Store = s
		return store
	}, 119_000, llmtest.Round{Text: "Yes.", Usage: small})
	store.lost.Store(true)
	p.send(id, "Go on.")
	if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndDone || len(server.Requests()) != 2 {
		t.Errorf("ended as %s after %d requests", end.Reason, len(server.Requests()))
	}
}

// COM-19: a person can have a conversation summarised between two turns, and
// say what should stay. The next request has the summary, also in another
// process.
func TestCompactByHand(t *testing.T) {
	t.Parallel()
	folder, home := t.TempDir(), t.TempDir()
	server := llmtest.Serve(t, llmtest.Round{Text: strings.Repeat("word,", 1000), Usage: small},
		llmtest.Round{Text: "## Goal\nThe login.", Usage: small}, llmtest.Round{Text: "Yes.", Usage: small})
	p := newPage(t, folder, home, environment(server, "sk-test"))
	id := p.session("openai")
	request := workbench.CompactRequest{Session: id, Focus: "the names"}
	if _, err := call[backend.Empty](p, "conversation.compact", request); err == nil || err.Code != backend.CodeInvalid {
		t.Errorf("an empty session was summarised: %v", err)
	}
	p.send(id, "Mend the login.")
	await(p, anyOf[agent.ProcessingEnd])
	must[backend.Empty](p, "conversation.compact", request)
	if end := await(p, anyOf[agent.CompactionEnd]); end.Outcome != agent.OutcomeDone || end.Trigger != agent.CompactManual {
		t.Errorf("%+v", end)
	}
	info := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id}).Session
	if info.State != agent.StateIdle || info.LastEnd != agent.EndDone || info.Context >= small.Input {
		t.Errorf("%+v", info)
	}
	p.close()
	p = newPage(t, folder, home, environment(server, "sk-test"))
	p.send(id, "Go on.")
	await(p, anyOf[agent.ProcessingEnd])
	summary, next := string(server.Requests()[1].Body), string(server.Requests()[2].Body)
	if !strings.Contains(summary, "the names") || strings.Contains(next, "word,word") || !strings.Contains(next, "Mend the login.") {
		t.Errorf("asked %.500s, then %.500s", summary, next)
	}
}

// While a summary is written, the session is shown as working, accepts nothing
// else and can be stopped, which changes nothing. A compaction that ended with
// the process is marked as ended by the next.
func TestCompactIsCutOff(t *testing.T) {
	t.Parallel()
	folder, home := t.TempDir(), t.TempDir()
	server := llmtest.Serve(t, llmtest.Round{Text: strings.Repeat("word,", 1000), Usage: small}, llmtest.Round{Text: "## Goal", Hang: true}, llmtest.Round{Text: "## Goal", Hang: true})
	p := newPage(t, folder, home, environment(server, "sk-test"))
	id := p.session("openai")
	p.send(id, "Mend the login.")
	await(p, anyOf[agent.ProcessingEnd])
	must[backend.Empty](p, "conversation.compact", workbench.CompactRequest{Session: id})
	await(p, anyOf[agent.CompactionStart])
	if state := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id}).Session.State; state != agent.StateProcessing {
		t.Errorf("the session is %s", state)
	}
	if _, err := call[backend.Empty](p, "conversation.send", conversation.SendRequest{Session: id, Text: "now"}); err == nil || err.Code != backend.CodeBusy {
		t.Errorf("sent meanwhile: %v", err)
	}
	must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: id})
	if end := await(p, anyOf[agent.CompactionEnd]); end.Outcome != agent.OutcomeInterrupted {
		t.Errorf("%+v", end)
	}
	must[backend.Empty](p, "conversation.compact", workbench.CompactRequest{Session: id})
	await(p, anyOf[agent.CompactionStart])
	killed := t.TempDir() // the disk now has what a killed process would leave
	if err := os.CopyFS(killed, os.DirFS(home)); err != nil {
		t.Fatal(err)
	}
	p = newPage(t, folder, killed, environment(llmtest.Serve(t, llmtest.Round{Text: "Yes.", Usage: small}), "sk-test"))
	if err := p.bench.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if end := await(p, anyOf[agent.CompactionEnd]); end.Outcome != agent.OutcomeInterrupted {
		t.Errorf("%+v", end)
	}
	p.send(id, "Go on.")
	if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndDone {
		t.Errorf("ended as %s", end.Reason)
	}
}
