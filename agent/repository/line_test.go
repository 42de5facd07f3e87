package repository

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent/command"
)

// K-47: a repository is writable only for lines of git commands that run nothing else.
func TestOnlyGit(t *testing.T) {
	t.Parallel()
	at := command.Place{Dir: "/p", Project: "/p", Home: "/h", Exists: func(string) bool { return false }}
	for line, want := range map[string]bool{
		"git add -A && git commit -m x":                           true,
		"git commit -m \"$(cat <<'EOF'\nsubject\n\nA=b\nEOF\n)\"": true,
		"cd sub && git commit -am 'x; rm -rf .git'":               true,
		"git -C sub --no-pager stash -u 2>&1 | tail -3":           true,
		"msg=hello; git commit -m \"$msg\"":                       true,
		"if git diff --quiet; then git switch -c x; fi":           true,
		"echo x >a; git add a; git tag v1":                        true,
		"git rebase --onto main topic":                            true,
		"git bisect start; git bisect bad":                        true,
		"git checkout -b x && rm old && git rm gone":              true,
		"git status":                                     false, // it changes nothing
		"ls":                                             false,
		"npm test && git commit -am x":                   false,
		"git commit -am x && ./deploy":                   false,
		"git -c core.hooksPath=x commit -m x":            false,
		"git --git-dir=x add .":                          false,
		"git --exec-path=. commit":                       false,
		"git rebase --exec make main":                    false,
		"git rebase --exe=make main":                     false,
		"git rebase -xmake main":                         false,
		"git bisect run make":                            false,
		"git rebase -m --exec=make main":                 false, // there -m takes no message
		"git log -m --output=.git/HEAD; git add .":       false,
		"git stash push -m --exec; git tag -am --exec x": true,
		"git add . > .git/HEAD":                          false,
		"git diff --output=.git/HEAD; git add .":         false,
		"git log --outp .git/HEAD; git add .":            false,
		"cat x > sub/.git/config; git add .":             false,
		"echo x | tee .git/HEAD; git add .":              false,
		"touch .git/commondir; git add .":                false,
		"GIT_DIR=x git add .":                            false,
		"GIT_EDITOR=x; git commit":                       false,
		"export EDITOR=x; git commit":                    false,
		"PATH=.:$PATH; git commit":                       false,
		"git() { sh x; }; git add .":                     false,
		"git config a.b c":                               false,
		"git remote add x y":                             false,
		"git submodule add x":                            false,
		"git filter-branch --tree-filter x; git add .":   false,
		"git difftool -x sh; git add .":                  false,
		"git fetch --upload-pack=x .; git add .":         false,
		"git fetch $X; git add .":                        false,
		"git switch -t origin/x":                         false,
		"git checkout -b x origin/x":                     true,
		"git switch main && git branch -d x":             true,
		"git switch main && git branch -m x y":           false, // it would be half done
		"git branch -m x y":                              true,
		"git grep -Osh x; git add .":                     false,
		"./git add .":                                    false,
		"/tmp/git add .":                                 false,
		"env git add .":                                  false,
		"ls | xargs git add":                             false,
		"eval 'git add .'":                               false,
		"git add . & node x.js":                          false,
		"git unknown; git add .":                         false,
		"git add 'unclosed":                              false,
	} {
		if _, got := OnlyGit(line, at); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}

// K-47: what a line does decides what it may write, and what stands in its way.
func TestOnlyGitTellsWhatALineDoes(t *testing.T) {
	t.Parallel()
	at := command.Place{Dir: "/p", Project: "/p", Home: "/h", Exists: func(string) bool { return false }}
	for line, want := range map[string]Line{
		"git branch -d x":                  {branches: true},
		"git branch -m a b; git log":       {branches: true},
		"git branch -d x; git switch main": {},
		"git clean -fd":                    {cleans: true},
		"git clean -nd":                    {cleans: true},
		"git clean --dry-run && git log":   {cleans: true},
		"git stash -u":                     {cleans: true},
		"git stash":                        {},
		"git stash pop":                    {},
		"git clean -fd && git checkout .":  {},
	} {
		if got, ok := OnlyGit(line, at); got.branches != want.branches || got.cleans != want.cleans || !ok {
			t.Errorf("%s: %+v, %t", line, got, ok)
		}
	}
}

// K-47: what would be half done beside what runs hooks is not begun.
func TestOnlyGitIsDoneWhole(t *testing.T) {
	t.Parallel()
	at := command.Place{Dir: "/p", Project: "/p", Home: "/h", Exists: func(string) bool { return false }}
	for line, want := range map[string]bool{
		"git worktree remove x && git branch -D x": true, "git worktree prune": true, "git worktree remove x; git tag v": true,
		"git merge x && git worktree remove x": false, "git worktree add x && git worktree prune": false, "git commit -am x; git worktree remove x": false,
	} {
		if _, got := OnlyGit(line, at); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}

// K-47: git init alone makes a repository, and nothing else does.
func TestOnlyInit(t *testing.T) {
	t.Parallel()
	at := command.Place{Dir: "/p", Project: "/p", Home: "/h", Exists: func(string) bool { return false }}
	for line, want := range map[string]bool{
		"git init": true, "git init -q -b main": true, "git init --initial-branch=main .": true,
		"git init sub": false, "git init --template=t": false, "git init --bare": false, "git init --separate-git-dir=x": false, "git -C sub init": false,
		"git init && git add .": false, "git init; sh x": false, "git init >.git/config": false, "git init -b $(sh x)": false, "git init -b $X": false,
		"GIT_TEMPLATE_DIR=t git init": false, "./git init": false, "git() { sh x; }; git init": false, "git init &": true, "git init --shared": false, "init": false,
	} {
		if got := OnlyInit(line, at); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}

// K-47: the branch that a git command makes, and what it begins at.
func TestStartOf(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]start{
		"switch x": {branch: "x"}, "checkout -q x": {branch: "x"}, "switch -c x origin/y": {"x", "origin/y"}, "checkout -qb x refs/remotes/up/y": {"x", "up/y"},
		"branch x origin/y": {"x", "origin/y"}, "worktree add -b x path origin/y": {"x", "origin/y"}, "switch -C x remotes/o/y/z": {"x", "o/y/z"},
		"checkout -b x": {"x", "HEAD"}, "switch --detach x": {}, "checkout x -- file": {}, "checkout -- file": {}, "switch -c x --no-track origin/y": {}, "worktree add path": {},
		"branch -d x y": {}, "branch x": {"x", "HEAD"}, "switch -": {}, "switch a*": {}, "checkout -b ../x* o/y": {}, "checkout a b": {},
	} {
		words := strings.Fields(line)
		if got, ok := startOf(words[0], words[1:]); ok != (want != start{}) || ok && got != want {
			t.Errorf("%s: %+v, %t", line, got, ok)
		}
	}
}
