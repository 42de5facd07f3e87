package repository

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/moby/sys/atomicwriter"

	"atelier.dev/atelier/agent/internal/gitindex"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/agent/sandbox/confine"
)

// asideSuffix ends the name of what a command left where git would take programs from.
const asideSuffix = ".set-aside"

// Protect keeps a confined command from what git takes programs from outside of the git
// folder: the hooks that the configuration names, and the git folders of the repositories
// that the index lists.
func (r Repository) Protect(p *confine.Profile) {
	config, _ := text(filepath.Join(r.common, "config"))
	for _, s := range parse(config) {
		if s[0] == "core.hookspath" && s[1] != "" && !strings.HasPrefix(s[1], "~") && !filepath.IsAbs(s[1]) {
			p.Protected = append(p.Protected, filepath.Join(r.tree, s[1]))
		}
	}
	linked, _ := r.links()
	for _, path := range linked {
		if inner := filepath.Join(r.tree, path, ".git"); exists(inner) {
			p.Protected = append(p.Protected, inner)
		}
	}
}

// Excludes returns the file with what git ignores in all working trees, and its text with
// what stands in the working tree only while a command runs: git stash -u and git clean
// would stumble over that. It returns no text if nothing does.
func (r Repository) Excludes(p confine.Profile) (path, excludes string) {
	path = filepath.Join(r.common, "info", "exclude")
	for _, each := range p.Protected {
		if filepath.Dir(each) == r.tree && filepath.Base(each) != ".git" && (!exists(each) || isEmpty(each)) {
			excludes += "/" + filepath.Base(each) + "/\n"
		}
	}
	before, ok := text(path)
	if excludes == "" || !ok && exists(path) {
		return path, ""
	}
	return path, before + "\n" + excludes
}

// isEmpty reports whether a path is a folder with nothing in it, which git does not see.
func isEmpty(path string) bool {
	dir, err := os.Open(path)
	if err != nil {
		return false
	}
	defer dir.Close()
	_, err = dir.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// Open lets a command write the repository, but for what git takes programs from. A file
// of these that does not exist has an empty one in its place meanwhile. The configuration
// stays writable for a line that changes branches alone, which then runs no hooks.
func (r Repository) Open(p *confine.Profile, line Line) {
	p.Protected = slices.DeleteFunc(p.Protected, func(path string) bool { return path == filepath.Join(r.tree, ".git") && r.dir == path })
	stubs := map[string]string{filepath.Join(r.common, "config.worktree"): "", filepath.Join(r.dir, "config.worktree"): ""}
	stubs[filepath.Join(r.common, "commondir")] = "."
	fixed := []string{"hooks", "modules", "remotes", "branches"}
	if !line.branches {
		fixed = append(fixed, "config")
	}
	p.Env = append(p.Env, line.settings()...)
	for _, name := range fixed {
		path := filepath.Join(r.common, name)
		if name == "hooks" || exists(path) {
			p.Protected = append(p.Protected, path)
		}
	}
	for _, name := range []string{"attributes", "exclude", "grafts", "sparse-checkout"} {
		if path := filepath.Join(r.common, "info", name); exists(path) {
			p.Protected = append(p.Protected, path)
		}
	}
	trees, _ := os.ReadDir(filepath.Join(r.common, "worktrees"))
	if line.unlinks { // what is mounted could not be removed
		trees = nil
	}
	for _, tree := range trees[:min(len(trees), mostTrees)] {
		for _, name := range []string{"commondir", "gitdir", "config.worktree"} {
			if path := filepath.Join(r.common, "worktrees", tree.Name(), name); exists(path) {
				p.Protected = append(p.Protected, path)
			}
		}
	}
	for path, text := range stubs {
		p.Protected = append(p.Protected, path)
		p.Stubs = append(p.Stubs, confine.Stub{Path: path, Text: text})
	}
	p.Writable = append(p.Writable, r.common)
	if line.cleans { // it would stumble over what only stands for a file that must not be made
		p.Protected = slices.DeleteFunc(p.Protected, func(path string) bool { return filepath.Dir(path) == r.tree && !exists(path) })
	}
}

// settings returns the variables with what git does otherwise in a line: it runs no hooks
// where these could change what stays writable, and sets nothing that a new branch follows,
// which is done afterwards.
func (l Line) settings() []string {
	switch {
	case l.branches || l.unlinks:
		return []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=/dev/null"}
	case len(l.starts) > 0:
		return []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=branch.autoSetupMerge", "GIT_CONFIG_VALUE_0=false"}
	}
	return nil
}

// Allow lets git init make a repository in a folder that has none. Nothing else may run in
// the command: what git takes programs from is not kept from it.
func Allow(p *confine.Profile, tree string) {
	path := filepath.Join(tree, ".git")
	p.Protected = slices.DeleteFunc(p.Protected, func(each string) bool { return each == path })
	if info, err := os.Lstat(path); err == nil && sandbox.IsPlaceholder(info) { // of a command that is running
		_ = os.Chmod(path, 0o755) // else git init says that it cannot
	}
}

// mostTrees limits how many working trees are looked at.
const mostTrees = 1000

// links returns the repositories that the index lists, relative to the working tree. It
// reports false if the index cannot be read.
func (r Repository) links() ([]string, bool) {
	index, err := gitindex.Read(filepath.Join(r.dir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true
	}
	if err != nil {
		return nil, false
	}
	return gitindex.Repositories(index)
}

// Watch has what a repository was like before a command.
type Watch struct {
	repository Repository
	line       Line
	head       string
	config     []byte
	special    map[string]bool // files that git takes programs or places from
	todo       []string        // programs that a rebase will run
	linked     []string        // repositories in the index
	refs       map[string]bool // the branches that the line may make or delete
}

// Watch looks at the repository before a line that may write it. It reports false if that
// cannot be compared afterwards: then the line must not write it.
func (r Repository) Watch(ctx context.Context, line Line) (*Watch, bool) {
	w := &Watch{repository: r, line: line}
	refs, err3 := r.refs(ctx, line)
	w.head, _ = text(filepath.Join(r.dir, "HEAD"))
	w.todo, _ = r.todo()
	linked, ok := r.links()
	special, err := r.special()
	config, err2 := os.ReadFile(filepath.Join(r.common, "config"))
	w.linked, w.special, w.config, w.refs = linked, special, config, refs
	return w, ok && err == nil && err2 == nil && err3 == nil
}

// heads are what HEAD may be.
var heads = regexp.MustCompile(`^(ref: refs/[^\x00-\x20\x7f]+|[0-9a-f]{40}|[0-9a-f]{64})$`)

// End compares the repository with what it was, puts right what would run a program by
// the next git command of the user, and returns what that was, in sentences for the model.
func (w *Watch) End(ctx context.Context) (notes []string) {
	r := w.repository
	say := func(what string, err error) {
		if err != nil {
			what += ", which failed: " + err.Error()
		}
		notes = append(notes, what+".")
	}
	head := filepath.Join(r.dir, "HEAD")
	if now, ok := text(head); heads.MatchString(w.head) && (!ok || !heads.MatchString(now)) {
		say("HEAD named no branch and no commit, and was put back", replace(head, []byte(w.head+"\n")))
	}
	if w.line.branches {
		w.checkConfig(say)
	}
	special, err := r.special()
	if err != nil {
		say("The repository could not be looked through", err)
	}
	for path := range special {
		if !w.special[path] && !r.isWorktreeFile(path) {
			shown, _ := filepath.Rel(r.tree, path)
			say("Git would take programs or places from "+shown+", which the command made. It was renamed to end in "+asideSuffix, os.Rename(path, path+asideSuffix))
		}
	}
	w.checkTodo(say)
	w.settle(ctx, say)
	linked, ok := r.links()
	if !ok {
		say("The index cannot be read any more", nil)
	}
	for _, path := range linked {
		if !slices.Contains(w.linked, path) && !r.isHarmlessLink(path) {
			say("The repository in "+path+" has settings that run programs, and was taken out of the index", r.forget(ctx, path))
		}
	}
	return notes
}

// forget takes a path out of the index, without anything that the repository could have
// git run.
func (r Repository) forget(ctx context.Context, path string) error {
	_, err := r.git(ctx, "update-index", "--force-remove", "--", path)
	return err
}

// patience is how long git may take.
const patience = 20 * time.Second

// checkConfig puts the configuration back if more than branches changed in it.
func (w *Watch) checkConfig(say func(string, error)) {
	path := filepath.Join(w.repository.common, "config")
	now, err := os.ReadFile(path)
	if err == nil && bytes.Equal(now, w.config) {
		return
	}
	plain := func(b []byte) (all [][2]string) {
		return slices.DeleteFunc(parse(string(b)), func(s [2]string) bool {
			name, ok := strings.CutPrefix(s[0], "branch.")
			return ok && slices.Contains(plainSettingNames["branch"], name)
		})
	}
	if err != nil || !slices.Equal(plain(now), plain(w.config)) {
		say("The command changed other settings than those of branches, which were put back", replace(path, w.config))
	}
}

// checkTodo takes programs out of a rebase that were not in it.
func (w *Watch) checkTodo(say func(string, error)) {
	programs, rest := w.repository.todo()
	if slices.ContainsFunc(programs, func(line string) bool { return !slices.Contains(w.todo, line) }) {
		path := filepath.Join(w.repository.dir, "rebase-merge/git-rebase-todo")
		say("The rebase in progress would run programs, which were taken out of it", replace(path, []byte(strings.Join(rest, "\n")+"\n")))
	}
}

// maxTodo limits the size of a rebase's list, in bytes.
const maxTodo = 4 << 20

// todo returns the lines of a rebase in progress: those that run programs, and the others.
// A list that is too large counts as one program.
func (r Repository) todo() (programs, rest []string) {
	path := filepath.Join(r.dir, "rebase-merge/git-rebase-todo")
	list, ok := readText(path, maxTodo)
	if !ok && exists(path) {
		return []string{"exec"}, nil
	}
	for line := range strings.SplitSeq(list, "\n") {
		if words := strings.Fields(line); len(words) > 0 && (words[0] == "exec" || words[0] == "x") {
			programs = append(programs, line)
		} else {
			rest = append(rest, line)
		}
	}
	return programs, rest
}

// names are the files of a git folder that programs or other places are taken from.
var names = strings.Fields(`config config.worktree commondir gitdir attributes grafts sparse-checkout alternates http-alternates`)

// mostFiles limits how much of a git folder is looked through.
const mostFiles = 100_000

var errTooMany = errors.New("it has too many files")

// special returns the files of the repository that git takes programs or places from, and
// all links: git follows one when it writes a log or a message.
func (r Repository) special() (map[string]bool, error) {
	found, count := map[string]bool{}, 0
	err := filepath.WalkDir(r.common, func(path string, d fs.DirEntry, err error) error {
		if count++; count > mostFiles {
			return errTooMany
		}
		if err != nil {
			return nil //nolint:nilerr // a file that is gone by now takes part in nothing
		}
		rel, _ := filepath.Rel(r.common, path)
		top, _, _ := strings.Cut(rel, string(filepath.Separator))
		info, err := d.Info()
		switch {
		case err != nil || sandbox.IsPlaceholder(info): // of a command that runs at the same time
		case d.IsDir() && strings.HasPrefix(rel, "objects"+string(filepath.Separator)) && rel != filepath.Join("objects", "info"), top == "lfs":
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			found[path] = true
		case d.IsDir(), top == "refs", top == "logs":
		case slices.Contains(names, d.Name()), filepath.Base(filepath.Dir(path)) == "hooks":
			found[path] = true
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("look through %s: %w", r.common, err)
	}
	return found, err
}

// isWorktreeFile reports whether a file is one of a new working tree, as git writes it.
func (r Repository) isWorktreeFile(path string) bool {
	if filepath.Dir(filepath.Dir(path)) != filepath.Join(r.common, "worktrees") {
		return false
	}
	content, _ := text(path)
	switch filepath.Base(path) {
	case "commondir":
		return content == "../.."
	case "gitdir":
		return filepath.IsAbs(content) && filepath.Base(content) == ".git"
	}
	return false
}

// isHarmlessLink reports whether a repository in the index is one that runs nothing when
// git looks into it.
func (r Repository) isHarmlessLink(path string) bool {
	inner := filepath.Join(r.tree, path, ".git")
	info, err := os.Lstat(inner)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && info.IsDir() && isPlain(inner)
}

// replace writes a file in place of whatever has its name, also a link.
func replace(path string, content []byte) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("remove what stands for %s: %w", filepath.Base(path), err)
		}
	}
	return atomicwriter.WriteFile(path, content, 0o644)
}
