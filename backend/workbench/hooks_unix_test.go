//go:build unix

package workbench_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/hooks"
	"atelier.dev/atelier/storage"
	"github.com/google/go-cmp/cmp"
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
	for _, item := range must[hooks.TrustReply](p, "trust.list", backend.Empty{}).Items {
		shown := must[hooks.TrustShown](p, "trust.show", hooks.TrustRequest{ID: item.ID})
		must[backend.Empty](p, "trust.accept", hooks.TrustAcceptRequest{ID: item.ID, Seal: shown.Seal})
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
