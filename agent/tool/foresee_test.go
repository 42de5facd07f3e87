package tool

import (
	"os/exec"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission"
)

// decisions returns a policy's decisions about a call in all modes, a letter
// for each.
func (b *bench) decisions(tool string, in args) string {
	b.t.Helper()
	policy, err := permission.New(b.dir, permission.Rules{})
	if err != nil {
		b.t.Fatal(err)
	}
	call := agent.GateCall{Tool: tool, Input: in.json(b.t), Access: b.tools[tool].(agent.Accessor).Access(b.t.Context(), in.json(b.t))}
	letters := ""
	for _, call.Mode = range agent.Modes() {
		letters += string(policy.Decide(b.t.Context(), call).Decision)[:2]
	}
	return letters
}

const (
	unasked  = "alalalalalal"
	approval = "asasasasdeal"
)

// A command that only reads in the project runs without an approval in every
// mode, including plan mode.
func TestCommandsThatOnlyReadRunUnasked(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"go.mod": "module x\n", "src/a.go": "package a\n", "README.md": "# x\n"})
	for _, command := range []string{"init -q", "add .", "-c user.name=x -c user.email=x@y commit -qm first"} {
		git := exec.Command("git", strings.Fields(command)...)
		git.Dir = b.dir
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	for _, command := range []string{
		"ls -la", "go version", "cat go.mod", "git log", "git status", "git diff HEAD", "pwd", "grep -rn package src",
		"find . -name '*.go' | head -20", "sed -n '1,40p' src/a.go", "wc -l src/*.go", "cd src && cat a.go",
	} {
		if got := b.decisions("Bash", args{"command": command}); got != unasked {
			t.Errorf("%s: %s", command, got)
		}
		if got := b.succeed("Bash", args{"command": command}); got.Details.Command.ExitCode != 0 {
			t.Errorf("%s: %s", command, got.Output)
		}
	}
	if got := b.decisions("Bash", args{"command": "ls", "workdir": "src", "yield_time_ms": 1000}); got != unasked {
		t.Errorf("a call that is waited for: %s", got)
	}
	for _, in := range []args{
		{"command": "ls /"}, {"command": "cat /etc/passwd"}, {"command": "ls", "workdir": "/"}, {"command": "cat ../x"},
	} {
		if got := b.decisions("Bash", in); got != approval {
			t.Errorf("%v: %s", in, got)
		}
	}
	for _, in := range []args{
		{"command": "make"}, {"command": "ls", "tty": true}, {"command": "ls", "run_in_background": true}, {"command": "ls && make"},
	} {
		if got := b.decisions("Bash", in); got != approval {
			t.Errorf("%v: %s", in, got)
		}
	}
}

// Programs that a reading command could start are switched off while it runs.
func TestCommandsThatOnlyReadHaveTheirVariables(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.put("x", "")
	if got := b.succeed("Bash", args{"command": "go env GOTOOLCHAIN"}); strings.TrimSpace(got.Output) != "local" {
		t.Errorf("printed %q", got.Output)
	}
	if got := b.succeed("Bash", args{"command": "echo ${GIT_NO_LAZY_FETCH:-unset}"}); strings.TrimSpace(got.Output) != "unset" {
		t.Errorf("others have them too: %q", got.Output)
	}
}
