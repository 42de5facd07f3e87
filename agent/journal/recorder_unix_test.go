//go:build unix

package journal_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/journal"
)

// bench is a folder whose steps are recorded.
type bench struct {
	*testing.T
	home, folder string
	journal      *journal.Journal
	sweeps       bool
	steps        int
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	b := &bench{T: t, home: filepath.Join(t.TempDir(), "home"), folder: t.TempDir()}
	for name, text := range files {
		b.write(name, text)
	}
	b.reopen()
	t.Cleanup(func() { b.journal.Close() })
	return b
}

// reopen closes the journal and opens it again, as another process would.
func (b *bench) reopen() {
	if b.journal != nil {
		b.journal.Close()
	}
	b.journal = journal.Open(b.home)
	if b.sweeps {
		b.journal.Sweep()
	}
}

func (b *bench) recorder() agent.Recorder { return b.journal.Recorder("session", b.folder) }

func (b *bench) path(name string) string { return filepath.Join(b.folder, filepath.FromSlash(name)) }

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) write(name, text string) {
	b.Helper()
	b.must(os.MkdirAll(filepath.Dir(b.path(name)), 0o755))
	b.must(os.WriteFile(b.path(name), []byte(text), 0o644))
}

// sh runs a command line in the folder.
func (b *bench) sh(line string) {
	b.Helper()
	c := exec.CommandContext(b.Context(), "sh", "-ec", line)
	c.Dir = b.folder
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// command records what do does, as the step of a command.
func (b *bench) command(do func()) *agent.FilesChanged {
	b.Helper()
	return b.step(agent.GateCall{Tool: "Bash", Access: agent.Access{Command: "x"}}, do)
}

func (b *bench) step(call agent.GateCall, do func()) *agent.FilesChanged {
	b.Helper()
	b.steps++
	end := b.recorder().Begin(b.Context(), fmt.Sprint("call", b.steps), call)
	do()
	if end == nil {
		return nil
	}
	return end(b.Context())
}

// told writes what a step changed as lines of a path with both versions, whose
// contents come from the store.
func (b *bench) told(changed *agent.FilesChanged) (lines []string) {
	b.Helper()
	if changed == nil {
		return nil
	}
	version := func(v agent.FileVersion) string {
		switch {
		case !v.Exists():
			return "nothing"
		case v.Unkept != "":
			return fmt.Sprintf("%s (%s)", v.Kind, v.Unkept)
		}
		text, err := b.journal.Objects().Contents(b.Context(), v)
		if err != nil {
			b.Errorf("%+v: %v", v, err)
		}
		return fmt.Sprintf("%s %q", v.Kind, text)
	}
	for _, f := range changed.Files {
		lines = append(lines, fmt.Sprintf("%s: %s -> %s", f.Path, version(f.Before), version(f.After)))
	}
	if changed.More > 0 {
		lines = append(lines, fmt.Sprint("more: ", changed.More))
	}
	if changed.Unwatched {
		lines = append(lines, "unwatched")
	}
	return lines
}

func (b *bench) expect(changed *agent.FilesChanged, want ...string) {
	b.Helper()
	if diff := cmp.Diff(want, b.told(changed)); diff != "" {
		b.Errorf("(-want +got):\n%s", diff)
	}
}

// both runs a test with the help of the watch, and without.
func both(t *testing.T, name string, test func(t *testing.T, sweeps bool)) {
	for _, sweeps := range []bool{false, true} {
		how := map[bool]string{false: "watched", true: "swept"}[sweeps]
		t.Run(name+" "+how, func(t *testing.T) {
			t.Parallel()
			test(t, sweeps)
		})
	}
}

// K-24: what commands do to files is known, with the contents before and after.
func TestCommandsAreRecorded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line string
		want []string
	}{
		"sed -i":            {"sed -i s/one/two/ a", []string{`a: file "one\n" -> file "two\n"`}},
		"rm":                {"rm a", []string{`a: file "one\n" -> nothing`}},
		"mv":                {"mv a d/z", []string{`a: file "one\n" -> nothing`, `d/z: nothing -> file "one\n"`}},
		"mv over":           {"mv a d/b", []string{`a: file "one\n" -> nothing`, `d/b: file "deep\n" -> file "one\n"`}},
		"mv of a folder":    {"mv d e", []string{`d/b: file "deep\n" -> nothing`, `d/sub/c: file "deeper\n" -> nothing`, `e/b: nothing -> file "deep\n"`, `e/sub/c: nothing -> file "deeper\n"`}},
		"rm -r":             {"rm -r d", []string{`d/b: file "deep\n" -> nothing`, `d/sub/c: file "deeper\n" -> nothing`}},
		"replaced folder":   {"rm -r d; mkdir -p d/sub; echo new > d/sub/c", []string{`d/b: file "deep\n" -> nothing`, `d/sub/c: file "deeper\n" -> file "new\n"`}},
		"chmod":             {"chmod +x a", []string{`a: file "one\n" -> executable "one\n"`}},
		"other modes":       {"chmod o-r a", []string{`a: file "one\n" -> file "one\n"`}},
		"touch":             {"touch a", nil},
		"same contents":     {"echo one > a", nil},
		"there and back":    {"echo two > a; echo one > a; mv d e; mv e d", nil},
		"new":               {"mkdir -p x/y/z; echo 1 > x/y/z/f; : > x/empty", []string{`x/empty: nothing -> file ""`, `x/y/z/f: nothing -> file "1\n"`}},
		"came and went":     {"mkdir x; echo 1 > x/f; rm -r x", nil},
		"kept time":         {"touch -r a ref; echo two > a; touch -r ref a; rm ref", []string{`a: file "one\n" -> file "two\n"`}},
		"link":              {"ln -s a l; ln -sfn d/sub link", []string{`l: nothing -> link "a"`, `link: link "d" -> link "d/sub"`}},
		"file to link":      {"rm a; ln -s /etc/passwd a", []string{`a: file "one\n" -> link "/etc/passwd"`}},
		"folder to link":    {"mv d /tmp/$$; ln -s /tmp/$$ d; rm -r /tmp/$$", []string{`d: nothing -> link "/tmp/`, `d/b: file "deep\n" -> nothing`, `d/sub/c: file "deeper\n" -> nothing`}},
		"folder to file":    {"rm -r d; echo f > d", []string{`d: nothing -> file "f\n"`, `d/b: file "deep\n" -> nothing`, `d/sub/c: file "deeper\n" -> nothing`}},
		"file to folder":    {"rm a; mkdir a; echo f > a/f", []string{`a: file "one\n" -> nothing`, `a/f: nothing -> file "f\n"`}},
		"pipes":             {"mkfifo pipe; rm a; mkfifo a", []string{`a: file "one\n" -> nothing`}},
		"large":             {"truncate -s 10G sparse", []string{`sparse: nothing -> file (large)`}},
		"hard link":         {"ln a a2; echo more >> a2", []string{`a: file "one\n" -> file "one\nmore\n"`, `a2: nothing -> file "one\nmore\n"`}},
		"loop":              {"ln -s . loop; ln -s ../d d/loop", []string{`d/loop: nothing -> link "../d"`, `loop: nothing -> link "."`}},
		"unnamable":         {`printf x > "$(printf 'q\377')"; printf y > '"q"'`, []string{`"\"q\"": nothing -> file "y"`, `"q\377": nothing -> file "x"`}},
		"ignored":           {"mkdir out node_modules; echo 1 > out/f; echo 1 > node_modules/f; echo 1 > d/x.log; echo 2 > d/x.txt", []string{`d/x.txt: nothing -> file "2\n"`}},
		"nothing":           {"cat a; ls -R . > /dev/null", nil},
		"git":               {"echo 3 > a; git add .; git commit -qm x; git checkout -q -b y; git rm -q d/b; git commit -qm y; git checkout -q -", []string{`a: file "one\n" -> file "3\n"`}},
		"with its own tree": {"git init -q inner; cd inner; echo x > .gitignore; echo 1 > x; echo 2 > y", []string{`inner/.gitignore: nothing -> file "x\n"`, `inner/y: nothing -> file "2\n"`}},
	} {
		both(t, name, func(t *testing.T, sweeps bool) {
			b := newBench(t, map[string]string{"a": "one\n", "d/b": "deep\n", "d/sub/c": "deeper\n", ".gitignore": "out/\n*.log\n"})
			b.sweeps = sweeps
			b.reopen()
			b.sh("ln -s d link; git init -q -b main")
			b.command(func() {}) // the folder is known
			got := b.told(b.command(func() { b.sh(c.line) }))
			for i, line := range got {
				if at := strings.Index(line, "/tmp/"); at > 0 {
					got[i] = line[:at+5]
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.line, diff)
			}
			b.expect(b.command(func() {}))
		})
	}
}

// The first command of a session is recorded as well, and in another process.
func TestTheFirstCommandIsRecorded(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1", "d/b": "2"})
	for i := range 3 {
		before, after := fmt.Sprint(i, "old"), fmt.Sprint(i, "new")
		b.write("a", before) // by somebody else, while the journal is closed
		b.reopen()
		b.expect(b.command(func() { b.write("a", after) }), fmt.Sprintf("a: file %q -> file %q", before, after))
	}
}

// Calls that only read are not recorded, and nothing is read for them.
func TestReadingCostsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	for _, call := range []agent.GateCall{
		{Tool: "Read", ReadOnly: true, Access: agent.Access{Reads: []string{b.path("a")}}},
		{Tool: "Bash", Access: agent.Access{Command: "cat a", OnlyReads: true}},
		{Tool: "TaskStop", Access: agent.Access{Own: true}},
	} {
		if end := b.recorder().Begin(t.Context(), "id", call); end != nil {
			t.Errorf("%+v is recorded", call)
		}
	}
	if _, err := os.Stat(filepath.Join(b.home, "journal")); err == nil {
		t.Error("the journal has a folder")
	}
}

// A call that names its files is recorded by them alone, wherever they are.
func TestNamedFilesAreRecorded(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1", "gone": "2", "out/x": "3", ".ignore": "out\n"})
	outside := filepath.Join(t.TempDir(), "o")
	b.must(os.WriteFile(outside, []byte("4"), 0o600))
	access := agent.Access{Writes: []string{b.path("a"), b.path("gone"), "out/x", b.path("new/deep/f"), outside, b.path("a"), "untouched", "bad\x00name"}}
	got := b.step(agent.GateCall{Tool: "ApplyPatch", Access: access}, func() {
		b.write("a", "1b")
		b.must(os.Remove(b.path("gone")))
		b.write("out/x", "3b")
		b.write("new/deep/f", "5")
		b.must(os.WriteFile(outside, []byte("4b"), 0o600))
		b.write("other", "somebody else's")
	})
	b.expect(got, outside+`: file "4" -> file "4b"`, `a: file "1" -> file "1b"`, `gone: file "2" -> nothing`,
		`new/deep/f: nothing -> file "5"`, `out/x: file "3" -> file "3b"`)
}

// A change by others between steps belongs to no step, and the next step begins
// with it.
func TestOthersChangesAreTheNewBaseline(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1", "b": "1"})
	b.expect(b.command(func() { b.write("a", "2") }), `a: file "1" -> file "2"`)
	b.write("a", "3")
	b.write("b", "3")
	b.write("new", "3")
	b.expect(b.command(func() { b.write("a", "4") }), `a: file "3" -> file "4"`)
	edit := agent.GateCall{Tool: "Edit", Access: agent.Access{Writes: []string{"b"}}}
	b.expect(b.step(edit, func() { b.write("b", "5") }), `b: file "3" -> file "5"`)
	b.expect(b.command(func() {}))
}

// A change belongs to one of the steps that run at once: to the one whose end finds
// it, or else to the one that has run longest. An edit's files are its own.
func TestEachChangeBelongsToOneStep(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1", "b": "1", "c": "1", "d": "1"})
	command := agent.GateCall{Tool: "Bash", Access: agent.Access{Command: "x"}}
	b.command(func() {})
	endFirst := b.recorder().Begin(t.Context(), "1", command)
	b.write("a", "2")
	endSecond := b.journal.Recorder("other", b.folder).Begin(t.Context(), "1", command)
	b.write("b", "2")
	b.write("c", "2")
	edit := agent.GateCall{Tool: "Edit", Access: agent.Access{Writes: []string{"c"}}}
	b.expect(b.step(edit, func() { b.write("c", "3") }), `c: file "2" -> file "3"`)
	b.write("d", "2")
	b.expect(endSecond(t.Context()), `d: file "1" -> file "2"`)
	b.write("a", "3")
	third := b.journal.Recorder("third", b.folder).Begin(t.Context(), "1", command)
	b.expect(third(t.Context()))
	b.expect(endFirst(t.Context()), `a: file "1" -> file "3"`, `b: file "1" -> file "2"`, `c: file "1" -> file "2"`)
}

// untilOld waits until no file of the folder counts as new for a step that begins then.
func (b *bench) untilOld() {
	b.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		areOld, err := journal.AreOld(b.folder)
		b.must(err)
		if areOld {
			return
		}
		<-again.C
	}
}

// A change of the rules for ignored files changes no file. Files that come to
// light are not taken for new: undoing the step would delete them.
func TestWhatComesToLightIsNotNew(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{".ignore": "out\n*.log\n", "out/old": "1", "x.log": "1", "y.log": "1", "a": "1"})
	b.untilOld()
	b.command(func() {})
	got := b.command(func() {
		b.write(".ignore", "a\n")
		b.write("y.log", "2")
		b.write("a", "2")
		b.write("new", "1")
	})
	b.expect(got, `.ignore: file "out\n*.log\n" -> file "a\n"`, `new: nothing -> file "1"`, `y.log: file (unseen) -> file "2"`)
	b.expect(b.command(func() { b.write("out/old", "2") }), `out/old: file "1" -> file "2"`)
}

// An unreadable file is reported, and nothing waits for it.
func TestUnreadableFiles(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	b := newBench(t, map[string]string{"a": "1", "d/b": "1"})
	b.command(func() {})
	b.expect(b.command(func() { b.sh("echo 2 > a; chmod 0 a") }), `a: file "1" -> file (failed)`)
	got := b.command(func() { b.sh("chmod 0 d") })
	b.sh("chmod 700 d")
	if got == nil || !got.Unwatched || len(got.Files) > 0 {
		t.Errorf("%+v", got)
	}
}

// A pipe with a name that an edit has does not block it.
func TestNothingWaitsForAPipe(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.must(syscall.Mkfifo(b.path("pipe"), 0o600))
	edit := agent.GateCall{Tool: "Edit", Access: agent.Access{Writes: []string{"pipe"}}}
	b.expect(b.step(edit, func() {}))
}

// A path through a link that leads out of the folder is not read.
func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	outside := t.TempDir()
	b.must(os.WriteFile(filepath.Join(outside, "secret"), []byte("1"), 0o600))
	b.must(os.Symlink(outside, b.path("out")))
	edit := agent.GateCall{Tool: "Edit", Access: agent.Access{Writes: []string{"out/secret"}}}
	b.expect(b.step(edit, func() { b.must(os.WriteFile(filepath.Join(outside, "secret"), []byte("2"), 0o600)) }))
}

// A file that a call names through a link to its folder is recorded under the name by
// which undoing finds it.
func TestLinkedFolders(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"real/f": "1"})
	outside, err := filepath.EvalSymlinks(t.TempDir())
	b.must(err)
	b.must(os.Symlink("real", b.path("link")))
	b.must(os.Symlink(outside, filepath.Join(outside, "link")))
	edit := agent.GateCall{Tool: "Edit", Access: agent.Access{Writes: []string{b.path("link/f"), b.path("link/new/deep/f"), filepath.Join(outside, "link/f")}}}
	got := b.step(edit, func() {
		b.write("real/f", "2")
		b.write("real/new/deep/f", "3")
		b.must(os.WriteFile(filepath.Join(outside, "f"), []byte("4"), 0o600))
	})
	b.expect(got, outside+`/f: nothing -> file "4"`, `real/f: file "1" -> file "2"`, `real/new/deep/f: nothing -> file "3"`)
}

// A step that changes very many files lists some and counts the rest.
func TestManyChangesAreCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.command(func() {})
	got := b.command(func() { b.sh("for i in $(seq 2100); do : > f$i; done") })
	if got == nil || len(got.Files) != 2000 || got.More != 100 {
		t.Errorf("%d files and %d more", len(got.Files), got.More)
	}

	var all []string
	for i := range 2002 {
		all = append(all, fmt.Sprint("no", i))
	}
	patch := agent.GateCall{Tool: "ApplyPatch", Access: agent.Access{Writes: append(all, "last")}}
	if got := b.step(patch, func() { b.write("last", "1") }); got == nil || got.More != 3 {
		t.Errorf("of a patch of very many files, %+v is told", got)
	}
}

// In a folder that is too deep to be followed as a whole, each command says so, and
// what is seen for the first time is not taken for new.
func TestAFolderThatIsTooDeep(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("d/", 105)
	b := newBench(t, map[string]string{"a": "1", deep + "f": "1"})
	b.untilOld()
	b.expect(b.command(func() { b.write("a", "2") }), `a: file "1" -> file "2"`, "unwatched")
	got := b.command(func() {
		b.sh("mv d/d/d/d/d/d/d/d e && echo 2 > e/new")
	})
	b.expect(got, `e/new: file (unseen) -> file "2\n"`, "unwatched")
}

// The journal's own folder may be in the project.
func TestTheJournalDoesNotRecordItself(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.home = b.path("home")
	b.reopen()
	b.expect(b.command(func() { b.write("a", "2") }), `a: file "1" -> file "2"`)
	b.expect(b.command(func() {}))
}

// More folders than are followed at once take turns.
func TestManyFolders(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for i := range 24 {
		b.folder = filepath.Join(t.TempDir(), fmt.Sprint(i%12))
		b.write("a", "1")
		b.expect(b.command(func() { b.write("a", "2") }), `a: file "1" -> file "2"`)
	}
}

// A private file is known as one, also by the next process, so that it does not come
// back for everybody to read.
func TestPrivateFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"secret": "1", "open": "1"})
	b.must(os.Chmod(b.path("secret"), 0o600))
	b.command(func() {})
	b.reopen()
	got := b.command(func() { b.sh("rm secret open") })
	if got == nil || len(got.Files) != 2 || got.Files[0].Before.Private || !got.Files[1].Before.Private {
		t.Errorf("%+v", got)
	}
}
