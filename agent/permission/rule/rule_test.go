package rule

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"github.com/google/go-cmp/cmp"
)

func bash(command string) agent.GateCall {
	return agent.GateCall{Tool: "Bash", Access: agent.Access{Command: command}}
}

// places returns a folder with a project, a home folder and one outside both.
func places(t *testing.T) (base, project, home string) {
	t.Helper()
	var err error
	base, err = filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, home = filepath.Join(base, "project"), filepath.Join(base, "home")
	for _, name := range []string{"project/secrets/deep/key.pem", "project/src/a.go", "project/docs/x.md", "project/a b.txt", "home/notes/n", "outside/o"} {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("secrets", filepath.Join(project, "innocent")); err != nil {
		t.Fatal(err)
	}
	return base, project, home
}

// A rule about paths holds for every way to the file: tools that read and change
// files, searches below a folder, and commands.
func TestRulesForPaths(t *testing.T) {
	t.Parallel()
	base, project, home := places(t)
	read := func(tool string) func(string) agent.GateCall {
		return func(name string) agent.GateCall {
			return agent.GateCall{Tool: tool, ReadOnly: true, Access: agent.Access{Reads: []string{filepath.Join(project, name)}}}
		}
	}
	write := func(name string) agent.GateCall {
		return agent.GateCall{Tool: "ApplyPatch", Access: agent.Access{Writes: []string{filepath.Join(project, name)}}}
	}
	for _, c := range []struct {
		decision agent.Decision
		rule     string
		call     func(string) agent.GateCall
		what     string
		want     agent.Decision
	}{
		{agent.Deny, "Read(secrets/**)", read("Read"), "secrets/deep/key.pem", agent.Deny},
		{agent.Deny, "Read(secrets)", read("Read"), "secrets/deep/key.pem", agent.Deny},
		{agent.Deny, "Read(/secrets/)", read("ReadMany"), "secrets/deep/key.pem", agent.Deny},
		{agent.Deny, "Read(secrets/**)", read("Read"), "innocent/deep/key.pem", agent.Deny},
		{agent.Deny, "Read(secrets/**)", read("Read"), "src/../secrets/x", agent.Deny},
		{agent.Deny, "Read(SECRETS/**)", read("Read"), "secrets/x", agent.Deny},
		{agent.Deny, "Read(*.pem)", read("Read"), "secrets/deep/key.pem", agent.Deny},
		{agent.Deny, "Read(**/deep/*.pem)", read("Read"), "secrets/deep/key.pem", agent.Deny},
		{agent.Deny, "Read(//" + base[1:] + "/outside/**)", read("Read"), "../outside/o", agent.Deny},
		{agent.Deny, "Read(~/notes/*)", read("Read"), "../home/notes/n", agent.Deny},
		{agent.Deny, "Read(secrets/**)", read("Read"), "src/a.go", ""},
		{agent.Deny, "Read(/x/*.pem)", read("Read"), "secrets/deep/key.pem", ""},
		{agent.Deny, "Read(secrets/**)", read("Grep"), "", agent.Ask},
		{agent.Deny, "Read(*.pem)", read("Grep"), "", agent.Ask},
		{agent.Deny, "Read(*.pem)", read("Glob"), "secrets", agent.Ask},
		{agent.Deny, "Read(*.pem)", read("Grep"), "src", ""},
		{agent.Deny, "Read(*.pem)", read("ListDir"), "", ""},
		{agent.Deny, "Read(secrets/**)", bash, "cat secrets/x", agent.Deny},
		{agent.Deny, "Read(secrets/**)", bash, "cd secrets && cat x", agent.Deny},
		{agent.Deny, "Read(secrets/**)", bash, "sh -c 'cat < innocent/x'", agent.Deny},
		{agent.Deny, "Read(secrets/**)", bash, "cp -r . /tmp/x", agent.Ask},
		{agent.Deny, "Read(secrets/**)", bash, "grep -r x .", agent.Ask},
		{agent.Deny, "Read(secrets/**)", bash, "cat $X", agent.Ask},
		{agent.Deny, "Read(secrets/**)", bash, "tool --file=secrets/x", agent.Deny},
		{agent.Deny, "Read(secrets/**)", bash, "ls src", ""},
		{agent.Deny, "Edit(docs/**)", write, "docs/x.md", agent.Deny},
		{agent.Deny, "Write(docs/**)", write, "docs/new/y", agent.Deny},
		{agent.Deny, "Edit(docs/**)", read("Read"), "docs/x.md", ""},
		{agent.Deny, "Edit(docs/**)", bash, "echo > docs/x.md", agent.Deny},
		{agent.Deny, "Edit(docs/**)", bash, "rm -rf docs/x.md", agent.Deny},
		{agent.Deny, "Edit(docs/**)", bash, "rm -rf docs", agent.Ask},
		{agent.Deny, "Edit(docs/**)", bash, "mv docs else", agent.Ask},
		{agent.Deny, "Edit(docs/**)", bash, "cat docs/x.md", ""},
		{agent.Allow, "Edit(docs/**)", write, "docs/x.md", agent.Allow},
		{agent.Allow, "Edit(docs/**)", write, "src/a.go", ""},
		{agent.Allow, "Edit(docs/**)", bash, "cat src/a.go > docs/x.md", agent.Allow},
		{agent.Allow, "Edit(docs/**)", bash, "cat /etc/hosts > docs/x.md", ""},
		{agent.Allow, "Read(docs/**)", write, "docs/x.md", ""},
		{agent.Allow, "Edit(a b.txt)", write, "a b.txt", agent.Allow},
		{agent.Allow, "Read(~/notes/**)", read("Read"), "../home/notes/n", agent.Allow},
		{agent.Allow, "Read(secrets/**)", read("Read"), "innocent/x", agent.Allow},
		{agent.Allow, "Edit(/innocent/**)", write, "innocent/x", ""},
	} {
		r, err := Parse(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		r.Decision = c.decision
		if got := New(Place{Project: project, Home: home}, []Rule{r}).Judge(c.call(c.what), nil); got.Decision != c.want {
			t.Errorf("%s %s: %s: %q, want %q", c.decision, c.rule, c.what, got.Decision, c.want)
		}
	}
}

// Rules that cannot be read say why.
func TestFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Fault{
		"": FaultEmpty, " ": FaultEmpty, "Bash(" + strings.Repeat("x", MaxLength) + ")": FaultLong, "Bash(a\u202eb)": FaultHidden, "Bash(a\u3164b)": FaultHidden, "Bash(a\nb)": FaultHidden, "Bash(ls": FaultBracket,
		"Bash)": FaultTool, "(ls)": FaultTool, "ba sh": FaultTool, "Bash()": FaultSelector, "mcp__*(x)": FaultTools, "Read(../x)": FaultParent, "Read([)": FaultPattern,
		"Edit(**/a/**/b/**/c/**)": FaultStars, "WebFetch(go.dev)": FaultDomain, "WebFetch(domain:)": FaultDomain,
	} {
		_, err := Parse(text)
		var fault *Error
		if !errors.As(err, &fault) || fault.Fault != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"Bash", "*", "mcp__s__*", "Skill(x)", "Bash(echo (a) [b)", "Read(~)", "Agent(a b)"} {
		if r, err := Parse(text); err != nil || r.String() != text {
			t.Errorf("%q: %v, %v", text, r, err)
		}
	}
}

// Rules that allow programs which run others are marked, and never suggested.
func TestTooWideRules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Bash": true, "*": true, "Bash(*)": true, "Bash(python *)": true, "Bash(python3.12:*)": true, "Bash(/usr/bin/env *)": true, "Bash(sudo *)": true, "Bash(node -e *)": true,
		"Bash(py* x)": true, "Bash(python x.py)": false, "Bash(git *)": false, "Bash(npm run test:*)": false, "Read": false, "mcp__s__*": false,
	} {
		r, err := Parse(text)
		r.Decision = agent.Allow
		if err != nil || r.TooWide() != want {
			t.Errorf("%s: %t, %v", text, r.TooWide(), err)
		}
	}
	for command, want := range map[string][]string{
		"npm run test -- --watch": {"Bash(npm run test -- --watch)", "Bash(npm run test -- *)"},
		"npm run test":            {"Bash(npm run test)", "Bash(npm run test *)"},
		"python x.py":             {"Bash(python x.py)"},
		"sudo make install":       {"Bash(sudo make install)"},
		"ls && make all":          {"Bash(ls && make all)"}, // make runs what an argument says
		"cat a && tsc -p .":       {"Bash(cat a && tsc -p .)", "Bash(tsc *)"},
		"tsc *.ts":                {`Bash(tsc \*.ts)`, "Bash(tsc *)"},
		"git -C x push":           {"Bash(git -C x push)"},
		"cat .env":                nil,
		"git push\nls":            nil,
	} {
		var got []string
		for _, r := range Suggest(bash(command), Place{Project: t.TempDir()}) {
			got = append(got, r.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
	}
}

// A script that a line runs is read too, and a command that is only known at run
// time is never allowed.
func TestRulesForWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	_, project, home := places(t)
	for name, text := range map[string]string{"clean.sh": "#!/bin/sh\nrm x\n", "bare": "rm x\n", "fish": "#!/usr/bin/env -S A=1 fish\nrm x\n", "tool": "\x7fELF\x00rm x\n", "p.py": "rm x\n"} {
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		decision agent.Decision
		rule     string
		command  string
		want     agent.Decision
	}{
		{agent.Deny, "Bash(rm *)", "sh clean.sh", agent.Deny},
		{agent.Deny, "Bash(rm *)", "./clean.sh", agent.Deny},
		{agent.Deny, "Bash(rm *)", "./bare", agent.Deny}, {agent.Deny, "Bash(rm *)", "./fish", agent.Deny}, // bash runs the first itself
		{agent.Deny, "Bash(rm *)", "./tool", ""}, {agent.Deny, "Bash(rm *)", "python3 p.py", ""},
		{agent.Deny, "Bash(rm *)", "sh missing.sh", agent.Ask},
		{agent.Deny, "Bash(curl *)", "sh clean.sh", ""},
		{agent.Allow, "Bash(rm *)", "rm $X", ""},
		{agent.Allow, "Bash(touch *)", "touch $X", ""},
		{agent.Allow, "Bash(touch *)", "touch new", agent.Allow},
	} {
		r, err := Parse(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		r.Decision = c.decision
		if got := New(Place{Project: project, Home: home}, []Rule{r}).Judge(bash(c.command), nil); got.Decision != c.want {
			t.Errorf("%s %s: %s: %q, want %q", c.decision, c.rule, c.command, got.Decision, c.want)
		}
	}
}

// OAS-630: a rule for commands is matched against each part of a line.
func TestRulesForCommands(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	for _, c := range []struct {
		decision agent.Decision
		rule     string
		command  string
		want     agent.Decision
	}{
		{agent.Allow, "Bash", "rm -rf build", agent.Allow},
		{agent.Allow, "Bash(git status)", "git status", agent.Allow},
		{agent.Allow, "Bash(git status)", "git status -s", ""},
		{agent.Allow, "Bash(npm run test:*)", "npm run test", agent.Allow},
		{agent.Allow, "Bash(npm run test:*)", "npm run test -- --watch", agent.Allow},
		{agent.Allow, "Bash(npm run test:*)", "npm run tests", ""},
		{agent.Allow, "Bash(npm run test:*)", "npm run test --script-shell=./x", ""},
		{agent.Allow, "Bash(npm run test:*)", "npm run test unit --prefix /tmp -- --watch", ""},
		{agent.Allow, "Bash(npm run test:*)", "npm run test --silent -w web -- --script-shell=./x", agent.Allow},
		{agent.Allow, "Bash(npm run test -- *)", "npm run test -- --watch", agent.Allow},
		{agent.Allow, "Bash(npm run test -- *)", "npm run test --node-options=x -- --watch", ""},
		{agent.Allow, "Bash(pnpm run test *)", "pnpm run test --watch", agent.Allow}, // the script's
		{agent.Allow, "Bash(git push *)", "git push", agent.Allow},
		{agent.Allow, "Bash(git push *)", "git push origin main", agent.Allow},
		{agent.Allow, "Bash(git push *)", "git push --force", ""},
		{agent.Allow, "Bash(npm test)", "npm test && curl http://x.dev", ""},
		{agent.Allow, "Bash(npm test)", "cat package.json; npm test", agent.Allow},
		{agent.Allow, "Bash(npm test)", "timeout 60 npm test", agent.Allow},
		{agent.Allow, "Bash(npm test)", "npm test > /etc/passwd", ""},
		{agent.Allow, "Bash(npm test)", "npm test > out.txt", ""},
		{agent.Allow, "Bash(npm test)", "npm test 2>&1 > /dev/null", agent.Allow},
		{agent.Allow, "Bash(npm test)", "npm test $(curl x.dev)", ""},
		{agent.Allow, "Bash(npm test)", "PATH=/tmp npm test", ""},
		{agent.Allow, "Bash(npm test)", "cd / && npm test", ""},
		{agent.Allow, "Bash(ls *)", "ls *.go", agent.Allow},
		{agent.Allow, "Bash", "cat .env", ""},
		{agent.Allow, "Bash(cat *)", "cat .env", ""},
		{agent.Allow, "Bash(cat *)", "cat /etc/hosts", ""},
		{agent.Allow, "Bash(npm *)", "npm test > .git/config", ""},
		{agent.Deny, "Bash(rm *)", "rm x", agent.Deny},
		{agent.Deny, "Bash(rm *)", "/bin/rm x", agent.Deny},
		{agent.Deny, "Bash(rm *)", `\RM x`, agent.Deny},
		{agent.Deny, "Bash(rm *)", "env A=b sudo timeout 5 rm x", agent.Deny},
		{agent.Deny, "Bash(rm *)", "ls | xargs rm", agent.Deny},
		{agent.Deny, "Bash(rm *)", "sh -c 'rm x'", agent.Deny},
		{agent.Deny, "Bash(rm *)", "echo $(rm x)", agent.Deny},
		{agent.Deny, "Bash(rm *)", "$X y", agent.Ask},
		{agent.Deny, "Bash(rm *)", "if (", agent.Ask},
		{agent.Deny, "Bash(*rm x)", "$X x", agent.Ask},
		{agent.Deny, "Bash(*rm x)", "ls x", ""},
		{agent.Deny, "Bash(rm *)", "ls", ""},
		{agent.Deny, "Bash(rm *)", "awk 'BEGIN{system(\"rm x\")}'", agent.Ask},
		{agent.Deny, "Bash(rm *)", "git -c alias.y='!rm x' y", agent.Ask},
		{agent.Deny, "Bash(rm *)", "tar tf a.tar -I 'rm x'", agent.Ask},
		{agent.Deny, "Bash(rm *)", "printf 'all:\n rm x' > Makefile; make", agent.Ask},
		{agent.Deny, "Bash(rm *)", "test -v 'a[$(rm x)]'", agent.Ask},
		{agent.Deny, "Bash(rm *)", "sqlite3 a.db '.shell rm x'", agent.Ask},
		{agent.Deny, "Bash(rm *)", "make SHELL=/bin/rm", agent.Ask},
		{agent.Deny, "Bash(rm *)", "go test ./... && git commit -m 'rm the file'", ""},
		{agent.Deny, "Bash(rm *)", "awk '{print $1}' a | grep -rn rm src; sed -n '/rm/p' a", ""},
		{agent.Deny, "Bash(rm *)", "npm run build && python3 x.py > out.txt", ""},
		{agent.Deny, "Bash(git push *)", "git -c alias.p=push p", agent.Ask},
		{agent.Deny, "Bash(git push *)", "git -C . push", agent.Deny},
		{agent.Deny, "Bash(git push *)", "git pull", ""},
		{agent.Deny, "Bash(rm -rf *)", "rm -fr x", agent.Deny},
		{agent.Ask, "Bash(git push *)", "ls && git push", agent.Ask},
	} {
		if got := judged(t, project, c.decision, c.rule, c.command); got != c.want {
			t.Errorf("%s %s: %s: %q, want %q", c.decision, c.rule, c.command, got, c.want)
		}
	}
}

// judged returns what a rule alone decides about a command.
func judged(t *testing.T, project string, decision agent.Decision, rule, command string) agent.Decision {
	t.Helper()
	r, err := Parse(rule)
	if err != nil {
		t.Fatal(err)
	}
	r.Decision = decision
	return New(Place{Project: project}, []Rule{r}).Judge(bash(command), nil).Decision
}

// A rule for a command allows no part of a line that lets another program run, and none
// that writes or reads what is asked about each time.
func TestRulesDoNotAllowWhatSteers(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	for _, name := range []string{".env", "src/main.go"} {
		path := filepath.Join(project, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("KEY=1"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		rule, command string
		want          agent.Decision
	}{
		{"Bash(git log *)", "git log --output=/etc/x", ""},
		{"Bash(git log *)", "git log --outp /etc/x", ""},
		{"Bash(git archive *)", "git archive -o /etc/x HEAD", ""},
		{"Bash(git blame *)", "git blame --contents .env f", ""},
		{"Bash(npm test)", "npm test; read CDPATH <<< /; cd etc; cat passwd", ""},
		{"Bash(npm test)", "npm test; GLOBIGNORE=x; cat *", ""},
		{"Bash(npm test)", "npm test; shopt -s dotglob; cat *", ""},
		{"Bash(git diff *)", "git diff --output .git/hooks/pre-commit", ""},
		{"Bash(git diff *)", "git diff --no-index /dev/null .env", ""},
		{"Bash(git diff *)", "git diff --ext-diff main", agent.Allow},
		{"Bash(npm test)", "npm test; PATH=; ls", ""},
		{"Bash(npm test)", "npm test; unset PATH; ls", ""},
		{"Bash(npm test)", "npm test; ((PATH=3)); ls", ""},
		{"Bash(npm test)", "npm test; x=$(cat package.json); echo $((x))", ""},
		{"Bash(npm test)", `npm test; printf "$(cat a)" "$(cat b)"; ls`, ""},
		{"Bash(npm test)", "npm test; n=$(wc -l < package.json); echo $((n+1))", agent.Allow},
		{"Bash(npm test)", "npm test; grep -rn KEY .", ""},
		{"Bash(npm test)", "npm test; rg --hidden KEY", ""},
		{"Bash(npm test)", "npm test; grep -rn KEY src; rg KEY", agent.Allow},
		{"Bash(grep *)", "grep -rn KEY .", agent.Allow},
	} {
		if got := judged(t, project, agent.Allow, c.rule, c.command); got != c.want {
			t.Errorf("%s: %s: %q, want %q", c.rule, c.command, got, c.want)
		}
	}
}

// Nothing that a rule for npm test lets stand beside it runs a program of the project,
// changes which programs run, or lets a variable be something else than it was.
func TestRulesAllowOnlyReadingBeside(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	path := filepath.Join(project, "src/main.go")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("package main"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for want, commands := range map[agent.Decision][]string{
		"": {
			"jobs -x touch y",
			"BASH_CMDS[ls]=./x; ls",
			"declare -A BASH_ALIASES=([ls]=./x); ls",
			"read 'BASH_CMDS[ls]' <<< ./x; ls",
			"hash -rp ./x ls; ls",
			"tree -ao x",
			"date -us 1",
			"less -Xo f g",
			"man -aP ./x ls",
			"nm --plugin ./x a.o",
			"mapfile -tC 'touch y' f < x",
			"printf -v r PATH; printf -v $r sub; ls", "printf -v r PATH; read $r <<< sub; ls", "printf -v r PATH; printf \"-v$r\" sub; ls", "printf -v r PATH; wait -p $r; ls", "printf -v r PATH; mapfile $r < f; ls", "read 'PATH[0]' <<< sub; ls",
			"read -raPATH <<< sub; ls",
			"printf -v 'PATH[0]' sub; ls",
			"let 'PATH[0]=3'; ls",
			"((PATH[0]=3)); ls",
			"wait -p 'PATH[0]'; ls",
			"declare 'PATH[0]=sub'; ls",
			"x=ls; read 'x[0]' <<< ./e; $x",
			"x=ls; printf -v 'x[0]' ./e; $x",
			"x=ls; unset 'x[0]'; $x ./e",
			"x=ls; wait -p x; $x ./e",
			"x=ls; coproc x { ls; }; $x ./e",
			"x=ls; for i in 1 2; do $x; read \"x\" <<< ./e; done",
			"x=ls; for i in 1 2; do $x; builtin read x <<< ./e; done",
			"x=ls; for i in 1 2; do $x; r\\ead x <<< ./e; done",
			"x=ls; for i in 1 2; do $x; printf -vx ./e; done",
			"x=ls; for i in 1 2; do $x; export 'x=./e'; done",
			"x=ls; for i in 1 2; do $x ./e; unset 'x'; done",
			"x=ls; for i in 1 2; do $x ./e; coproc x { ls; }; done",
			"x=ls; f() { read 'x' <<< ./e; }; f; $x",
			"\"read\" n < f; echo $((n))",
			"n=1; r\\ead n < f; echo $((n))",
			"n=1; x=read; $x n < f; echo $((n))",
			"n=1; read n[0] < f; echo $((n))",
			"n=1; builtin command read n < f; echo $((n))",
			"x=ls; for i in 1 2; do $x; {read,y} x <<< ./e; done", "x=ls; for i in 1 2; do $x; r*d x <<< ./e; done", "x=ls; for i in 1 2; do $x; printf \"$o\" x ./e; done", "set $o; ls", "set -o ''; set -k", "set -k; ls PATH=sub",
			"set -o posix; x=ls; x=./e :; $x",
			"POSIXLY_CORRECT=1; ls",
			"x=ls; shopt -s lastpipe; echo ./e | read x; $x",
			"shopt -s globstar; cat **",
			"shopt -so posix",
		},
		agent.Allow: {
			"jobs -l",
			"hash -r",
			"date -Iseconds",
			"date -dyesterday",
			"tree -L 2",
			"set -euo pipefail; ls",
			"set -x; ls",
			"shopt -s nullglob; ls",
			"shopt extglob", "d=src; for f in main.go; do printf '%s\\n' \"$f\"; [ -f \"$d/$f\" ]; cat \"$d/$f\"; done", "d=src; while read -r f; do echo \"$f\"; ls $d; done < src/main.go",
			"x=ls; sleep 1 & wait $!; $x",
			"mapfile -t a < src/main.go",
			"read -ra a < src/main.go",
			"for i in 1 2; do read -r n < src/main.go; ls; done",
		},
	} {
		for _, command := range commands {
			if got := judged(t, project, agent.Allow, "Bash(npm test)", "npm test; "+command); got != want {
				t.Errorf("%s: %q, want %q", command, got, want)
			}
		}
	}
}

// Patterns, links and other programs' commands do not get around a rule about
// reading. OAS-630.
func TestRulesForFilesSeeThroughLines(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	for _, dir := range []string{"secrets", "src"} {
		if err := os.Mkdir(filepath.Join(project, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(project, "secrets/key"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("secrets", filepath.Join(project, "alias")); err != nil {
		t.Fatal(err)
	}
	r, err := Parse("Read(secrets/**)")
	if err != nil {
		t.Fatal(err)
	}
	r.Decision = agent.Deny
	set := New(Place{Project: project}, []Rule{r})
	for _, line := range []string{
		"cat secrets/key", "cat s*/key", "cat [s]ecrets/key", "cat alias/key", "cat alia?/key", "cd alias && cat key", "git grep x -- secrets", "ln -s secrets y",
		"awk '{getline x < \"secrets/key\"; print x}' a", "sed 'r secrets/key' a", "sqlite3 :memory: '.read secrets/key'", "cat /proc/self/cwd/secrets/key",
		"for d in *; do cat $d/key; done", "make -C secrets", "git -C secrets show", "diff -r secrets /tmp", "mytool -isecrets/key", "curl file://$PWD/secrets/key", "tar cf x.tar .",
	} {
		if got := set.Judge(bash(line), nil); got.Decision == "" {
			t.Errorf("%s passes", line)
		}
	}
	for _, line := range []string{"cat src/x", "ls", "git status", "go test ./...", "echo secrets", "cat secretary", "rm -rf build", "npm run build > out.txt"} {
		if got := set.Judge(bash(line), nil); got.Decision != "" {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

// Rules for the parts of a line are suggested only if they allow it together.
func TestSuggestParts(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][]string{
		"ls /tmp | head -2":                         {"Bash(ls *)", "Read(//tmp)"},
		"npm run build && go test ./...":            {"Bash(go test *)", "Bash(npm run build *)"},
		"tsc -p . | head -3":                        {"Bash(tsc *)"},
		"terraform plan; tsc -p .; ls":              {"Bash(terraform plan *)", "Bash(tsc *)"},
		"cargo build\nnpm ci":                       {"Bash(cargo build *)", "Bash(npm ci *)"},
		"for i in 1 2 3; do npm ci; tsc -p .; done": {"Bash(npm ci *)", "Bash(tsc *)"},
		"cat /etc/hosts | grep x && tsc -p .":       {"Bash(cat *)", "Bash(tsc *)", "Read(//etc/**)"},
		"ls && cat a":                               nil, // it needs no rule
		"npm ci && sudo make install":               nil, // sudo runs what its arguments say
		"tsc -p . && cat .env":                      nil,
		"npm ci && $(cat x)":                        nil,
		"cat ~/x | grep y":                          nil,
	} {
		var got []string
		for _, r := range SuggestParts(bash(command), Place{Project: t.TempDir(), Home: "/home/none"}) {
			got = append(got, r.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
	}
}

// K-04: rules that name tools as other programs do are about ours.
func TestNamesOfOtherPrograms(t *testing.T) {
	t.Parallel()
	_, project, home := places(t)
	for _, c := range []struct {
		rule, tool string
		want       agent.Decision
	}{
		{"AskUserQuestion", "AskUser", agent.Deny}, {"AskUser", "AskUser", agent.Deny}, {"Ask*", "AskUser", agent.Deny},
		{"AskUserQuestion", "TodoWrite", ""}, {"TodoWrite", "TodoWrite", agent.Deny}, {"ExitPlanMode", "ExitPlanMode", agent.Deny},
		{"LS", "ListDir", agent.Deny}, {"Task", "Agent", agent.Deny}, {"Bash", "Monitor", agent.Deny}, {"Monitor", "Bash", ""},
	} {
		r, err := Parse(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		r.Decision = agent.Deny
		call := agent.GateCall{Tool: c.tool, ReadOnly: true, Input: []byte("{}"), Mode: agent.ModeDefault}
		if got := New(Place{Project: project, Home: home}, []Rule{r}).Judge(call, nil); got.Decision != c.want {
			t.Errorf("%s: %s: %q, want %q", c.rule, c.tool, got.Decision, c.want)
		}
	}
}
