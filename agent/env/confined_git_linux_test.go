package env_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/agent/sandbox/confine"
)

// confinedRepository is a project with a repository, in which commands run as in the
// mode auto.
type confinedRepository struct {
	t         *testing.T
	dir, home string
	local     *env.Local
}

// newConfinedRepository makes a project, in a folder that commands do not have as their
// own, and the folder of its repository if it is a second working tree.
func newConfinedRepository(t *testing.T) *confinedRepository {
	t.Helper()
	if !sandbox.Confinement(t.Context(), false).Holds() {
		t.Skip("commands cannot be confined here")
	}
	base, err := os.MkdirTemp("/var/tmp", "confined-git-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	r := &confinedRepository{t: t, dir: filepath.Join(base, "project"), home: filepath.Join(base, "home")}
	for _, dir := range []string{r.dir, r.home} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.user("git init -q -b main . && echo one >a.txt && echo two >b.txt && mkdir src && echo x >src/x.go && echo '*.log' >.gitignore &&" +
		"git add -A && git commit -qm first && echo more >>a.txt && git commit -qam second && git branch other && git tag v1 &&" +
		"git switch -q other && echo other >c.txt && git add c.txt && git commit -qm other && git switch -q main")
	r.at(r.dir)
	return r
}

// at lets commands run in a folder.
func (r *confinedRepository) at(dir string) {
	local, err := env.NewLocal(dir)
	if err != nil {
		r.t.Fatal(err)
	}
	on := true
	place := confine.Place{Project: dir, Home: r.home}
	asked := confine.Combine(confine.Layer{Trusted: true, Settings: confine.Settings{Enabled: &on}})
	local.Confine = func(context.Context) (env.Confining, bool) {
		return env.Confining{Profile: func(env.Command) confine.Profile { return asked.At(place) }, Auto: true}, true
	}
	r.t.Cleanup(func() { _ = local.Cleanup(context.WithoutCancel(r.t.Context())) })
	local.SpillDir = filepath.Join(filepath.Dir(r.dir), "spill")
	r.local = local
}

// user runs a line as the user does, outside.
func (r *confinedRepository) user(line string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "bash", "-c", line)
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), r.environ()...)
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(line, "# may fail") {
		r.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

func (r *confinedRepository) environ() []string {
	return []string{
		"HOME=" + r.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@y.example", "GIT_COMMITTER_NAME=x",
		"GIT_COMMITTER_EMAIL=x@y.example", "GIT_EDITOR=true", "PWNED=" + filepath.Join(r.home, "pwned"),
	}
}

// agent runs a line as the agent does, confined.
func (r *confinedRepository) agent(line string) env.CommandResult {
	r.t.Helper()
	result, err := r.local.Exec(r.t.Context(), env.Command{Line: line, Merge: true, Env: r.environ()})
	if err != nil {
		r.t.Fatalf("%s: %v", line, err)
	}
	return result
}

// K-47: everyday git commands work in the confinement, in a repository and in a second
// working tree of one.
func TestConfinedGitWorks(t *testing.T) {
	t.Parallel()
	lines := []string{
		"git status", "git log --oneline | head -3", "echo n >n.txt; git add n.txt", "git add -A && git commit -qm third",
		"git commit --allow-empty -qm \"$(cat <<'EOF'\nA subject\n\nand FOO=bar in its body\nEOF\n)\"",
		"echo m >m.txt; git add .; git commit -qm m; git commit --amend -qm changed", "echo z >>a.txt; git stash", "git stash list", "git stash pop", "git restore a.txt", "git diff HEAD~1",
		"git switch -qc topic", "echo t >t.txt && git add t.txt && git commit -qm topic", "git switch -q -", "git merge -q --no-edit topic",
		"git branch -d topic", "git branch -m other renamed", "git checkout -qb again && git checkout -q -", "git branch -D again",
		"git tag v2 && git tag -d v2", "git cherry-pick renamed", "git revert --no-edit HEAD", "git rebase -q HEAD~1", "git reset -q --hard HEAD~1",
		"git rm -q b.txt && git commit -qm gone", "git mv a.txt d.txt && git commit -qm moved", "touch u.txt u.log && git clean -fd && test ! -e u.txt",
		"git gc -q", "git reflog | head -1", "git show --stat HEAD", "git blame d.txt", "for f in x y; do echo $f >$f; done; git add x y; git commit -qm xy",
		"git worktree add -q wt HEAD && git worktree list", "git worktree remove wt", "git branch at && git worktree add -q at at", "git worktree remove -f at", "git branch -D at", "git bisect start && git bisect reset", "git fsck",
		"cd src && echo y >y.go && git add . && git commit -qm y", "git notes add -m note HEAD", "git apply --check /dev/null || true", "git stash -u || true",
		"echo u >u.txt && git stash -u && test ! -e u.txt && git stash pop && git add u.txt && git commit -qm u", "touch u.log mine; git clean -fd && git status && test -e u.log -a ! -e mine && echo v >v && git add v && git commit -qm v",
		"git update-index --refresh; git describe --tags --always", "sleep 0 && git status --short",
	}
	for _, where := range []string{"repository", "worktree"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			r := newConfinedRepository(t)
			if where == "worktree" {
				tree := filepath.Join(filepath.Dir(r.dir), "second")
				r.user("git worktree add -q -b second " + tree)
				r.at(tree)
			}
			for _, line := range lines {
				if got := r.agent(line); got.ExitCode != 0 || len(got.Notes) > 0 || strings.Contains(got.Stdout, "failed") {
					t.Errorf("%s: exit code %d %q\n%s", line, got.ExitCode, got.Notes, got.Stdout)
				}
			}
			if left := r.user("cd " + r.dir + "; ls -A .git; git fsck; git status"); strings.Contains(left, "commondir") || strings.Contains(left, "config.worktree") {
				t.Errorf("placeholders are left:\n%s", left)
			}
		})
	}
}

// K-47: whatever a confined command leaves in a repository, the user's next git commands
// run nothing of it. The commands are those with which it was tried, and some more.
func TestConfinedGitLeavesNothingThatRuns(t *testing.T) {
	t.Parallel()
	const (
		monitor = `printf '[core]\n\tfsmonitor = touch $PWNED;\n\trepositoryformatversion = 0\n' >`
		hook    = `printf '#!/bin/sh\ntouch $PWNED\n' >`
	)
	tests := map[string]struct {
		before string   // what the user has done
		agent  []string // what the agent runs
		user   string   // what the user does then
	}{
		"commondir":            {"", []string{"cp -r .git evil; " + monitor + "evil/config; echo ../evil >.git/commondir"}, "git status"},
		"commondir by git":     {"", []string{"cp -r .git evil; " + monitor + "evil/config", "git diff --output=.git/commondir", "git log -1 --format=../evil >.git/commondir"}, "git status"},
		"a bare repository":    {"", []string{"git init -q --bare b; mv b/* .; " + monitor + "config; rm .git/HEAD"}, "git status # may fail"},
		"HEAD by git":          {"", []string{"git symbolic-ref HEAD x; git update-ref --no-deref HEAD x; rm -f .git/HEAD"}, "git status"},
		"a repository inside":  {"", []string{"git init -q sub; echo x >sub/x; git -C sub add x; git -C sub commit -qm x", "git add sub", monitor + "sub/.git/config"}, "git status; git diff; git commit -qam x # may fail"},
		"another order":        {"", []string{"git init -q sub; echo x >sub/x; git -C sub add x; git -C sub commit -qm x; " + monitor + "sub/.git/config", "git add sub"}, "git status; git diff; git commit -qam x # may fail"},
		"hooks that were not":  {"rm -r .git/hooks", []string{"mkdir -p .git/hooks; " + hook + ".git/hooks/pre-commit; chmod +x .git/hooks/pre-commit", "git init -q --template=t ."}, "git commit --allow-empty -qm x"},
		"hooks by a template":  {"", []string{"mkdir -p t/hooks; " + hook + "t/hooks/pre-commit; chmod +x t/hooks/pre-commit; git init -q --template=t ."}, "git commit --allow-empty -qm x"},
		"a new working tree":   {"", []string{"git worktree add -q wt", "cp -r .git evil; " + monitor + "evil/config; echo ../../../evil >.git/worktrees/wt/commondir"}, "cd wt && git status"},
		"configuration of one": {"git config extensions.worktreeConfig true", []string{monitor + ".git/config.worktree", "git worktree add -q wt", monitor + ".git/worktrees/wt/config.worktree"}, "git status; cd wt; git status"},
		"a rebase":             {"", []string{"mkdir -p .git/rebase-merge; echo 'exec touch $PWNED' >.git/rebase-merge/git-rebase-todo"}, "git rebase --continue # may fail"},
		"a rebase in progress": {"git checkout -q -b r HEAD~1; echo conflict >a.txt; git commit -qam c; git rebase main # may fail", []string{"echo 'exec touch $PWNED' >>.git/rebase-merge/git-rebase-todo"}, "git checkout --ours a.txt; git add a.txt; git rebase --continue # may fail"},
		"a rebase with exec":   {"", []string{"git rebase --exec 'touch $PWNED' HEAD~1", "git rebase -x 'touch $PWNED' HEAD~1", "git rebase --exe='touch $PWNED' HEAD~1"}, "git rebase --continue # may fail"},
		"renaming .git":        {"", []string{"mv .git g2; cp -r g2 .git; " + monitor + ".git/config", "git mv .git g2"}, "git status"},
		"hooksPath":            {"git config core.hooksPath .hk", []string{"mkdir .hk; " + hook + ".hk/pre-commit; chmod +x .hk/pre-commit"}, "git commit --allow-empty -qm x"},
		"the configuration":    {"", []string{"git config core.fsmonitor 'touch $PWNED;'", "git branch --edit-description", "git branch -m main m; " + monitor + ".git/config"}, "git status"},
		"a variable":           {"", []string{"GIT_CONFIG_COUNT=1 git branch x", "export GIT_EXEC_PATH=.; git branch y", "GIT_EDITOR='touch .git/hooks/pre-commit' git commit --allow-empty"}, "git status; git commit --allow-empty -qm x"},
		"a log as a link":      {"", []string{"ln -sf $HOME/.bashrc .git/logs/HEAD", "git add -A; ln -sf ../../home/.bashrc .git/logs/HEAD"}, "git commit --allow-empty -qm '$(touch $PWNED)'; test ! -e $HOME/.bashrc"},
		"a hook with project code": {
			`printf '#!/bin/sh\nsh ./hook.sh\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; touch hook.sh; git add -A`,
			[]string{`cat >hook.sh <<'EOF'
ln -sf $HOME/.bashrc .git/logs/HEAD2; ln -sf $HOME/.bashrc .git/COMMIT_EDITMSG
mkdir -p .git/rebase-merge .git/modules/m; echo 'exec touch $PWNED' >.git/rebase-merge/git-rebase-todo
printf '[core]\n\tfsmonitor = touch $PWNED;\n' >.git/modules/m/config; echo x >.git/info/attributes
echo ../evil >.git/commondir; echo evil >.git/HEAD; printf '#!/bin/sh\ntouch $PWNED\n' >.git/hooks/post-commit
EOF
true`, "git commit -qam x"},
			"echo >hook.sh; git status; git commit --allow-empty -qm x; git rebase --continue; test ! -e $HOME/.bashrc # may fail",
		},
		"a rebase of megabytes": {"git checkout -q -b r HEAD~1; echo conflict >a.txt; git commit -qam c; git rebase main # may fail",
			[]string{"yes '# long' | head -c 5000000 >>.git/rebase-merge/git-rebase-todo; echo 'exec touch $PWNED' >>.git/rebase-merge/git-rebase-todo"},
			"git checkout --ours a.txt; git add a.txt; git rebase --continue # may fail"},
		"a program that stays": {"", []string{"git add . & (sleep 0.1; echo ../evil >.git/commondir) & git status"}, "sleep 0.3; git status"},
		"-m takes no message":  {"", []string{"git rebase -m --exec='touch $PWNED' HEAD~1", "git log -m --output=.git/commondir HEAD; git add ."}, "git rebase --continue; git status # may fail"},
		"an alias":             {"", []string{"git config alias.st '!touch $PWNED'", "git -c alias.x='!touch .git/x' x; git -c core.fsmonitor='touch .git/y;' status"}, "git st; ls .git/x .git/y && touch $PWNED # may fail"},
		"a function":           {"", []string{monitor + "evil; git() { cp evil .git/config; }; git status", "alias git=cp; git evil .git/config"}, "git status"},
		"a program named git":  {"", []string{monitor + "evil; printf '#!/bin/sh\ncp evil .git/config\n' >git; chmod +x git; ./git status; PATH=.:$PATH git status"}, "git status"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newConfinedRepository(t)
			if tt.before != "" {
				r.user(tt.before)
			}
			said := ""
			for _, line := range tt.agent {
				result := r.agent(line)
				said += result.Stdout + strings.Join(result.Notes, "\n")
			}
			_ = os.Remove(filepath.Join(r.home, "pwned")) // what ran inside is confined
			out := r.user(tt.user)
			if _, err := os.Stat(filepath.Join(r.home, "pwned")); err == nil {
				t.Errorf("code ran outside\nagent: %s\nuser: %s", said, out)
			}
			if _, err := os.Lstat(filepath.Join(r.home, ".bashrc")); err == nil {
				t.Errorf("a file of the home was written\nagent: %s\nuser: %s", said, out)
			}
			if strings.Contains(out, "not a git repository") {
				t.Errorf("the repository is broken\nagent: %s\nuser: %s", said, out)
			}
		})
	}
}

// K-47: what git takes programs from cannot even be written while a line of git commands
// runs, so that nothing depends on the comparison after it. A hook of the user tries.
func TestConfinedGitKeepsWhatRuns(t *testing.T) {
	t.Parallel()
	r := newConfinedRepository(t)
	r.user(`git worktree add -q -b second ../second; git config core.hooksPath .hk; mkdir -p .hk .vscode; rm -rf .git/hooks
cat >.hk/pre-commit <<'EOF'
#!/bin/sh
echo ran >>wrote
for file in config hooks/post-commit commondir config.worktree info/exclude worktrees/second/commondir worktrees/second/gitdir; do
	(echo evil >>.git/$file) 2>/dev/null && echo $file >>wrote
done
for file in .hk/post-commit .vscode/tasks.json; do
	(echo evil >>$file) 2>/dev/null && echo $file >>wrote
done
mkdir .git/hooks 2>/dev/null && test "$(ls -d .git/hooks)" && (echo evil >.git/hooks/post-commit) 2>/dev/null && echo hooks >>wrote
mv .git .git2 2>/dev/null && echo moved >>wrote
exit 0
EOF
chmod +x .hk/pre-commit`)
	if got := r.agent("git commit --allow-empty -qm x"); got.ExitCode != 0 {
		t.Fatalf("exit code %d\n%s", got.ExitCode, got.Stdout)
	}
	if wrote := r.user("cat wrote"); wrote != "ran\n" {
		t.Errorf("the hook wrote %s", wrote)
	}
}

// K-47: a new branch follows the one at a remote that it begins at, and the settings of a
// deleted one go, although no line of git commands can write the configuration itself.
func TestConfinedGitSettlesBranches(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ before, line, want string }{
		"switch":        {"", "git switch feature", "origin/feature"},
		"checkout":      {"", "git checkout -q feature", "origin/feature"},
		"with a name":   {"", "git checkout -b mine origin/feature", "origin/feature"},
		"of a name":     {"", "git switch -qc mine origin/deep/er", "origin/deep/er"},
		"before others": {"", "git switch feature && echo x >x && git add x && git commit -qm x", "origin/feature"},
		"made apart":    {"", "git branch mine origin/feature && git switch mine", "origin/feature"},
		"packed":        {"git pack-refs --all", "git switch feature", "origin/feature"},
		"not wanted":    {"git config branch.autoSetupMerge false", "git switch feature", ""},
		"two remotes":   {"git remote add up ../up; git fetch -q up", "git checkout -b feature up/feature", "up/feature"},
		"begun apart":   {"", "git checkout -qb feature && git switch -q main && git switch -q feature", ""},
		"nothing":       {"", "git switch -qc fresh", ""},
		"a commit":      {"", "git checkout -qb fresh HEAD~1", ""},
		"a hook that moves it": {
			`printf '#!/bin/sh\ngit config core.fsmonitor "touch $PWNED" 2>/dev/null\nexit 0\n' >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout`,
			"git switch feature", "origin/feature",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newConfinedRepository(t)
			r.user("git branch feature && git branch deep/er && git clone -q --bare . ../up && git branch -D -q feature deep/er && git remote add origin ../up && git fetch -q origin; " + tt.before)
			got := r.agent(tt.line)
			follows := strings.TrimSpace(r.user("git rev-parse --abbrev-ref @{u} 2>/dev/null # may fail"))
			if got.ExitCode != 0 || strings.Contains(got.Stdout, "error") || strings.TrimPrefix(follows, "@{u}") != tt.want {
				t.Errorf("it follows %q: exit code %d %q\n%s", follows, got.ExitCode, got.Notes, got.Stdout)
			}
			if r.user("git config core.fsmonitor # may fail") != "" {
				t.Error("a program was set")
			}
		})
	}
	t.Run("deleted", func(t *testing.T) {
		t.Parallel()
		r := newConfinedRepository(t)
		r.user("git config branch.other.remote origin && git config branch.kept.remote origin && git switch -q other")
		r.agent("git switch -q main && git branch -D other")
		if got := r.user("git branch; git config --get-regexp '^branch' # may fail"); strings.Contains(got, "other") || !strings.Contains(got, "kept") {
			t.Error(got)
		}
	})
}

// K-47: git init alone makes a repository in a folder that has none, also while another
// command keeps one from being made.
func TestConfinedGitInit(t *testing.T) {
	t.Parallel()
	r := newConfinedRepository(t)
	r.user("rm -rf .git")
	for line, want := range map[string]bool{"git init -q . && git add -A": false, "mkdir -p .git && echo x >.git/config": false} {
		if got := r.agent(line); (got.ExitCode == 0) != want {
			t.Errorf("%s: exit code %d\n%s", line, got.ExitCode, got.Stdout)
		}
	}
	if r.local.MayOutlive(t.Context(), env.Command{Line: "git init -q"}) {
		t.Error("git init may outlive its call, which is then another way to start it")
	}
	beside, err := r.local.Start(t.Context(), env.Command{Line: "read x; git config core.fsmonitor touch; echo x >.git/hooks/x", Input: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.agent("git init -q -b main"); got.ExitCode != 0 {
		t.Errorf("exit code %d\n%s", got.ExitCode, got.Stdout)
	}
	if got := r.agent("git add -A && git commit -qm first"); got.ExitCode != 0 {
		t.Errorf("exit code %d\n%s", got.ExitCode, got.Stdout)
	}
	if err := beside.Write("x\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := beside.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.user("git config core.fsmonitor; ls .git/hooks/x; git log --oneline # may fail"); strings.Contains(got, "touch") || !strings.Contains(got, "first") {
		t.Error(got)
	}
}

// OAS-306: git commands may write the repository for their time only, so nothing of them
// lives on; every other command may.
func TestWhatMayOutlive(t *testing.T) {
	t.Parallel()
	r := newConfinedRepository(t)
	for line, want := range map[string]bool{"git commit -qm x": false, "git fetch && git status": false, "make test": true, "git status && make": true} {
		if got := r.local.MayOutlive(t.Context(), env.Command{Line: line}); got != want {
			t.Errorf("%s: %t, want %t", line, got, want)
		}
	}
	if !r.local.MayOutlive(t.Context(), env.Command{Line: "git commit -qm x", Unconfined: true}) {
		t.Error("an unconfined command may not")
	}
}

// K-47: a repository with 40 second working trees and a module is like any other, and one
// whose .git is a link is not run in at all, which says why.
func TestConfinedGitInOddRepositories(t *testing.T) {
	t.Parallel()
	r := newConfinedRepository(t)
	r.user("git clone -q . ../module && git -c protocol.file.allow=always submodule --quiet add ../module sub && git commit -qm sub")
	r.user("for i in $(seq 40); do git worktree add -q ../tree-$i -b tree-$i; done")
	for _, line := range []string{"git status", "echo y >y; git add y; git commit -qm y", "git worktree list | wc -l", "git submodule status", "git switch -qc z && git switch -q main && git branch -D z"} {
		if got := r.agent(line); got.ExitCode != 0 || len(got.Notes) > 0 {
			t.Errorf("%s: exit code %d %q\n%s", line, got.ExitCode, got.Notes, got.Stdout)
		}
	}
	if got := r.user("git worktree list | wc -l; git status --short; git fsck"); !strings.HasPrefix(got, "41\n") {
		t.Error(got)
	}
	r.user("mv .git ../moved && ln -s ../moved .git")
	if _, err := r.local.Exec(t.Context(), env.Command{Line: "echo x >ran"}); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("it ran: %v", err)
	}
}

// K-47: git stumbles over nothing that stands in the project only while a command runs, in
// lines of git alone and in others, and ignores what it did before.
func TestGitIgnoresWhatStandsInForFiles(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"as it was made": "true", "no list": "rm -f .git/info/exclude",
		"a list":   "printf 'private*' >.git/info/exclude",
		"of these": "mkdir .agent .claude .vscode && touch .claude/own && git add .claude && git commit -qm own",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newConfinedRepository(t)
			r.user(before)
			was := r.user("cat .git/info/exclude # may fail")
			for _, line := range []string{
				"touch u private1; git stash -u && git stash pop && test -e u", "touch v && git clean -fd && test ! -e v", "touch w; git clean -fdq && make --version >made && test ! -e w",
				"git stash -u; git stash pop; git status --short", "touch x && git stash push --include-untracked -m x && git stash pop && git add x && git commit -qm x",
			} {
				if got := r.agent(line); got.ExitCode != 0 || strings.Contains(got.Stdout, "warning") || strings.Contains(got.Stdout, ".vscode") {
					t.Errorf("%s: exit code %d\n%s", line, got.ExitCode, got.Stdout)
				}
			}
			if got := r.user("cat .git/info/exclude # may fail"); got != was {
				t.Errorf("the list is %q, and was %q", got, was)
			}
			if kept := r.user("ls private1 # may fail"); (name == "a list") != (kept == "private1\n") {
				t.Errorf("what the user's list has: %s", kept)
			}
		})
	}
}
