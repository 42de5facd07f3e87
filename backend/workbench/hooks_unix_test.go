//go:build unix

package workbench_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/hooks"
	"atelier.dev/atelier/backend/review"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// put writes a file of a test.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// onBash is a settings file with a hook before calls of Bash.
func onBash(command string) string { return onEvent("PreToolUse", "Bash", command) }

func onEvent(event, matcher, command string) string {
	b, _ := json.Marshal(map[string]any{"hooks": map[string]any{event: []any{
		map[string]any{"matcher": matcher, "hooks": []any{map[string]any{"type": "command", "command": command}}},
	}}})
	return string(b)
}

func hooksOf(p *page) hooks.HooksReply {
	p.t.Helper()
	return must[hooks.HooksReply](p, "hooks.list", hooks.HooksRequest{})
}

// states lists the hooks with their states.
func states(p *page) (all []string) {
	p.t.Helper()
	for _, row := range hooksOf(p).Hooks {
		all = append(all, string(row.Origin.Scope)+" "+string(row.State))
	}
	return all
}

// trustAll trusts what the folder can make Atelier run.
func trustAll(p *page) {
	p.t.Helper()
	for _, item := range must[review.TrustReply](p, "trust.list", backend.Empty{}).Items {
		shown := must[review.TrustShown](p, "trust.show", review.TrustRequest{ID: item.ID})
		must[backend.Empty](p, "trust.accept", review.TrustAcceptRequest{ID: item.ID, Seal: shown.Seal})
	}
}

// logged waits until the log has some entries of the kind that was asked for, and
// returns them, the oldest first.
func logged(p *page, in hooks.HookLogRequest, n int) []hooks.HookLogRow {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		rows := must[hooks.HookLogReply](p, "hooks.log", in).Entries
		if len(rows) >= n {
			slices.Reverse(rows)
			return rows
		}
		p.more(deadline, "an entry of the log of hooks")
	}
}

// turn has a session run a turn, and returns the end of its first call.
func turn(p *page, session string) agent.ToolCallEnd {
	p.t.Helper()
	p.send(session, "go")
	end := await(p, anyOf[agent.ToolCallEnd])
	await(p, anyOf[agent.ProcessingEnd])
	return end
}

// turns are the rounds of some turns that each call Bash once.
func turns(n int) (rounds []llmtest.Round) {
	for range n {
		rounds = append(rounds, run("true"), llmtest.Round{Text: "Done."})
	}
	return rounds
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(b))
}

// COM-70, OAS-667, COM-85: the hooks of every file run in order, those of the project
// once they are trusted, and those that were written for another program once they
// are switched on.
func TestHooksOfEveryFile(t *testing.T) {
	t.Parallel()
	folder, home, user := t.TempDir(), t.TempDir(), t.TempDir()
	ran := filepath.Join(t.TempDir(), "ran")
	for path, name := range map[string]string{
		user + "/.agent/settings.json": "user", user + "/.claude/settings.json": "foreign",
		folder + "/.agent/settings.json": "project", folder + "/.claude/settings.json": "claude",
		folder + "/.agent/local-settings.json": "local", folder + "/.claude/settings.local.json": "claude-local",
	} {
		put(t, path, onBash("echo "+name+" >> "+ran))
	}
	p := openPage(t, folder, home, homely(llmtest.Serve(t, turns(4)...), user), func(s *storage.Store) backend.Store { return s })
	id := p.session("compat")
	check := func(when string, want, wantStates []string) {
		t.Helper()
		_ = os.Remove(ran)
		turn(p, id)
		if diff := cmp.Diff(want, lines(t, ran)); diff != "" {
			t.Errorf("%s: ran %s", when, diff)
		}
		if diff := cmp.Diff(wantStates, states(p)); diff != "" {
			t.Errorf("%s: listed %s", when, diff)
		}
	}
	check("before anything is trusted", []string{"user"}, []string{
		"user runs", "user foreign", "project untrusted", "project untrusted", "local untrusted", "local untrusted",
	})
	outcomes := map[hooks.HookOutcome]int{}
	for _, row := range logged(p, hooks.HookLogRequest{Session: id, Tool: "Bash"}, 6) {
		outcomes[row.Outcome]++
	}
	if diff := cmp.Diff(map[hooks.HookOutcome]int{hooks.OutcomeRan: 1, hooks.OutcomeOff: 1, hooks.OutcomeUntrusted: 4}, outcomes); diff != "" {
		t.Error(diff)
	}
	trustAll(p)
	check("trusted", []string{"user", "project", "claude", "local", "claude-local"}, []string{
		"user runs", "user foreign", "project runs", "project runs", "local runs", "local runs",
	})
	list := hooksOf(p).Hooks
	for i, on := range map[int]bool{0: false, 1: true, 3: false} {
		must[backend.Empty](p, "hooks.switch", hooks.HookSwitchRequest{ID: list[i].ID, On: on})
	}
	check("switched", []string{"foreign", "project", "local", "claude-local"}, []string{
		"user off", "user runs", "project runs", "project off", "local runs", "local runs",
	})
	p.close()
	p = openPage(t, folder, home, homely(llmtest.Serve(t, turns(4)...), user), func(s *storage.Store) backend.Store { return s })
	check("after a restart", []string{"foreign", "project", "local", "claude-local"}, []string{
		"user off", "user runs", "project runs", "project off", "local runs", "local runs",
	})
	if last := hooksOf(p).Hooks[1].Last; last == nil || last.Session != id {
		t.Errorf("the last run is %+v", last)
	}
}

// guarded returns a page on a folder whose user has a hook in front of Bash.
func guarded(t *testing.T, command string, rounds ...llmtest.Round) (p *page, user string) {
	t.Helper()
	user = t.TempDir()
	put(t, user+"/.agent/settings.json", onBash(command))
	return openPage(t, t.TempDir(), t.TempDir(), homely(llmtest.Serve(t, rounds...), user), func(s *storage.Store) backend.Store { return s }), user
}

const refuses = `grep -q true && { echo "not on Fridays" >&2; exit 2; }`

// K-10, K-34: a call that a hook denies says which hook it was, and the log has
// what the hook was told and said, which can be run again, as can another one.
func TestHookDeniesACall(t *testing.T) {
	t.Parallel()
	p, user := guarded(t, refuses, turns(1)...)
	id := p.session("compat")
	end := turn(p, id)
	file := user + "/.agent/settings.json"
	if end.Outcome != agent.OutcomeDenied || end.Authority.By != agent.ByHook || end.Authority.Hook == nil || end.Authority.Hook.File != file {
		t.Fatalf("%+v by %+v", end, end.Authority)
	}
	if !strings.Contains(end.ForModel(), "not on Fridays") {
		t.Errorf("the model was told %q", end.ForModel())
	}
	row := logged(p, hooks.HookLogRequest{CallID: end.CallID, Point: agent.HookPreToolUse}, 1)[0]
	if row.Outcome != hooks.OutcomeRan || row.Effect.Decision != agent.Deny || *row.ExitCode != 2 || row.Hook.Origin.File != file || row.Hook.Origin.Line != 1 {
		t.Errorf("%+v", row)
	}
	entry := must[hooks.HookLogEntry](p, "hooks.entry", hooks.HookEntryRequest{ID: row.ID})
	var told struct {
		Tool    string                   `json:"tool_name"`
		Camel   string                   `json:"toolName"`
		Input   struct{ Command string } `json:"tool_input"`
		Session string                   `json:"session_id"`
	}
	if err := json.Unmarshal([]byte(entry.Input), &told); err != nil || told.Tool != "Bash" || told.Camel != "Bash" || told.Input.Command != "true" || told.Session != id {
		t.Errorf("%s, %v", entry.Input, err)
	}
	if strings.TrimSpace(entry.Stderr) != "not on Fridays" {
		t.Errorf("it printed %q", entry.Stderr)
	}
	again := must[hooks.HookLogEntry](p, "hooks.replay", hooks.HookReplayRequest{Entry: row.ID})
	if again.Effect.Decision != agent.Deny || again.ID != 0 || again.Input != entry.Input {
		t.Errorf("again: %+v", again)
	}
	draft := hooks.HookDraft{Point: agent.HookPreToolUse, Matcher: "Bash", Action: hooks.HookAction{Kind: hooks.KindCommand, Command: "echo fine"}}
	if other := must[hooks.HookLogEntry](p, "hooks.replay", hooks.HookReplayRequest{Entry: row.ID, Draft: &draft}); other.Effect.Decision != "" || !strings.Contains(other.Stdout, "fine") {
		t.Errorf("another one: %+v", other)
	}
	if n := len(logged(p, hooks.HookLogRequest{Tool: "Bash"}, 1)); n != 1 {
		t.Errorf("the log has %d entries", n)
	}
	must[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: id})
	if _, err := call[hooks.HookLogEntry](p, "hooks.entry", hooks.HookEntryRequest{ID: row.ID}); err == nil || err.ID != backend.ProblemHookEntry {
		t.Errorf("after its session was deleted: %v", err)
	}
}

// A draft is tried on the example of its point, and on the past calls that it
// matches, without any influence.
func TestDraftIsTried(t *testing.T) {
	t.Parallel()
	rounds := []llmtest.Round{run("true"), run("ls"), {Calls: []llmtest.Call{llmtest.Use("Glob", map[string]any{"pattern": "*"})}}, {Text: "Done."}}
	p, _ := guarded(t, "true", rounds...)
	id := p.session("compat")
	turn(p, id)
	draft := hooks.HookDraft{Point: agent.HookPreToolUse, Matcher: "Bash", Action: hooks.HookAction{Kind: hooks.KindCommand, Command: refuses}}
	dry := must[hooks.HookDryRunReply](p, "hooks.dry_run", hooks.HookDryRunRequest{Draft: draft})
	if dry.Calls != 3 || dry.Matched != 2 || len(dry.Examples) != 2 || dry.Examples[0].Text != "ls" || dry.Examples[0].Run != nil {
		t.Errorf("%+v", dry)
	}
	dry = must[hooks.HookDryRunReply](p, "hooks.dry_run", hooks.HookDryRunRequest{Draft: draft, Run: true})
	if len(dry.Examples) != 2 || dry.Examples[0].Run.Effect.Decision != "" || dry.Examples[1].Run.Effect.Decision != agent.Deny {
		t.Errorf("%+v", dry)
	}
	draft.Point = agent.HookPostToolUse
	draft.Action.Command = `cat; exit 0`
	dry = must[hooks.HookDryRunReply](p, "hooks.dry_run", hooks.HookDryRunRequest{Draft: draft, Run: true})
	if dry.Matched != 2 || !strings.Contains(dry.Examples[0].Run.Stdout, `"tool_response"`) {
		t.Errorf("after calls: %+v", dry)
	}
	for _, point := range must[hooks.HookPointsReply](p, "hooks.points", backend.Empty{}).Points {
		draft := hooks.HookDraft{Point: point.Point, Action: hooks.HookAction{Kind: hooks.KindCommand, Command: "cat >&2"}}
		tested := must[hooks.HookLogEntry](p, "hooks.test", hooks.HookTestRequest{Draft: draft})
		if tested.Outcome != hooks.OutcomeRan || tested.Stderr != string(point.Example) || !strings.Contains(tested.Input, point.Event) {
			t.Errorf("%s: %+v", point.Point, tested)
		}
	}
	if _, err := call[hooks.HookLogEntry](p, "hooks.test", hooks.HookTestRequest{Draft: draft, Input: json.RawMessage(`[1]`)}); err == nil || err.ID != backend.ProblemHookInput {
		t.Errorf("a list was taken for an input: %v", err)
	}
	for _, template := range must[hooks.HookTemplatesReply](p, "hooks.templates", backend.Empty{}).Templates {
		must[hooks.HookRow](p, "hooks.save", hooks.HookSaveRequest{Scope: agent.ScopeUser, Draft: template.Draft})
	}
	if n := len(hooksOf(p).Hooks); n != 5 {
		t.Errorf("%d hooks after all templates were saved", n)
	}
}

// A settings file that changes while a turn runs counts from the next call on; one
// that cannot be read says so, and takes no guard away.
func TestHooksChangeDuringATurn(t *testing.T) {
	t.Parallel()
	rounds := []llmtest.Round{run("touch a"), run("true"), run("true"), {Text: "Done."}}
	p, user := guarded(t, "true", rounds...)
	id := p.session("compat")
	p.send(id, "go")
	request := await(p, anyOf[agent.ApprovalRequest])
	put(t, user+"/.agent/settings.json", onBash(refuses))
	p.answer(backend.Approval{Session: id, Request: request}, agent.Answer{Decision: agent.Allow, Scope: agent.ScopeOnce})
	if end := await(p, anyOf[agent.ToolCallEnd]); end.Outcome != agent.OutcomeDone {
		t.Errorf("%+v", end)
	}
	if end := await(p, anyOf[agent.ToolCallEnd]); end.Outcome != agent.OutcomeDenied {
		t.Errorf("the new hook did not count: %+v", end)
	}
	await(p, anyOf[agent.ProcessingEnd])
	put(t, user+"/.agent/settings.json", `{"hooks": {`)
	list := hooksOf(p)
	if len(list.Files) != 1 || list.Files[0].Problem == nil || list.Files[0].Problem.ID != backend.ProblemHooksFile || len(list.Files[0].Missing) == 0 {
		t.Fatalf("%+v", list)
	}
}

// K-35, COM-85: a trusted hook whose script changes does not run; what it guards is
// asked about, until what stands there now is trusted.
func TestChangedScript(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	put(t, folder+"/.agent/settings.json", onBash(`sh "$CLAUDE_PROJECT_DIR/check.sh"`))
	put(t, folder+"/check.sh", "exit 0")
	p := newPage(t, folder, t.TempDir(), environment(llmtest.Serve(t, turns(3)...), "sk-test"))
	id := p.session("compat")
	trustAll(p)
	if end := turn(p, id); end.Outcome != agent.OutcomeDone {
		t.Errorf("%+v", end)
	}
	put(t, folder+"/check.sh", "exit 2")
	p.send(id, "go")
	request := await(p, anyOf[agent.ApprovalRequest])
	if got := states(p); !slices.Equal(got, []string{"project changed"}) {
		t.Errorf("%q", got)
	}
	row := logged(p, hooks.HookLogRequest{CallID: request.CallID, Outcome: hooks.OutcomeChanged}, 1)[0]
	if _, err := call[hooks.HookLogEntry](p, "hooks.replay", hooks.HookReplayRequest{Entry: row.ID}); err == nil {
		t.Error("it ran again without trust")
	}
	shown := must[review.TrustShown](p, "trust.show", review.TrustRequest{ID: row.Hook.ID})
	if i := slices.IndexFunc(shown.Texts, func(text review.TrustText) bool { return text.Path == "check.sh" }); i < 0 || !strings.Contains(shown.Texts[i].Diff, "+exit 2") {
		t.Errorf("%+v", shown)
	}
	p.answer(backend.Approval{Session: id, Request: request}, agent.Answer{Decision: agent.Deny, Scope: agent.ScopeOnce})
	await(p, anyOf[agent.ProcessingEnd])
	if _, err := call[backend.Empty](p, "trust.accept", review.TrustAcceptRequest{ID: row.Hook.ID, Seal: "other"}); err == nil {
		t.Error("something else was trusted")
	}
	trustAll(p)
	if end := turn(p, id); end.Outcome != agent.OutcomeDenied || end.Authority.By != agent.ByHook {
		t.Errorf("%+v by %+v", end, end.Authority)
	}
}

// OAS-668, K-34: a rule that a hook asks for holds for the rest of the session, and no
// allow of a hook lifts a deny.
func TestHookAddsRules(t *testing.T) {
	t.Parallel()
	p, _ := guarded(t, `printf '{"permissionUpdate":{"tool":"Bash(true)","behavior":"deny"},"decision":"allow"}'`, turns(2)...)
	id := p.session("compat")
	turn(p, id)
	if rules := rulesOf(p, id); len(rules) != 1 || rules[0].Rule != "Bash(true)" || rules[0].Decision != agent.Deny || rules[0].Scope != agent.ScopeSession {
		t.Errorf("%+v", rules)
	}
	if end := turn(p, id); end.Outcome != agent.OutcomeDenied || end.Authority.By != agent.ByRule {
		t.Errorf("%+v by %+v", end, end.Authority)
	}
}

// OAS-661: a settings file that changes, and a file that a hook names, are told to
// the sessions in memory, once each and with the documented input.
func TestHooksAreToldOfFiles(t *testing.T) {
	t.Parallel()
	p, told := listening(t, t.TempDir(), llmtest.Serve(t, llmtest.Round{Text: "Done."}))
	id := p.session("compat")
	p.send(id, "go")
	await(p, anyOf[agent.ProcessingEnd])
	before := len(logged(p, hooks.HookLogRequest{Point: agent.HookConfigChange}, 1))
	put(t, p.folder+"/.agent/settings.json.new", `{"model": "x"}`)
	if err := os.Rename(p.folder+"/.agent/settings.json.new", p.folder+"/.agent/settings.json"); err != nil {
		t.Fatal(err)
	}
	logged(p, hooks.HookLogRequest{Point: agent.HookConfigChange}, before+1)
	put(t, p.folder+"/new.txt", "1")
	logged(p, hooks.HookLogRequest{Point: agent.HookFileChanged}, 1)
	want := []any{id, "ConfigChange", "project_settings", p.folder + "/.agent/settings.json"}
	changes := pick(toldAt(t, told, agent.HookConfigChange), "session_id", "hook_event_name", "source", "file_path")
	if diff := cmp.Diff(want, changes[len(changes)-1]); diff != "" || len(changes) != before+1 {
		t.Errorf("%d changes, %s", len(changes), diff)
	}
	files := pick(toldAt(t, told, agent.HookFileChanged), "session_id", "event", "hook_event_name")
	if len(files) == 0 || files[0][0] != id || files[0][2] != "FileChanged" {
		t.Errorf("%v", files)
	}
}

// Pages read the rules again when a settings file was changed by hand, and what waits
// is judged by the new rules.
func TestRulesChangedByHand(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	server := llmtest.Serve(t, bashes("command", "touch made"), llmtest.Round{Text: "done"})
	p := newPage(t, folder, t.TempDir(), environment(server, ""))
	p.send(p.session("compat"), "make it")
	await(p, anyOf[agent.ApprovalRequest])
	told := make(chan struct{}, 1)
	p.bench.Subscribe(func(envelope []byte) {
		if bytes.Contains(envelope, []byte(`"rules_change"`)) {
			select {
			case told <- struct{}{}:
			default:
			}
		}
	})
	put(t, filepath.Join(folder, ".agent", "settings.json"), `{"permissions":{"deny":["Bash(touch *)"]}}`)
	if end := await(p, anyOf[agent.ToolCallEnd]); end.Outcome != agent.OutcomeDenied {
		t.Errorf("the call that waited ended as %s", end.Outcome)
	}
	select {
	case <-told:
	case <-time.After(patience):
		t.Error("pages were not told")
	}
}
