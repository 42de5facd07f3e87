//go:build unix

package workbench_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/hooks"
	"atelier.dev/atelier/backend/review"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// stranger fills a folder with a repository that wants to run something at every
// event, and returns what it ran. The user has a hook of their own, which runs a
// script of whatever project is open.
func stranger(t *testing.T, folder, user string) (ran func() string) {
	t.Helper()
	marks := t.TempDir()
	script := "#!/bin/sh\ntouch " + marks + "/$HOOK_EVENT.script\n"
	for i, file := range []string{
		".agent/settings.json", ".claude/settings.json", ".agent/local-settings.json", ".agent/settings.local.json", ".claude/settings.local.json",
	} {
		name := ".claude/hooks/evil" + strconv.Itoa(i) + ".sh"
		put(t, filepath.Join(folder, name), script)
		events := map[string]any{}
		for _, in := range agent.HookInputs() {
			events[hook.EventName(in.Point())] = []any{map[string]any{"hooks": []any{
				map[string]any{"type": "command", "command": name},
				map[string]any{"type": "command", "command": "touch " + marks + "/$HOOK_EVENT." + strconv.Itoa(i)},
			}}}
		}
		b, err := json.Marshal(map[string]any{"hooks": events})
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(folder, file), string(b))
	}
	put(t, filepath.Join(folder, "tools", "lint.sh"), "#!/bin/sh\ntouch "+marks+"/own\n")
	put(t, filepath.Join(user, ".agent", "settings.json"), onEvent("PreToolUse", "", `"$CLAUDE_PROJECT_DIR"/tools/lint.sh`))
	return func() string {
		left, err := os.ReadDir(marks)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range left {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
}

// COM-85: a stranger's project is opened, looked at and worked in, and nothing of it
// runs before the user trusts it: not by any page, turn, command, failure or
// compaction, nor by the end of the program.
func TestStrangersProject(t *testing.T) {
	t.Parallel()
	folder, home, user := t.TempDir(), t.TempDir(), t.TempDir()
	ran := stranger(t, folder, user)
	open := func(rounds ...llmtest.Round) *page {
		return openPage(t, folder, home, homely(llmtest.Serve(t, rounds...), user), func(s *storage.Store) backend.Store { return s })
	}
	p := open(run("true"), llmtest.Round{Text: "Done."}, run("false"), llmtest.Round{Text: "Done."}, llmtest.Round{Text: "A summary."})
	id := p.session("compat")
	for range 2 { // what the user's own hook guards is asked about while it waits for trust
		p.send(id, "go")
		p.allow(id, await(p, anyOf[agent.ApprovalRequest]))
		await(p, anyOf[agent.ToolCallEnd])
		await(p, anyOf[agent.ProcessingEnd])
	}
	p.runs(id, "cd .. && pwd")
	await(p, anyOf[agent.LocalCommandEnd])
	must[backend.Empty](p, "conversation.compact", workbench.CompactRequest{Session: id})
	await(p, anyOf[agent.CompactionEnd])
	for _, method := range []string{"project.info", "sessions.list", "approvals.list", "preferences.get", "permissions.rules", "hooks.points", "hooks.templates", "hooks.log"} {
		if _, err := call[json.RawMessage](p, method, struct{}{}); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	list := hooksOf(p).Hooks
	if want := 1 + 2*5*len(agent.HookInputs()); len(list) != want {
		t.Errorf("%d hooks are listed, want %d", len(list), want)
	}
	for _, row := range list {
		if row.State != hooks.StateUntrusted {
			t.Errorf("%+v", row)
		}
		must[review.TrustShown](p, "trust.show", review.TrustRequest{ID: row.ID})
	}
	p.close()
	if left := ran(); left != "" {
		t.Fatalf("the project ran %s", left)
	}

	p = open(turns(1)...)
	id = p.session("compat")
	trustAll(p)
	turn(p, id)
	p.close()
	left := ran()
	for _, want := range []string{"preToolUse.script", "preToolUse.0", "preToolUse.4", "own", "sessionEnd.script"} {
		if !strings.Contains(left, want) {
			t.Errorf("%s did not run once it was trusted: %s", want, left)
		}
	}
}
