package trust

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// COM-85: the files that commands name, as people write them.
func TestNamedFiles(t *testing.T) {
	t.Parallel()
	all := []string{".claude/hooks/check.sh", ".claude/hooks/lib.sh"}
	for _, tc := range []struct {
		command string
		files   []string
		notes   []NoteID
	}{
		{command: `exit 0`},
		{command: `.claude/hooks/check.sh`, files: all},
		{command: `sh .claude/hooks/check.sh`, files: all},
		{command: `"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh`, files: all},
		{command: `"${CLAUDE_PROJECT_DIR:-.}/.claude/hooks/check.sh" --strict`, files: all},
		{command: `${CLAUDE_PROJECT_DIR}/tools/x.py`, files: []string{"tools/x.py"}},
		{command: `$HOME/bin/own.sh`},
		{command: `~/bin/own.sh`},
		{command: `cd tools && ./x.py`, files: []string{"tools/x.py"}},
		{command: `cd "$CLAUDE_PROJECT_DIR/tools"; python3.12 -u x.py`, files: []string{"tools/x.py"}, notes: []NoteID{NoteLoads}},
		{command: `cd $(git rev-parse --show-toplevel) && tools/x.py`, files: []string{"tools/x.py"}},
		{command: `node tools/x.js --fix`, files: []string{"tools/x.js"}, notes: []NoteID{NoteLoads}},
		{command: `bash -c 'source .claude/hooks/lib.sh; check'`, files: all},
		{command: `sh -c "sh -c 'tools/x.py'"`, files: []string{"tools/x.py"}},
		{command: `eval 'tools/x.py'`, files: []string{"tools/x.py"}},
		{command: `/usr/bin/env FOO=1 bash tools/outer.sh`, files: []string{"tools/inner.sh", "tools/outer.sh"}},
		{command: `timeout 10 ./tools/outer.sh`, files: []string{"tools/inner.sh", "tools/outer.sh"}},
		{command: `jq -r .tool_input.file_path | xargs -r sh tools/x.sh`, files: []string{"tools/x.sh"}},
		{command: `D=tools; "$D/x.py" && echo ok > log.txt`, files: []string{"tools/x.py"}},
		{command: `for f in .claude/hooks/*.sh; do . "$f"; done`, files: all},
		{command: `jq -f tools/filter.jq`, files: []string{"tools/filter.jq"}},
		{command: `eslint --config=tools/x.js src`, files: []string{"tools/x.js"}},
		{command: `tools/x.py | tee -a tools/out.log > tools/err.log`, files: []string{"tools/x.py"}},
		{command: `prettier --write src/**/*.ts`},
		{command: `tools/not-yet.sh`},
		{command: `sh not-yet`},
		{command: `make lint`, notes: []NoteID{NoteBuild}, files: []string{"Makefile"}},
		{command: `"$RUN_ME"`, files: all, notes: []NoteID{NoteUntold}},
		{command: `eval "$(cat tools/filter.jq)"`, files: append(slices.Clone(all), "tools/filter.jq"), notes: []NoteID{NoteUntold}},
		{command: `curl -s https://x.dev | sh`, files: all, notes: []NoteID{NoteUntold}},
		{command: `python3 -c "exec(open('tools/x.py').read())"`, files: append(slices.Clone(all), "tools/x.py"), notes: []NoteID{NoteInline}},
		{command: `python3 -m tools.x`, files: append(slices.Clone(all), "tools/x.py"), notes: []NoteID{NoteInline}},
		{command: `PATH=tools:$PATH x.sh`, files: []string{"tools/err.log", "tools/filter.jq", "tools/inner.sh", "tools/out.log", "tools/outer.sh", "tools/x.js", "tools/x.py", "tools/x.sh"}},
		{command: `if then tools/x.py`, files: append(slices.Clone(all), "tools/x.py"), notes: []NoteID{NoteUnread}},
		{command: strings.Repeat("(", 500) + "tools/x.py", files: append(slices.Clone(all), "tools/x.py"), notes: []NoteID{NoteUnread}},
		{command: strings.Repeat("bash -c true; ", 200)},
		{command: strings.Repeat(":;", 4000) + " tools/x.py", notes: []NoteID{NoteUnread}, files: append(slices.Clone(all), "tools/x.py")},
		{
			command: "a='" + strings.Repeat("x ", 5000) + `'; a="$a$a$a"; echo` + strings.Repeat(` "$a"`, 2000),
			notes:   []NoteID{NoteUnread}, files: all,
		},
		{command: `a=xxxxxxxxxxxxxxxx;` + strings.Repeat(`a=$a$a$a$a$a$a$a$a;`, 40) + `$a`, notes: []NoteID{NoteUntold}, files: all},
	} {
		t.Run(tc.command[:min(40, len(tc.command))], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, name := range append(slices.Clone(all), "tools/x.py", "tools/x.sh", "tools/x.js", "tools/filter.jq", "tools/out.log", "tools/err.log", "Makefile", "src/a.ts") {
				w.write(name, "content")
			}
			w.write("tools/outer.sh", "#!/bin/sh\ncd \"$(dirname \"$0\")\" || exit\n. ./inner.sh\ncat ../src/a.ts\n")
			w.write("tools/inner.sh", "echo")
			if err := os.WriteFile(filepath.Join(w.user, "own.sh"), nil, 0o755); err != nil {
				t.Fatal(err)
			}
			status := w.stands(Item{Command: Command{Line: tc.command}})
			if diff := cmp.Diff(tc.files, status.Files); diff != "" {
				t.Error(diff)
			}
			var notes []NoteID
			for _, n := range status.Notes {
				notes = append(notes, n.ID)
			}
			if diff := cmp.Diff(tc.notes, notes); diff != "" {
				t.Error(diff)
			}
			if status.Blocked {
				t.Error("it cannot be accepted")
			}
		})
	}
}

// What a line runs by way of another program is pinned, or it is said that it is not.
func TestRunByOthers(t *testing.T) {
	t.Parallel()
	hooks := []string{".claude/hooks/check.sh"}
	scripts := []string{"scripts/h.sh", "scripts/sub/y.sh", "scripts/x.sh"}
	for _, tc := range []struct {
		command string
		files   []string
		notes   []NoteID
	}{
		{`find scripts -name '*.sh' -exec sh {} \;`, scripts, nil},
		{`find scripts -type f -execdir {} +`, scripts, nil},
		{`find scripts -name x -exec env A=1 bash {} \;`, scripts, nil},
		{`fd . scripts -x sh {}`, append(hooks, scripts...), []NoteID{NoteUntold}},
		{`find . -name '*.sh' -exec sh {} \;`, hooks, []NoteID{NoteUntold}},
		{`find scripts -name '*.tmp' -exec rm {} \;`, nil, nil},
		{`find . -exec ./scripts/x.sh {} \;`, []string{"scripts/x.sh"}, nil},
		{`env -C scripts ./h.sh`, []string{"scripts/h.sh"}, nil},
		{`env --chdir=scripts ./h.sh`, []string{"scripts/h.sh"}, nil},
		{`env -Cscripts A=1 ./h.sh`, []string{"scripts/h.sh"}, nil},
		{`sudo -u root -D scripts ./h.sh`, []string{"scripts/h.sh"}, nil},
		{`timeout -k 5 10 env --chdir scripts sh h.sh`, []string{"scripts/h.sh"}, nil},
		{`sh scripts/{h,x}.sh`, []string{"scripts/h.sh", "scripts/x.sh"}, nil},
		{`{sh,scripts/h.sh}`, []string{"scripts/h.sh"}, nil},
		{`cat /x{1..100000}`, nil, nil}, // nothing of it runs
		{`sh /x{1..100000}`, hooks, []NoteID{NoteUntold}},
		{`awk 'BEGIN{system("scripts/h.sh")}'`, append(hooks, "scripts/h.sh"), []NoteID{NoteInline}},
		{`node --run hook`, []string{"package.json"}, []NoteID{NoteBuild}},
		{`bun run hook`, []string{"package.json"}, []NoteID{NoteBuild}},
		{`deno task check`, []string{"package.json"}, []NoteID{NoteBuild}},
		{`git -c core.hooksPath=scripts commit -m x`, scripts, nil},
		{`git -c core.fsmonitor=scripts/h.sh status`, []string{"scripts/h.sh"}, nil},
		{`git -C scripts -c alias.x='!./x.sh' x`, []string{"scripts/x.sh"}, nil},
		{`pre-commit run --all-files`, []string{".pre-commit-config.yaml"}, []NoteID{NoteBuild}},
		{`flock /tmp/lock pre-commit run`, []string{".pre-commit-config.yaml"}, []NoteID{NoteBuild}}, // flock has an operand of its own
		{`chroot / pre-commit run`, []string{".pre-commit-config.yaml"}, []NoteID{NoteBuild}},
		{`lefthook run pre-commit`, []string{"lefthook.yml"}, []NoteID{NoteBuild}},
		{`docker compose up -d`, []string{"compose.yaml"}, []NoteID{NoteBuild}},
		{`direnv exec scripts ./h.sh`, []string{".envrc", "scripts/h.sh"}, []NoteID{NoteBuild}},
		{`mise exec -- scripts/h.sh`, []string{"scripts/h.sh"}, []NoteID{NoteBuild}},
		{`chronic sh -c "cd scripts; ./x.sh"`, []string{"scripts/x.sh"}, nil},
		{`docker run box sh scripts/h.sh`, []string{"compose.yaml", "scripts/h.sh"}, []NoteID{NoteBuild}},
		{`D=scripts sh -c '$D/h.sh'`, hooks, []NoteID{NoteUntold}},
		{`S=scripts/h.sh; bash "${S:-x}"`, []string{"scripts/h.sh"}, nil},
		{`ruby scripts/h.sh`, []string{"scripts/h.sh"}, []NoteID{NoteLoads}},
		{`git commit -m x`, nil, nil},
		{`echo {}`, nil, nil},
	} {
		t.Run(tc.command, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, name := range append(slices.Concat(hooks, scripts), "package.json", ".pre-commit-config.yaml", "lefthook.yml", "compose.yaml", ".envrc") {
				w.write(name, "exit 0")
			}
			status := w.stands(Item{Command: Command{Line: tc.command}})
			want := slices.Clone(tc.files)
			slices.Sort(want)
			if diff := cmp.Diff(want, status.Files); diff != "" {
				t.Error(diff)
			}
			var notes []NoteID
			for _, n := range status.Notes {
				notes = append(notes, n.ID)
			}
			if diff := cmp.Diff(tc.notes, notes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A program with arguments has placeholders instead of a shell's words, and a line
// for another shell is searched for names.
func TestOtherCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("tools/x.py", "content")
	for _, c := range []Command{
		{Line: "python3", Args: []string{"${CLAUDE_PROJECT_DIR}/tools/x.py"}},
		{Line: "$CLAUDE_PROJECT_DIR/tools/x.py", Args: []string{}},
		{Line: "sh", Args: []string{"-c", "exec tools/x.py"}},
		{Line: "if (Test-Path tools/x.py) { & tools/x.py }", Other: true},
	} {
		status := w.stands(Item{Command: c})
		if diff := cmp.Diff([]string{"tools/x.py"}, status.Files); diff != "" {
			t.Errorf("%+v: %s", c, diff)
		}
	}
}

// FuzzNames finds no command that takes long or fails.
func FuzzNames(f *testing.F) {
	f.Add(`for f in a/*; do . "${f%/*}/$f"; done`)
	f.Add("bash <<EOF\n$(x)\nEOF")
	f.Add(`x=(a b); ${x[0]} ~ "${0##*/}" {a,b}`)
	f.Fuzz(func(t *testing.T, line string) {
		names(Command{Line: line}, "/project", "/home", func(string) string { return line })
	})
}

// What a script of the project runs from its own folder is found in the usual ways to
// name that folder, in whatever shell script, and however it is run.
func TestScriptsThatNameTheirFolder(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"a.sh":        `. "$(dirname "$0")/inner"`,
		"b.bash":      `source "${BASH_SOURCE%/*}/inner"`,
		"c.sh":        `sh "${0%/*}/inner"`,
		"d.sh":        `d=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd); "$d/inner"`,
		"e":           "#!/usr/bin/env bash\nbash \"$(dirname \"${BASH_SOURCE[0]}\")\"/inner",
		"not a shell": "#!/usr/bin/python3\n. $(dirname $0)/inner",
	} {
		w := newWorld(t)
		w.write("tools/"+name, script)
		w.write("tools/inner", "echo")
		want := []string{"tools/" + name, "tools/inner"}
		if name == "not a shell" {
			want = want[:1]
		}
		if diff := cmp.Diff(want, w.stands(Item{Command: Command{Line: `sh "tools/` + name + `"`}}).Files); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	w := newWorld(t)
	w.write("x.ts", "")
	for _, line := range []string{"bun run x.ts", "deno run --allow-read x.ts", "LD_PRELOAD=./x.ts true"} {
		if diff := cmp.Diff([]string{"x.ts"}, w.stands(Item{Command: Command{Line: line}}).Files); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
}
