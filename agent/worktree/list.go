package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Listed is a worktree in a project's folder of worktrees.
type Listed struct {
	Tree
	Held
	// Size is how much its files are, at least.
	Size int64
}

// List returns the worktrees of a project, each with what would be lost with it, ordered
// by name. A folder that git does not know is one, too.
func List(ctx context.Context, project string) ([]Listed, error) {
	trees, err := names(project)
	if err != nil || len(trees) == 0 {
		return nil, err
	}
	g, err := open(ctx, project)
	if err != nil {
		return nil, err
	}
	var all []Listed
	for _, name := range trees {
		l := Listed{Tree: Tree{Project: project, Name: name}}
		if l.Held, err = l.look(ctx, g); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			l.Held = Held{Why: Strange}
		}
		_, l.Size, _ = measure(l.Path())
		all = append(all, l)
	}
	return all, nil
}

// Look says what would be lost with a worktree.
func Look(ctx context.Context, t Tree) (Held, error) {
	if err := t.check(); err != nil {
		return Held{}, err
	}
	g, err := open(ctx, t.Project)
	if err != nil {
		return Held{}, err
	}
	return t.look(ctx, g)
}

func (t Tree) look(ctx context.Context, g *git) (Held, error) {
	own, err := open(ctx, t.Path())
	if err != nil {
		return Held{}, err
	}
	if own.top != t.Path() || own.common != g.common { // its user can write to its .git file
		return Held{Why: Strange}, nil
	}
	return t.holds(ctx, g, own)
}

// Find returns a worktree of a project that is there. The error says why it is none.
func Find(ctx context.Context, project, name string) (Tree, error) {
	t := Tree{Project: project, Name: name}
	if err := t.check(); err != nil {
		return Tree{}, err
	}
	g, err := open(ctx, project)
	if err != nil {
		return Tree{}, err
	}
	own, err := open(ctx, t.Path())
	if err != nil || own.top != t.Path() || own.common != g.common {
		return Tree{}, fmt.Errorf("git does not know %s as a worktree of the project: take another name", t.Path())
	}
	t.Folder = filepath.Join(t.Path(), g.prefix)
	if real, err := filepath.EvalSymlinks(t.Folder); err != nil || real != t.Folder {
		return Tree{}, fmt.Errorf("the worktree has no folder %s: take another name", g.prefix)
	}
	return t, nil
}

// Names returns the worktrees of a project without looking at them.
func Names(project string) (trees []Tree) {
	all, _ := names(project) // none if they cannot be listed
	for _, name := range all {
		trees = append(trees, Tree{Project: project, Name: name})
	}
	return trees
}

// names lists the folders of worktrees.
func names(project string) (all []string, err error) {
	entries, err := os.ReadDir(filepath.Join(project, Dir))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the worktrees: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() && safe(e.Name()) == e.Name() {
			all = append(all, e.Name())
		}
	}
	return all, nil
}

// Discard removes a worktree with all that is in it, because a person wants that. Its
// branch stays if it has commits that the project's own does not have; a commit that no
// branch has gets one.
func Discard(ctx context.Context, t Tree) error {
	if err := t.check(); err != nil {
		return err
	}
	g, err := open(ctx, t.Project)
	if err != nil {
		return err
	}
	own, err := open(ctx, t.Path())
	if err != nil || own.top != t.Path() || own.common != g.common {
		return fmt.Errorf("git does not know %s as a worktree of the project, so its folder is not removed: look at it, and remove it yourself", t.Path())
	}
	if _, err := own.run(ctx, "symbolic-ref", "--quiet", "HEAD"); err != nil { // detached
		if commit, err := own.run(ctx, "rev-list", "--max-count=1", "HEAD", "--not", "--branches", "--remotes"); err == nil && commit != "" {
			if _, err := g.run(ctx, "branch", "--", t.Branch()+"-kept", strings.TrimSpace(commit)); err != nil {
				return err
			}
		}
	}
	return t.remove(context.WithoutCancel(ctx), g, true)
}
