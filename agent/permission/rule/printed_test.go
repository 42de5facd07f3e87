package rule

import (
	"os"
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/sandbox"
)

// repository returns a project whose repository has some files, and lost secrets/old
// in its second commit.
func repository(t *testing.T, options string, files ...string) string {
	t.Helper()
	project := t.TempDir()
	write := func(name string) {
		path := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range append(files, "secrets/old") {
		write(name)
	}
	script := "export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 && git init -q -b main " + options + ` . && git add -A &&
		git -c user.name=a -c user.email=a@b commit -qm one && git rm -q secrets/old && git -c user.name=a -c user.email=a@b commit -qm two`
	r, err := sandbox.Run(t.Context(), sandbox.Spec{Argv: []string{"/bin/bash", "-c", script}, Dir: project, Merge: true})
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("%v: %s", err, r.Stdout)
	}
	return project
}

// Git prints files that no path of a line names. OAS-630.
func TestRulesForFilesSeeWhatGitPrints(t *testing.T) {
	t.Parallel()
	project := repository(t, "", "src/main.go", "README.md", "keys/a.pem", "conf/.env")
	const asked, passes = agent.Ask, agent.Decision("")
	for _, row := range []struct {
		rule, line string
		want       agent.Decision
	}{
		{"Read(secrets/**)", "git log -p", asked},
		{"Read(secrets/**)", "git log --pat", asked},
		{"Read(secrets/**)", "git log -3 -U1", asked},
		{"Read(secrets/**)", "git -C . log -p -- .", asked},
		{"Read(secrets/**)", "git show HEAD~1", asked},
		{"Read(secrets/**)", "git show HEAD:secrets/old", asked},
		{"Read(secrets/**)", "git show --stat -p", asked},
		{"Read(secrets/**)", "git show -S --stat HEAD", asked},
		{"Read(secrets/**)", "git diff -I --stat HEAD~1", asked},
		{"Read(secrets/**)", "git diff HEAD~1", asked},
		{"Read(secrets/**)", "git diff main", asked},
		{"Read(secrets/**)", "git stash show -p", asked},
		{"Read(secrets/**)", "git cat-file -p HEAD", asked},
		{"Read(secrets/**)", "git archive HEAD", asked},
		{"Read(secrets/**)", "git grep -e --count -e x HEAD", asked},
		{"Read(secrets/**)", "git log -p -- ':!src'", asked},
		{"Read(secrets/**)", "cd src && git log -p", asked},
		{"Read(secrets/**)", "git log", passes},
		{"Read(secrets/**)", "git log --oneline --stat", passes},
		{"Read(secrets/**)", "git log -p -- src", passes},
		{"Read(secrets/**)", "git log -p README.md", passes},
		{"Read(secrets/**)", "git show --stat HEAD~1", passes},
		{"Read(secrets/**)", "git show --name-only", passes},
		{"Read(secrets/**)", "git diff", passes}, // it is not tracked any more
		{"Read(secrets/**)", "git diff --cached", passes},
		{"Read(secrets/**)", "git grep -n text", passes},
		{"Read(secrets/**)", "git stash push -m x", passes},
		{"Read(secrets/**)", "git commit -m 'about secrets'", passes},

		{"Read(*.pem)", "git diff", asked},
		{"Read(*.pem)", "git diff --cached -w", asked},
		{"Read(*.pem)", "git grep text", asked},
		{"Read(*.pem)", "git status -v", asked},
		{"Read(*.pem)", "git diff -- src", passes},
		{"Read(*.pem)", "git diff --stat", passes},
		{"Read(*.pem)", "git grep -l text", passes},
		{"Read(.env)", "git diff", asked},
		{"Read(.env)", "git diff conf", asked},
		{"Read(.env)", "git diff keys README.md", passes},
		{"Read(.env.local)", "git diff", passes},
		{"Read(.env.local)", "git show", asked}, // it may have been committed
		{"Read(src/*.key)", "git log -p -- keys", passes},
		{"Read(src/*.key)", "git log -p -- src", asked},
	} {
		r, err := Parse(row.rule)
		if err != nil {
			t.Fatal(err)
		}
		r.Decision = agent.Deny
		got := New(Place{Project: project}, []Rule{r}).Judge(bash(row.line), nil).Decision
		if got == agent.Deny {
			got = agent.Ask
		}
		if got != row.want {
			t.Errorf("%s: %s: %q, want %q", row.rule, row.line, got, row.want)
		}
	}
}

// Each format of an index is read, or is known not to be.
func TestIndexes(t *testing.T) {
	t.Parallel()
	for options, readable := range map[string]bool{"": true, "--object-format=sha256": false} {
		for _, version := range []string{"2", "3", "4"} {
			project := repository(t, options, "a", "folder/a", "folder/a.pem", "uplink", "z")
			script := "export HOME=$PWD && touch new && git add --intent-to-add new && git update-index --index-version " + version
			if r, err := sandbox.Run(t.Context(), sandbox.Spec{Argv: []string{"/bin/bash", "-c", script}, Dir: project, Merge: true}); err != nil || r.ExitCode != 0 {
				t.Fatalf("%v: %s", err, r.Stdout)
			}
			root, names, ok := tracked(filepath.Join(project, "folder"))
			if ok != readable || ok && (root != project || len(names) != 6 || names[2] != "folder/a.pem") {
				t.Errorf("version %s %s: %t, %s, %q", version, options, ok, root, names)
			}
		}
	}
	project := repository(t, "", "a")
	split := sandbox.Spec{Argv: []string{"git", "update-index", "--split-index"}, Dir: project, Merge: true}
	if r, err := sandbox.Run(t.Context(), split); err != nil || r.ExitCode != 0 {
		t.Fatalf("%v: %s", err, r.Stdout)
	}
	if _, names, ok := tracked(project); ok {
		t.Errorf("an index in two files lists %q", names)
	}
	if _, _, ok := tracked(t.TempDir()); ok {
		t.Error("a folder without a repository has an index")
	}
}

// What would be read for ever is not read.
func TestPipesOfRepositories(t *testing.T) {
	t.Parallel()
	pipe := func(path string) {
		t.Helper()
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if r, err := sandbox.Run(t.Context(), sandbox.Spec{Argv: []string{"mkfifo", path}, Dir: "/"}); err != nil || r.ExitCode != 0 {
			t.Fatalf("%v: %s", err, r.Stderr)
		}
	}
	project := repository(t, "", "a")
	if isVersion(project, "elsewhere") {
		t.Error("a word names a version")
	}
	pipe(filepath.Join(project, ".git/packed-refs"))
	pipe(filepath.Join(project, ".git/commondir"))
	if !isVersion(project, "elsewhere") {
		t.Error("versions that cannot be read have no names")
	}
	for _, name := range []string{".git/index", ".git"} {
		pipe(filepath.Join(project, name))
		if _, names, ok := tracked(project); ok {
			t.Errorf("%s lists %q", name, names)
		}
	}
}

// Patterns that mean some files of a folder are not got round by patterns, links
// and code. OAS-630.
func TestFloatingRulesSeeThroughLines(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	for _, dir := range []string{"src", "sub"} {
		if err := os.Mkdir(filepath.Join(project, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".env", "sub/.env", "src/a.pem", "src/x.go", "key.pem"} {
		if err := os.WriteFile(filepath.Join(project, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(".env", filepath.Join(project, "alias")); err != nil {
		t.Fatal(err)
	}
	for text, lines := range map[string][]string{
		"Read(.env)": {
			"cat .e*", "cat <.e*", "cat .e* > out", "sed 'r .env' a", "sed -n '1r.env' a", "cat alia?", "cat sub/.e?v > o", "cat .[e]nv", "mytool -i.env",
			"for f in .e*; do cat $f; done", "sqlite3 :memory: '.read .env'",
		},
		"Read(*.pem)":     {"awk '{getline x < \"key.pem\"}' a", "cat src/a.p*", "cat k*", "sed 'r key.pem' a"},
		"Read(src/*.pem)": {"sed 'r src/a.pem' a", "cat src/a.p* > o", "cd src && cat a*", "cat s*/*"},
	} {
		r, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r.Decision = agent.Deny
		set := New(Place{Project: project}, []Rule{r})
		for _, line := range lines {
			if got := set.Judge(bash(line), nil); got.Decision == "" {
				t.Errorf("%s: %s passes", text, line)
			}
		}
		for _, line := range []string{
			"cat src/*.go", "cat *.go > out", "go test ./...", "git commit -m \"add .env to the 'list'\"", "grep -n \"a b\" src/x.go", "sed -i 's/env/x/' src/x.go",
			"awk '{print $1}' src/x.go", "jq '.a' a.json", "echo \"$HOME a.*\"", "npm run build > out", "make \"A=b\"", "ls src/*.go | wc -l",
		} {
			if got := set.Judge(bash(line), nil); got.Decision != "" {
				t.Errorf("%s: %s: %+v", text, line, got)
			}
		}
	}
}
