//go:build unix

package hooks

import (
	"atelier.dev/atelier/backend/review"

	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
)

// K-34: whoever makes a file that a guard of the user's own happens to name does not
// switch the guard off: what it guards is asked about until the user has decided.
func TestOwnGuardsThatNameFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("~/.agent/settings.json", strings.ReplaceAll(denies, "echo no", "grep -v push; echo no"))
	if got := f.decides(); got.Decision != agent.Deny {
		t.Fatalf("%+v", got)
	}
	f.write("push", "")
	if got := f.decides(); got.Decision != agent.Ask || !got.Final || !strings.Contains(got.Reason, "it names files of the project that you have not trusted yet") {
		t.Errorf("with the file: %+v", got)
	}
	if _, err := f.review.Refuse(t.Context(), review.TrustRequest{ID: f.rows()[0].ID}); err != nil {
		t.Fatal(err)
	}
	if got := f.decides(); got.Decision != "" {
		t.Errorf("refused: %+v", got)
	}
	f.accept()
	if got := f.decides(); got.Decision != agent.Deny {
		t.Errorf("trusted: %+v", got)
	}
}

// Findings stand beside the hook that they are about, also in a file of one line. A
// finding about a matcher stands beside the first hook of its group.
func TestFindingsStandBesideTheirHooks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".agent/settings.json", `{"hooks": {"Never": [], "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "a"}]},
		{"hooks": [], "matcher": "("}, {"matcher": "Nothing", "hooks": [{"type": "command", "command": "b", "timeout": 5000}, {"type": "command", "command": "c"}]},
		{"hooks": [{"type": "prompt"}], "matcher": ")"}, {"matcher": "[", "hooks": [7]}]}}`)
	f.write(".claude/settings.json", strings.Join(strings.Fields(f.read(".agent/settings.json")), " "))
	reply, err := f.List(t.Context(), HooksRequest{})
	if err != nil {
		t.Fatal(err)
	}
	ids := func(all []HookFinding) (out []string) {
		for _, x := range all {
			out = append(out, x.ID)
		}
		return out
	}
	var got [][]string
	for _, row := range reply.Hooks {
		got = append(got, ids(row.Findings))
	}
	own := [][]string{nil, {"matcher_none", "timeout_milli"}, nil, {"matcher_guard", "kind_unknown"}}
	if diff := cmp.Diff(append(own, own...), got); diff != "" {
		t.Error(diff)
	}
	for _, file := range reply.Files {
		if diff := cmp.Diff([]string{"event_unknown", "matcher_guard", "group_empty", "matcher_guard", "handler"}, ids(file.Findings)); diff != "" {
			t.Error(diff)
		}
	}
}

// What cmd.exe or PowerShell read is not read as POSIX syntax.
func TestPosixLines(t *testing.T) {
	t.Parallel()
	for shell, want := range map[[2]string]bool{
		{"linux", ""}: true, {"darwin", "bash"}: true, {"windows", "bash"}: true, {"windows", ""}: false, {"linux", "powershell"}: false, {"windows", "powershell"}: false,
	} {
		if got := posix(shell[0], shell[1]); got != want {
			t.Errorf("%v: %t", shell, got)
		}
	}
}
