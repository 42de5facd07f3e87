package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// Dir is the folder of a project that holds its worktrees.
	Dir = ".worktrees"
	// MaxTrees limits the worktrees of a project.
	MaxTrees = 64
)

const (
	maxWords   = 32               // bytes of a name that come from its words
	maxName    = 64               // bytes of a name
	maxExclude = 1 << 20          // bytes of the list of ignored files that is read
	addTime    = 2 * time.Minute  // for checking out all files
	removeTime = 30 * time.Second // for deleting them
)

// Tree is a worktree.
type Tree struct {
	Project string // the project's folder, absolute and without symbolic links
	Name    string // as [Name] makes it
	// Folder stands for the project in the worktree: its top, or below it if the
	// project is a part of its repository. [Remove] does not need it.
	Folder string
	// Included counts the ignored files that a new worktree got.
	Included int
}

// Path returns the top of the worktree.
func (t Tree) Path() string { return filepath.Join(t.Project, Dir, t.Name) }

// Branch returns the name of the branch that the worktree was made with.
func (t Tree) Branch() string { return "worktree-" + t.Name }

// Name returns a name for a worktree: the beginning of its purpose, and the end of
// its user's id.
func Name(words, id string) string {
	words = strings.Trim(safe(words)[:min(len(safe(words)), maxWords)], "-")
	if words == "" {
		words = "agent"
	}
	id = safe(id)
	return words + "-" + strings.Trim(id[max(len(id)-6, 0):], "-")
}

// safe returns the lower-case letters and digits of a text, with a hyphen for
// everything else.
func safe(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}

// instead ends the errors of a project that can have no worktree.
const instead = "; or do without a worktree"

// Create makes a worktree of the project's last commit, on a new branch.
func Create(ctx context.Context, project, name string) (Tree, error) {
	return CreateFrom(ctx, project, project, name)
}

// CreateFrom is Create with the last commit of another worktree of the project.
func CreateFrom(ctx context.Context, project, from, name string) (Tree, error) {
	t := Tree{Project: project, Name: name}
	if err := t.check(); err != nil {
		return Tree{}, err
	}
	g, err := open(ctx, project)
	if err != nil {
		return Tree{}, err
	}
	commit, source, err := g.last(ctx, from)
	if err != nil {
		return Tree{}, err
	}
	list, err := g.run(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return Tree{}, err
	}
	if !slices.Contains(strings.Split(list, "\n"), "worktree "+g.top) { // a .git file can name any repository
		return Tree{}, fmt.Errorf("the repository at %s does not know this folder as its own, as in a submodule: work in its main folder"+instead, g.common)
	}
	if err := t.free(); err != nil {
		return Tree{}, err
	}
	if err := g.exclude(); err != nil {
		return Tree{}, err
	}
	_, missing := g.run(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+t.Branch())
	g.limit = addTime
	if _, err := g.run(ctx, "worktree", "add", "--quiet", "--no-track", "-b", t.Branch(), "--", t.Path(), commit); err != nil {
		if missing != nil && !strings.Contains(err.Error(), "already exists") { // else it is another's
			t.discard(context.WithoutCancel(ctx), g, commit)
		}
		return Tree{}, err
	}
	t.Folder = filepath.Join(t.Path(), g.prefix)
	if real, err := filepath.EvalSymlinks(t.Folder); err != nil || real != t.Folder {
		_, removing := Remove(context.WithoutCancel(ctx), t)
		return Tree{}, errors.Join(fmt.Errorf("the last commit has no folder %s: commit it first"+instead, g.prefix), removing)
	}
	t.Included = t.include(ctx, source)
	return t, nil
}

// discard removes the branch that git leaves of a worktree that it could not make, or whose
// making was interrupted. Git removes the folder itself.
func (t Tree) discard(ctx context.Context, g *git, commit string) {
	if _, err := os.Lstat(t.Path()); !os.IsNotExist(err) {
		return // the branch may be in use
	}
	g.limit = askTime
	_ = os.Remove(filepath.Join(t.Project, Dir))                            // fails unless it is empty
	_, _ = g.run(ctx, "update-ref", "-d", "refs/heads/"+t.Branch(), commit) // fails if it holds something new by now
}

// last returns the last commit of a worktree of the repository, and git there.
func (g *git) last(ctx context.Context, from string) (commit string, at *git, err error) {
	at = g
	if from != g.dir {
		if at, err = open(ctx, from); err != nil {
			return "", nil, err
		}
		if at.common != g.common {
			return "", nil, fmt.Errorf("%s belongs to another repository"+instead, from)
		}
	}
	commit, err = at.run(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return "", nil, errors.New("the repository has no commit yet that a worktree could begin with: commit first" + instead)
	}
	return commit, at, nil
}

// check returns an error if the tree cannot be one of ours.
func (t Tree) check() error {
	if t.Name == "" || len(t.Name) > maxName || safe(t.Name) != t.Name {
		return fmt.Errorf("%q cannot be the name of a worktree", t.Name)
	}
	if info, err := os.Lstat(filepath.Join(t.Project, Dir)); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a folder, so worktrees cannot stand there: move it away"+instead, Dir)
	}
	return nil
}

// free returns an error if there is no room for the tree.
func (t Tree) free() error {
	if _, err := os.Lstat(t.Path()); !os.IsNotExist(err) {
		return fmt.Errorf("%s is there already", t.Path())
	}
	trees, err := names(t.Project)
	if err == nil && len(trees) >= MaxTrees {
		err = fmt.Errorf("%s holds %d worktrees, which is the limit: remove some of them first (atelier worktrees says which, and what is in them)"+instead, Dir, len(trees))
	}
	return err
}

// exclude has git ignore the folder of the worktrees without a change of a file of
// the project. Searches read the same list.
func (g *git) exclude() error {
	info := filepath.Join(g.common, "info")
	if err := os.MkdirAll(info, 0o755); err != nil {
		return fmt.Errorf("have git ignore the worktrees: %w", err)
	}
	file := filepath.Join(info, "exclude")
	if real, err := filepath.EvalSymlinks(info); err != nil || real != info {
		return fmt.Errorf("%s is a link: make it a folder"+instead, info)
	}
	if at, err := os.Lstat(file); err == nil && !at.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file: make it one"+instead, file)
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("have git ignore the worktrees: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxExclude))
	if err != nil {
		return fmt.Errorf("have git ignore the worktrees: %w", err)
	}
	line := "/" + plain.Replace(filepath.ToSlash(filepath.Join(g.prefix, Dir))) + "/"
	if slices.Contains(strings.Split(string(data), "\n"), line) {
		return nil
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		line = "\n" + line
	}
	if _, err := f.WriteString(line + "\n"); err != nil {
		return fmt.Errorf("have git ignore the worktrees: %w", err)
	}
	return nil
}

// plain takes from the name of a folder what it would mean in a pattern.
var plain = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// Remove removes a worktree and its branch, if nothing is lost with them, also no file that
// git ignores; otherwise it returns what would be. If it returns an error, the worktree was
// kept as well.
func Remove(ctx context.Context, t Tree) (Held, error) {
	held, err := Look(ctx, t)
	if held.Why != "" || err != nil {
		return held, err
	}
	g, err := open(ctx, t.Project)
	if err != nil {
		return Held{}, err
	}
	own, err := open(ctx, t.Path())
	if err != nil {
		return Held{}, err
	}
	subs, err := own.run(ctx, "ls-files", "-s", "-z")
	if err != nil {
		return Held{}, err
	}
	// Git refuses a worktree with submodules, also if nothing in them is new.
	return Held{}, t.remove(context.WithoutCancel(ctx), g, strings.Contains("\x00"+subs, "\x00160000 "))
}

// remove has git remove the tree. ctx does not end, because half of a folder is worse than
// a late end.
func (t Tree) remove(ctx context.Context, g *git, force bool) error {
	g.limit = removeTime
	args := []string{"worktree", "remove"}
	if force {
		args = append(args, "--force")
	}
	if _, err := g.run(ctx, append(args, "--", t.Path())...); err != nil {
		return err
	}
	_ = os.Remove(filepath.Join(t.Project, Dir))                   // fails unless this was the last one
	_, _ = g.run(ctx, "branch", "--quiet", "-d", "--", t.Branch()) // git refuses if it holds something new by now
	return nil
}
