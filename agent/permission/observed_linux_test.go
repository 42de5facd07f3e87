package permission_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/command"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/permission/boundary"
	"atelier.dev/atelier/agent/tool"
)

// These tests compare what the analysis says of a line with what the line does.
// They run real lines of bash, inside bubblewrap so that nothing but a scratch
// tree can change. ATELIER_TEST_LINES sets how many lines, and
// ATELIER_TEST_SEED which ones.

// number returns what a variable of the environment says.
func number(t *testing.T, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// scratch is a folder with a project, which is a repository, a home folder and
// a folder outside both.
type scratch struct{ root, project, home string }

// hostile are files whose names are options, commands or several words.
var hostile = map[string]string{
	"-n": "x\n", "--output=x": "x\n", "-ox": "x\n", "-i": "x\n", "-exec": "x\n", "-delete": "x\n", "x;touch y": "x\n", "$(touch y)": "x\n", "a -o y": "x\n",
	"--pre=touch": "x\n", "*.md": "x\n", "sub/-delete": "x\n",
}

func newScratch(t testing.TB, files map[string]string) scratch {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := scratch{root, filepath.Join(root, "project"), filepath.Join(root, "home")}
	write := func(name, text string, mode fs.FileMode) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"a.txt": "one\ntwo 2\nthree 3\n", "b.txt": "one\n", "list.txt": "a.txt\nb.txt\n", "sub/c.txt": "one\n", "with space.txt": "x\n",
		"src/main.go": "package main\n", "data.json": `{"name":"x","a":[1,2]}` + "\n", "go.mod": "module x\n", ".gitignore": "ignored\n",
	} {
		write("project/"+name, text, 0o644)
	}
	for name, text := range files {
		write("project/"+name, text, 0o644)
	}
	write("project/script.sh", "#!/bin/sh\ntouch ran\n", 0o755)
	write("home/notes.txt", "x\n", 0o644)
	write("outside/x.txt", "x\n", 0o644)
	if err := os.Symlink("a.txt", filepath.Join(s.project, "link.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.project, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	commands := "git init -q -b main . && git config user.name ada && git config user.email ada@example.com && git add -A . && git commit -qm first && " +
		"git branch other && git tag v1 && echo two >> b.txt && git commit -qam second && echo three >> b.txt && tar cf a.tar a.txt"
	cmd := exec.CommandContext(t.Context(), "bash", "--norc", "--noprofile", "-c", commands)
	cmd.Dir, cmd.Env = s.project, s.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return s
}

func (s scratch) environ() []string {
	return append([]string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + s.home, "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "EDITOR=false", "TERM=dumb",
	}, env.Harmless...)
}

// tree returns everything below the scratch folder: its name, mode, time and
// contents.
func (s scratch) tree(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(s.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		said := fmt.Sprintf("%v %d", info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			said += fmt.Sprintf(" %x", sha256.Sum256(data))
		}
		all[strings.TrimPrefix(path, s.root)] = said
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// changed names what differs between two trees.
func changed(before, after map[string]string) (names []string) {
	for name, said := range after {
		if before[name] != said {
			names = append(names, name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// observer runs the lines on its standard input, which zero bytes separate, and
// prints what each of them left: processes, files for all, and the programs of
// which a stub ran.
const observer = `
ulimit -f 4096
shopt -s nullglob dotglob
processes() { local all=(/proc/[0-9]*); count=${#all[@]}; }
: > /run/ran
exec 9<> <(:)
processes; before=$count
i=0
while IFS= read -r -d '' line; do
	timeout -k 0.2 1 bash --norc --noprofile -c "$line" < /dev/null > /dev/null 2>&1
	ended=$?
	for try in {1..40}; do
		processes
		[ $count -le $before ] && break
		read -t 0.02 -u 9
	done
	[ $count -le $before ] || { [ $ended -eq 124 ] || [ $ended -eq 137 ] || printf '%d left a process\n' $i; kill -9 -1; exec 9<> <(:); }
	while read -r name; do printf '%d ran %s\n' $i "$name"; done < /run/ran
	: > /run/ran
	i=$((i + 1))
done
for file in /tmp/* /dev/shm/*; do
	[[ $ROOT = "$file"* ]] || printf -- '-1 wrote %s\n' "$file"
done
`

// observe runs lines in the project and returns what the observer printed.
func (s scratch) observe(t *testing.T, lines []string, stubs ...string) []string {
	t.Helper()
	args := []string{"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run", "--bind", s.root, s.root}
	for _, stub := range stubs {
		for _, path := range []string{"/usr/bin/" + stub, "/bin/" + stub} {
			if real, err := filepath.EvalSymlinks(path); err == nil && real == path {
				args = append(args, "--ro-bind", filepath.Join(s.root, "stub"), path)
			}
		}
	}
	args = append(args, "--unshare-all", "--die-with-parent", "--new-session", "--chdir", s.project, "bash", "--norc", "--noprofile", "-c", observer)
	cmd := exec.CommandContext(t.Context(), "/usr/bin/bwrap", args...)
	cmd.Env = append(s.environ(), "ROOT="+s.root)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\x00") + "\x00")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("observe: %v: %s%s", err, out, errs.String())
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
}

// needsObserver skips a test where lines cannot be run without danger.
func needsObserver(t *testing.T) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "/usr/bin/bwrap", "--ro-bind", "/", "/", "--unshare-all", "true").CombinedOutput(); err != nil {
		t.Skipf("bubblewrap does not work here: %v %s", err, out)
	}
}

// commandAccess returns what the tool for commands foresees of a line in a folder.
func commandAccess(t testing.TB, dir string) func(line string) agent.Access {
	t.Helper()
	local, err := env.NewLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = local.Cleanup(context.Background()) })
	for _, one := range tool.Builtin(local, tool.Options{}) {
		if a, ok := one.(agent.Accessor); ok && one.Spec().Name == "Bash" {
			return func(line string) agent.Access {
				input, err := json.Marshal(tool.BashInput{Command: line})
				if err != nil {
					t.Fatal(err)
				}
				return a.Access(t.Context(), input)
			}
		}
	}
	t.Fatal("there is no tool for commands")
	return nil
}

// saidToRead reports whether a person is told that a line only reads.
func (s scratch) saidToRead(line string) bool {
	effects := command.Of(line, command.Place{
		Dir: s.project, Project: s.project, Home: s.home, Resolve: boundary.Resolve,
		Exists: func(path string) bool { _, err := os.Lstat(path); return err == nil },
	})
	return len(effects) == 1 && effects[0].ID == agent.EffectReads
}

// usualLines is how many lines a test takes unless it is told.
const usualLines = 400

// batch is how many lines run in one scratch tree before it is compared.
const batch = 100

// A line that counts as reading leaves a tree as it was when it really runs:
// byte by byte, with its modes and times; it writes nothing else either and
// leaves no process behind. K-38, K-40.
func TestLinesThatReadChangeNothing(t *testing.T) {
	t.Parallel()
	needsObserver(t)
	g := readGrammar(t)
	seed, count := uint64(number(t, "ATELIER_TEST_SEED", 1)), number(t, "ATELIER_TEST_LINES", usualLines)
	for name, tt := range map[string]struct {
		files map[string]string
		told  bool // also what a person is told, which does not look at the names of files
	}{
		"usual names": {nil, true}, "hostile names": {hostile, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScratch(t, tt.files)
			access := commandAccess(t, s.project)
			free := func(line string) bool { return access(line).OnlyReads }
			var lines []string
			for _, line := range g.some("line", seed, count) {
				if free(line) || tt.told && s.saidToRead(line) {
					lines = append(lines, line)
				}
			}
			t.Logf("%d of %d lines are called reading", len(lines), count)
			if len(lines) < count/20 {
				t.Errorf("only %d of %d lines are called reading", len(lines), count)
			}
			for some := range slices.Chunk(lines, batch) {
				s.change(t, some, func(line string) string { return fmt.Sprintf("runs freely: %t", free(line)) })
			}
		})
	}
}

// change runs lines and reports those that change something. A batch that does
// is run again in a tree of its own for each half.
func (s scratch) change(t *testing.T, lines []string, describe func(string) string) {
	t.Helper()
	before := s.tree(t)
	seen := s.observe(t, lines)
	names := changed(before, s.tree(t))
	if len(seen)+len(names) == 0 {
		return
	}
	if len(lines) == 1 {
		t.Errorf("%q is called reading (%s), but changes %q %q", lines[0], describe(lines[0]), names, seen)
		return
	}
	for _, half := range [][]string{lines[:len(lines)/2], lines[len(lines)/2:]} {
		fresh := newScratch(t, nil)
		fresh.change(t, half, describe)
	}
}
