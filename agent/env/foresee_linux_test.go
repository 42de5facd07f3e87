package env

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// workplace returns a Local in a fresh repository, and a function to write
// files in it.
func workplace(t *testing.T) (*Local, func(name, text string)) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("a.txt", "one\n")
	write("sub/b.txt", "two\n")
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "add", ".")
	git(t, dir, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "first")
	l, err := NewLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Cleanup(context.Background()) })
	return l, write
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
}

func TestForeseesTheFilesOfALine(t *testing.T) { // K-42
	t.Parallel()
	l, write := workplace(t)
	write("*", "")
	in := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(l.dir, name))
		}
		return paths
	}
	tests := []struct {
		line, dir    string
		reads, files []string
	}{
		{"ls -la", "", in(""), nil},
		{"ls", "sub", in("sub"), nil},
		{"cat a.txt", "", in("", "a.txt"), in("a.txt")},
		{"cat " + l.dir + "/a.txt", "sub", in("a.txt", "sub"), in("a.txt")},
		{"cd sub && cat b.txt", "", in("sub", "sub/b.txt"), in("sub/b.txt")},
		{"cat /etc/passwd", "", append([]string{"/etc/passwd"}, in("")...), []string{"/etc/passwd"}},
		{"wc *.txt", "", in("", "a.txt"), nil},
		{`wc '*' s*/b?txt`, "", in("", "*", "sub/b.txt"), nil},
		{"git log", "", in(""), nil},
	}
	for _, tt := range tests {
		got, ok := l.Foresee(t.Context(), tt.line, tt.dir)
		if diff := cmp.Diff(Foreseen{Reads: tt.reads, Files: tt.files}, got); !ok || diff != "" {
			t.Errorf("%s: %t %s", tt.line, ok, diff)
		}
	}
	for name, e := range map[string]Environment{"logging": Logging(l, slog.New(slog.DiscardHandler)), "read-only": ReadOnly(l)} {
		if _, ok := e.(Foreseer).Foresee(t.Context(), "ls", ""); !ok {
			t.Errorf("%s does not pass it on", name)
		}
	}
}

func TestForeseesNothingWhereNamesAreOptions(t *testing.T) {
	t.Parallel()
	l, write := workplace(t)
	if _, ok := l.Foresee(t.Context(), "rg --include=*.x one", ""); ok {
		t.Error("an option that rg has not")
	}
	if _, ok := l.Foresee(t.Context(), "grep -r one --include=*.x", ""); !ok {
		t.Error("an option that looks like a pattern")
	}
	write("--include=a.x", "")
	write("-l", "")
	for _, line := range []string{"grep -r one --include=*.x", "cat *", "cat ?l", "cat */*/*/*"} {
		if f, ok := l.Foresee(t.Context(), line, ""); ok {
			t.Errorf("%s: %+v", line, f)
		}
	}
}

// Secrets that a search would print are foreseen.
func TestForeseesSecretsInSearchedFiles(t *testing.T) {
	t.Parallel()
	l, write := workplace(t)
	write(".env", "x")
	write("sub/server.pem", "x")
	env, pem := filepath.Join(l.dir, ".env"), filepath.Join(l.dir, "sub/server.pem")
	for line, want := range map[string][2]bool{
		"grep -r x": {true, true}, "grep -r x sub": {false, true}, "rg x": {false, true}, "rg --hidden x": {true, true},
		"diff -q sub sub": {false, true}, "grep x a.txt": {false, false}, "find .": {false, false}, "cat .env": {true, false}, "wc .e*": {true, false},
	} {
		f, ok := l.Foresee(t.Context(), line, "")
		if got := [2]bool{slices.Contains(f.Reads, env), slices.Contains(f.Reads, pem)}; !ok || got != want {
			t.Errorf("%s: %t %v, want %v", line, ok, got, want)
		}
	}
}

// A program in the project is not accepted as a known program.
func TestForeseesNoProgramsOfTheProject(t *testing.T) {
	l, write := workplace(t)
	write("bin/ls", "#!/bin/sh\ntouch ran\n")
	write("shims/ls", "#!/bin/sh\ntouch ran\n")
	other := t.TempDir()
	if err := os.Mkdir(filepath.Join(other, "shims"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/bin/ls", filepath.Join(other, "shims", "ls")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(l.dir, "bin", "ls"), filepath.Join(other, "ls")); err != nil {
		t.Fatal(err)
	}
	system := os.Getenv("PATH")
	for _, path := range []string{
		"bin:" + system, ".:" + system, ":" + system, filepath.Join(l.dir, "bin") + ":" + system,
		other + ":" + system, filepath.Join(other, "shims") + ":" + system, "",
	} {
		t.Setenv("PATH", path)
		if _, ok := l.Foresee(t.Context(), "ls", ""); ok {
			t.Errorf("PATH=%s: ls is held for the system's", path)
		}
	}
	t.Setenv("PATH", filepath.Join(l.dir, "sub")+":"+system)
	if _, ok := l.Foresee(t.Context(), "ls", ""); !ok {
		t.Error("a folder without ls hides it")
	}
}

// repositories are configurations that could make git run a program, evil.
var repositories = []struct {
	name  string
	plant func(t *testing.T, l *Local, write func(name, text string), evil string)
	plain bool // it is foreseen nevertheless
}{
	{"fsmonitor", func(t *testing.T, l *Local, _ func(string, string), evil string) {
		git(t, l.dir, "config", "core.fsmonitor", evil)
	}, false},
	{"external diff", func(t *testing.T, l *Local, _ func(string, string), evil string) {
		git(t, l.dir, "config", "diff.external", evil)
	}, false},
	{"text conversion", func(t *testing.T, l *Local, write func(string, string), evil string) {
		write(".gitattributes", "* diff=x\n")
		git(t, l.dir, "config", "diff.x.textconv", evil)
	}, false},
	{"filter", func(t *testing.T, l *Local, write func(string, string), evil string) {
		write(".gitattributes", "* filter=x\n")
		git(t, l.dir, "config", "filter.x.clean", evil)
	}, false},
	{"signatures", func(t *testing.T, l *Local, _ func(string, string), evil string) {
		git(t, l.dir, "config", "log.showSignature", "true")
		git(t, l.dir, "config", "gpg.program", evil)
	}, false},
	{"included", func(t *testing.T, l *Local, write func(string, string), evil string) {
		write("more", "[core]\n\tfsmonitor = "+evil+"\n")
		git(t, l.dir, "config", "include.path", "../more")
	}, false},
	{"on the section's line", func(t *testing.T, l *Local, write func(string, string), evil string) {
		write(".git/config", "[core] fsmonitor = "+evil+"\n")
	}, false},
	{"behind a continued line", func(t *testing.T, l *Local, write func(string, string), evil string) {
		write(".git/config", "[core]\n\tbare = fal\\\nse\n")
	}, false},
	{"worktree elsewhere", func(t *testing.T, l *Local, _ func(string, string), _ string) {
		git(t, l.dir, "config", "core.worktree", "/")
	}, false},
	{"common folder elsewhere", func(t *testing.T, l *Local, write func(string, string), _ string) {
		write(".git/commondir", "../other")
	}, false},
	{"file that names another", func(t *testing.T, l *Local, write func(string, string), _ string) {
		if err := os.Rename(filepath.Join(l.dir, ".git"), filepath.Join(l.dir, "other")); err != nil {
			t.Fatal(err)
		}
		write(".git", "gitdir: "+filepath.Join(l.dir, "other")+"\n")
	}, false},
	{"bare", func(t *testing.T, l *Local, write func(string, string), evil string) {
		if err := os.RemoveAll(filepath.Join(l.dir, ".git")); err != nil {
			t.Fatal(err)
		}
		git(t, l.dir, "init", "-q", "--bare", ".")
		git(t, l.dir, "config", "core.fsmonitor", evil)
	}, false},
	{"submodule", func(t *testing.T, l *Local, write func(string, string), _ string) {
		write(".gitmodules", "[submodule \"x\"]\n\tpath = sub\n\turl = x\n\tignore = none\n")
	}, false},
	{"lazy fetch", func(t *testing.T, l *Local, _ func(string, string), evil string) {
		git(t, l.dir, "config", "remote.origin.url", "ext::"+evil)
		git(t, l.dir, "config", "remote.origin.promisor", "true")
	}, false},
	{"hooks", func(t *testing.T, l *Local, write func(string, string), evil string) {
		write(".git/hooks/post-index-change", "#!/bin/sh\n"+evil+"\n")
		write("a.txt", "one\n") // its entry in the index is out of date
	}, true},
	{"hooks elsewhere", func(t *testing.T, l *Local, write func(string, string), evil string) {
		write("hooks/post-index-change", "#!/bin/sh\n"+evil+"\n")
		git(t, l.dir, "config", "core.hooksPath", "hooks")
		write("a.txt", "one\n")
	}, true},
	{"repository in it", func(t *testing.T, l *Local, write func(string, string), evil string) {
		write("inner/x", "")
		inner := filepath.Join(l.dir, "inner")
		git(t, inner, "init", "-q")
		git(t, inner, "add", ".")
		git(t, inner, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "first")
		git(t, l.dir, "add", "inner")
		git(t, inner, "config", "core.fsmonitor", evil)
	}, true},
	{"nothing", func(*testing.T, *Local, func(string, string), string) {}, true},
	{"remote", func(t *testing.T, l *Local, _ func(string, string), _ string) {
		git(t, l.dir, "remote", "add", "origin", "git@example.com:x/y.git")
		git(t, l.dir, "config", "branch.main.remote", "origin")
		git(t, l.dir, "config", "user.name", "A B")
	}, true},
}

// If a repository's configuration could start a program, a line is not foreseen
// there, or it starts nothing.
func TestForeseesNothingInAHostileRepository(t *testing.T) {
	lines := []string{"git status", "git diff", "git log -p", "git show", "git blame a.txt", "git diff --cached", "git log -1 --stat", "git describe --always", "git branch"}
	for _, tt := range repositories {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, write := workplace(t)
			mark := filepath.Join(t.TempDir(), "ran")
			evil := filepath.Join(t.TempDir(), "evil")
			if err := os.WriteFile(evil, []byte("#!/bin/sh\ntouch "+mark+"\ncat\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			tt.plant(t, l, write, evil)
			for _, line := range lines {
				_, ok := l.Foresee(t.Context(), line, "")
				if ok != tt.plain {
					t.Errorf("%s is foreseen: %t", line, ok)
				}
				if !ok {
					continue
				}
				r, err := l.Exec(t.Context(), Command{Line: line, Env: Harmless})
				if err != nil || r.ExitCode != 0 {
					t.Errorf("%s: %v %d %s", line, err, r.ExitCode, r.Stderr)
				}
			}
			if _, err := os.Stat(mark); err == nil {
				t.Error("its program ran")
			}
		})
	}
}

func TestForeseesInAWorktree(t *testing.T) {
	t.Parallel()
	l, _ := workplace(t)
	dir := filepath.Join(l.dir, "tree")
	git(t, l.dir, "worktree", "add", "-q", dir)
	inner, err := NewLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := inner.Foresee(t.Context(), "git status", ""); !ok {
		t.Error("a worktree's own repository is not read")
	}
	if err := os.Rename(dir, dir+"2"); err != nil { // the repository names another folder now
		t.Fatal(err)
	}
	moved, err := NewLocal(dir + "2")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := moved.Foresee(t.Context(), "git status", ""); ok {
		t.Error("any repository is read that a file names")
	}
	below, err := NewLocal(filepath.Join(l.dir, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := below.Foresee(t.Context(), "git log", ""); ok {
		t.Error("a repository around the project is read")
	}
}

// No variable in the environment makes bash read a line in another way.
func TestCommandsHaveNoVariablesOfTheShell(t *testing.T) {
	l, write := workplace(t)
	write("start", "touch started\n")
	for name, value := range map[string]string{
		"BASH_ENV": "start", "ENV": "start", "CDPATH": "/etc", "SHELLOPTS": "xtrace", "BASHOPTS": "extglob", "GLOBIGNORE": "a*",
		"BASH_FUNC_ls%%": "() { touch started; }",
	} {
		t.Setenv(name, value)
	}
	r, err := l.Exec(t.Context(), Command{Line: "ls >/dev/null; env; echo a*"})
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("%v %+v", err, r)
	}
	for line := range strings.Lines(r.Stdout) {
		name, _, _ := strings.Cut(line, "=")
		if slices.Contains(shellVariables, name) || strings.HasPrefix(name, "BASH_FUNC_") {
			t.Errorf("commands have %s", strings.TrimSpace(line))
		}
	}
	if _, err := os.Stat(filepath.Join(l.dir, "started")); err == nil || !strings.Contains(r.Stdout, "a.txt") {
		t.Errorf("a line was read in another way: %s", r.Stdout)
	}
}

// git prints tracked files, even if they are missing from the folder.
func TestForeseesSecretsThatGitTracks(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "4"} {
		l, write := workplace(t)
		write(".env", "x")
		write("sub/server.pem", "x")
		write("uplink", "x") // which ends in the name of an extension of the index
		write("sub/"+strings.Repeat("long", 50), "x")
		env, pem := filepath.Join(l.dir, ".env"), filepath.Join(l.dir, "sub/server.pem")
		lines := []string{"git diff", "git grep x", "cd sub && git diff HEAD", "git diff --cached -U1", "git grep x -- a.txt"}
		check := func(want [2]bool, lines ...string) {
			t.Helper()
			for _, line := range lines {
				f, ok := l.Foresee(t.Context(), line, "")
				if got := [2]bool{slices.Contains(f.Reads, env), slices.Contains(f.Reads, pem)}; !ok || got != want {
					t.Errorf("version %s, %s: %t %v, want %v", version, line, ok, got, want)
				}
			}
		}
		check([2]bool{}, lines...)
		git(t, l.dir, "add", ".")
		git(t, l.dir, "rm", "-q", "--cached", ".env")
		git(t, l.dir, "update-index", "--index-version", version)
		check([2]bool{false, true}, lines...)
		git(t, l.dir, "add", "-N", ".env") // which makes it version 3 where it was 2
		check([2]bool{true, true}, lines...)
		check([2]bool{}, "git status", "git log", "git log --stat", "git show", "git log -p", "git diff --stat", "git diff --name-only HEAD")
		git(t, l.dir, "update-index", "--split-index")
		if f, ok := l.Foresee(t.Context(), "git diff", ""); ok {
			t.Errorf("with an index in two files: %+v", f)
		}
		write(".git/index", "DIRC\x00\x00\x00\x02\x00\x00\x00\x09cut")
		if f, ok := l.Foresee(t.Context(), "git diff", ""); ok {
			t.Errorf("with a damaged index: %+v", f)
		}
	}
}

// Secrets that only earlier commits contain are foreseen if a line would print
// them. A line whose files are unknown is not foreseen.
func TestForeseesSecretsInEarlierCommits(t *testing.T) {
	t.Parallel()
	l, write := workplace(t)
	commit := func(subject string) {
		t.Helper()
		git(t, l.dir, "add", "-A")
		git(t, l.dir, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", subject)
	}
	git(t, l.dir, "tag", "begin")
	write(".env", "KEY=secret\n")
	write("sub/id_rsa", "secret\n")
	commit("second")
	git(t, l.dir, "tag", "old")
	git(t, l.dir, "tag", "text", "old:.env") // a name for a file's text, such as its identifier
	write("c.txt", "KEY=secret\n")           // which git takes for .env with another name
	git(t, l.dir, "rm", "-q", ".env", "sub/id_rsa")
	commit("third")
	git(t, l.dir, "tag", "gone")
	write("a.txt", "one and a half\n")
	commit("fourth")
	for _, tt := range []struct {
		foreseen, secret bool
		lines            []string
	}{
		{true, true, []string{
			"git log -p", "git log --patch", "git log -up", "git log -U0", "git log --all --unified=1 --reverse", "git log --binary", "git log -m -p",
			"git log --word-diff", "git log --check", "git log -U2 --stat", "git log --oneline -p HEAD", "git log -p -2", "git log -p -n2 -w", "git log -p -- .",
			"git log -p begin..HEAD", "git log -p old...HEAD", "git log -p --format=%s --graph", "git --no-pager log -p",
			"git show old", "git show HEAD~1", "git show gone", "git show -M gone", "git show -U5 --format=%h HEAD old", "git show old --", "git show --stat -p old",
			"git show HEAD~1 | cat", "git diff old", "git diff old HEAD", "git diff HEAD old", "git diff begin...old", "git diff old..", "git diff --cached old", "git diff old -- .env",
			"git diff HEAD~2 -- sub", "cd sub && git show old", "git show old:sub/id_rsa", "git show old:./sub/id_rsa", "git show --stat old:sub/id_rsa", "git cat-file -p old:sub/id_rsa",
			"git blame old -- sub/id_rsa", "git show old -- .env",
		}},
		{true, false, []string{
			"git show", "git show HEAD", "git log -p -1", "git log --patch --max-count=1", "git diff", "git diff HEAD", "git diff HEAD~1", "git diff gone..", "git diff gone HEAD",
			"git log", "git log --stat", "git log --name-only", "git log --oneline", "git show --stat HEAD", "git show -s HEAD", "git show --name-status gone -- a.txt",
			"git diff --stat old", "git diff --name-only old", "git diff --numstat old HEAD", "git log -p -- a.txt", "git diff old -- a.txt", "git show old -- a.txt",
			"git show HEAD:a.txt", "git show HEAD:sub", "git cat-file -p HEAD", "git cat-file -p old:a.txt", "git cat-file -t text", "git grep one a.txt", "git blame a.txt",
		}},
		{false, false, []string{
			"git show text", "git show --stat text", "git show HEAD text", "git diff text HEAD:a.txt", "git diff HEAD:a.txt old:.env", "git diff text text",
			"git cat-file -p text", "git cat-file blob text", "git cat-file blob old:.env", "git cat-file -p old text",
			"git grep KEY old", "git grep -e KEY old", "git grep KEY old -- .", "git log -p --follow c.txt", "git log -p --follow -- c.txt",
			"git log -p --diff-filter=R", "git show --diff-filter=R gone", "git log -p -S secret", "git log -Gsecret -p", "git log -p none", "git show none",
			"git status -v", "git status -vv", "git status --verbose", "git -c core.pager=cat log -p", "git log -p --ext-diff", "git show --textconv old",
			"git log -p --output=x", "git log --cc", "git log -c", "git show old:../x", "git show ':/second'", "git show 'HEAD^{/second:.}'", "git show ':0:a.txt'", "git log -p ':/second'", "git show 'old^!'", "git p",
		}},
	} {
		for _, line := range tt.lines {
			f, ok := l.Foresee(t.Context(), line, "")
			secret := slices.ContainsFunc(f.Reads, func(path string) bool { return strings.HasSuffix(path, "/.env") || strings.HasSuffix(path, "/id_rsa") })
			if ok != tt.foreseen || secret != tt.secret {
				t.Errorf("%s: foreseen %t, with secrets %t", line, ok, secret)
			}
			if !ok || secret {
				continue
			}
			if r, err := l.Exec(t.Context(), Command{Line: line, Env: Harmless}); err != nil || strings.Contains(r.Stdout, "=secret") && !strings.Contains(r.Stdout, "c.txt") {
				t.Errorf("%s: %v, and prints %s", line, err, r.Stdout)
			}
		}
	}
	for _, name := range []string{"text", "old", "HEAD~2"} { // files with the names of revisions
		write(name, "nothing\n")
	}
	for _, line := range []string{
		"git show text -- a.txt", "git show text --", "git diff text -- a.txt", "git log -p text -- a.txt",
		"git grep KEY old --", "git grep KEY old -- .", "git grep -e KEY HEAD~2 -- sub", "git grep KEY -- old",
	} {
		f, ok := l.Foresee(t.Context(), line, "")
		if !ok || slices.ContainsFunc(f.Reads, func(path string) bool { return strings.HasSuffix(path, "/.env") }) {
			continue
		}
		if r, err := l.Exec(t.Context(), Command{Line: line, Env: Harmless}); err != nil || strings.Contains(r.Stdout, "secret") {
			t.Errorf("with a file of that name, %s: %v, and prints %s", line, err, r.Stdout)
		}
	}
}

// Variables of the user that make a reading command run, write or print something else
// are taken away from it. It is not parallel, because it sets them.
func TestHarmlessTakesVariablesAway(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	write(t, filepath.Join(dir, "a.txt"), "one\n")
	git(t, dir, "add", ".")
	git(t, dir, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "first")
	write(t, filepath.Join(dir, "a.txt"), "two\n")
	git(t, dir, "-c", "user.name=x", "-c", "user.email=x@y", "stash")
	write(t, filepath.Join(dir, "a.txt"), "three\n")
	outside := t.TempDir()
	made := filepath.Join(outside, "made")
	program := filepath.Join(outside, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho ran > "+made+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_EXTERNAL_DIFF", program)
	t.Setenv("GIT_TRACE", made)
	t.Setenv("GIT_TRACE2_EVENT", made)
	t.Setenv("TAR_OPTIONS", "--checkpoint=1 --checkpoint-action=exec="+program)
	l, err := NewLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"git diff", "git diff HEAD", "git show", "git log -p --ext-diff", "git log -L1,1:a.txt", "git stash show -p", "git status", "tar -cf - a.txt | tar -t",
	} {
		r, err := l.Exec(t.Context(), Command{Line: line, Env: Harmless})
		if _, gone := os.Stat(made); err != nil || r.ExitCode != 0 || gone == nil {
			t.Errorf("%s: %v, exit %d %s, made %t", line, err, r.ExitCode, r.Stderr, gone == nil)
			_ = os.Remove(made)
		}
	}
}
