package permission

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
)

// A request for approval says what the call would do, in addition to its reason.
func TestForetell(t *testing.T) {
	t.Parallel()
	in, out := world(t)
	p := newPolicy(t, in(""), Rules{Read: []string{out("shared")}})
	looksAndReads := func(paths ...string) agent.GateCall { return looking("", paths...) }
	for _, tt := range []struct {
		name string
		call agent.GateCall
		want string
	}{
		{"read", reads(in("file")), "low: reads"},
		{"read outside", reads(out("file")), "elevated: outside " + out("file")},
		{"read in another folder to read in", reads(out("shared/x")), "low: reads"},
		{"read secrets", reads(in(".env")), "elevated: secrets .env"},
		{"read secrets through a link", reads(in("innocent")), "elevated: secrets innocent"},
		{"write", writes(in("file")), "low: changes file"},
		{"write outside", writes(out("file")), "elevated: outside " + out("file")},
		{"write through a link outside", writes(in("escape")), "elevated: outside " + out("file")},
		{"write a hook", writes(in(".git/hooks/pre-commit")), "elevated: controls .git/hooks/pre-commit"},
		{"write a bare repository's hook", writes(in("bare/hooks/update")), "elevated: controls bare/hooks/update"},
		{"write a workflow", writes(in(".github/workflows/ci.yml")), "elevated: controls .github/workflows/ci.yml"},
		{"write secrets", writes(in(".env")), "elevated: secrets .env"},
		{"a command that only reads", looksAndReads(in("file")), "low: reads"},
		{"a command that only reads secrets", looksAndReads(in(".env")), "elevated: secrets .env"},
		{"a command that only reads outside", looksAndReads(out("file")), "elevated: outside " + out("file")},
		{"a command", runs("make"), "low: runs_project make"},
		{"a command elsewhere", runsIn("make", out("dir")), "elevated: outside " + out("dir") + ", runs_project make"},
		{"a deletion", runs("rm -rf file"), "elevated: deletes file"},
		{"a deletion elsewhere", runs("rm -rf /opt/x"), "dangerous: deletes_outside /opt/x"},
		{"typed to a command", types("ls", "1"), "elevated: unknown"},
		{"typed to a command, dangerous in a shell", types("rm -rf /\n", "1"), "dangerous: deletes_outside /, unknown"},
		{"a tool that nobody knows", agent.GateCall{Tool: "mcp__x__y"}, "elevated: unknown mcp__x__y"},
		{"its own command", agent.GateCall{Tool: "TaskStop", Access: agent.Access{Own: true}}, "low: own"},
	} {
		o := p.Foretell(t.Context(), tt.call)
		var all []string
		for _, e := range o.Effects {
			all = append(all, strings.Join(append([]string{string(e.ID)}, e.Args...), " "))
		}
		if got := string(o.Risk) + ": " + strings.Join(all, ", "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
