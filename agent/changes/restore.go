package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// treeEntry is a name in a tree of git.
type treeEntry struct {
	mode string // empty if the tree does not have the name
	id   string
}

// entry looks up a name in a tree; an empty one stands for the index.
func (r *repository) entry(ctx context.Context, tree, name string) (treeEntry, error) {
	args, id := []string{"ls-tree", tree}, 2
	if tree == "" {
		args, id = []string{"ls-files", "--stage"}, 1
	}
	line, err := r.git(ctx, append(args, "--", name)...)
	if err != nil || line == "" {
		return treeEntry{}, err
	}
	fields := strings.Fields(line)
	if len(fields) < 4 {
		return treeEntry{}, &Error{Kind: Refused, Detail: line}
	}
	return treeEntry{mode: fields[0], id: fields[id]}, nil
}

// modeOf returns the mode that the last commit has for a file; empty if it is
// not known.
func (f *Folder) modeOf(ctx context.Context, name string) string {
	r, err := f.open(ctx)
	if err != nil || r.head == "" {
		return ""
	}
	entry, err := r.entry(ctx, r.head, name)
	if err != nil {
		return ""
	}
	return entry.mode
}

// whole gives a file the content that a tree has under its old name, if it is
// still what was shown. Its staged changes are unstaged.
func (b putBack) whole(ctx context.Context, r *repository, tree, old string, entry treeEntry) error {
	now, err := b.present(ctx)
	switch {
	case err != nil:
		return err
	case b.seen == unknown || now.seen != b.seen:
		return b.refuse(Changed)
	case now.seen == another || entry.mode == modeSubmodule || entry.mode == modeTree:
		return b.refuse(NotPossible)
	}
	if unmerged, err := r.git(ctx, "ls-files", "--unmerged", "--", b.name); err != nil || unmerged != "" {
		return errors.Join(err, b.refuse(Conflicts))
	}
	if err := r.unfiltered(ctx, []string{old}); err != nil {
		return err
	}
	unstages := tree != "" && (tree == r.head || r.head == "")
	if unstages { // as long as nothing is written
		if err := r.unlocked(ctx); err != nil {
			return err
		}
	}
	if err := b.restore(ctx, r, tree, old, entry, now); err != nil || !unstages {
		return err
	}
	return r.forget(ctx, b.name, old)
}

// unlocked refuses while another git holds the index.
func (r *repository) unlocked(ctx context.Context) error {
	lock := path.Join(r.dir, "index.lock")
	if _, err := r.env.Stat(ctx, lock); err == nil {
		return &Error{Kind: Locked, Detail: lock}
	}
	return nil
}

// restore does the work of whole.
func (b putBack) restore(ctx context.Context, r *repository, tree, old string, entry treeEntry, now present) error {
	if entry.mode == "" {
		if now.seen == absent {
			return b.refuse(Vanished)
		}
		return b.discard(ctx, b.name, now.seen)
	}
	target, over := b.name, now
	if old != b.name {
		target, over = old, present{seen: absent, info: now.info}
	}
	if err := r.materialise(ctx, b, tree, target, entry, over); err != nil || old == b.name {
		return err
	}
	if err := b.discard(ctx, b.name, now.seen); err != nil {
		return errors.Join(err, b.tree.Remove(target))
	}
	return nil
}

// materialise puts what the tree has under a name in place of what is there.
func (r *repository) materialise(ctx context.Context, b putBack, tree, name string, entry treeEntry, over present) error {
	if entry.mode == modeLink {
		target, err := r.git(ctx, "cat-file", "blob", entry.id)
		if err != nil {
			return err
		}
		return b.relink(ctx, name, target, over.seen)
	}
	temporary, err := b.temporary(name)
	if err != nil {
		return b.unwritten(name, err)
	}
	if err := r.extract(ctx, tree, name, temporary); err != nil {
		return errors.Join(err, b.tree.Remove(temporary))
	}
	f, err := b.tree.OpenFile(temporary, os.O_RDWR, 0)
	if err != nil {
		return b.unwritten(name, errors.Join(err, b.tree.Remove(temporary)))
	}
	err = errors.Join(b.dress(f, over, entry.mode == modeExecutable), f.Close())
	return b.swap(ctx, name, temporary, over.seen, err)
}

// extract has git write a file of a tree, with the line ends of the working
// tree, into a file that exists.
func (r *repository) extract(ctx context.Context, tree, name, into string) error {
	command, err := r.command(r.programs, []string{"cat-file", "--filters", tree + ":./" + name})
	if err != nil {
		return err
	}
	redirect, err := quoted(r.env.Platform(), []string{into})
	if err != nil {
		return err
	}
	command.Line += " > " + strings.TrimPrefix(redirect, unset)
	result, err := r.env.Exec(ctx, command)
	if err = r.ended(ctx, result, err); err == nil && result.ExitCode != 0 {
		err = refusal(result.Stderr)
	}
	return err
}

// forget unstages files if something of them is staged.
func (r *repository) forget(ctx context.Context, names ...string) error {
	result, err := r.run(ctx, r.programs, call{args: append([]string{"diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--"}, names...)})
	if err != nil || result.ExitCode != 1 {
		return err
	}
	return r.unstage(ctx, names)
}

// unfiltered refuses files that pass through a filter of the repository, which
// does not run: their content would be wrong.
func (r *repository) unfiltered(ctx context.Context, names []string) error {
	if len(r.programs.Filters) == 0 {
		return nil
	}
	result, err := r.feed(ctx, r.programs, strings.Join(names, "\x00")+"\x00", "check-attr", "--stdin", "-z", "filter")
	if err != nil {
		return err
	}
	fields := strings.Split(result.Stdout, "\x00")
	if result.ExitCode != 0 || len(fields) != 3*len(names)+1 {
		return &Error{Kind: Refused, Detail: "git does not say which filters the files have"}
	}
	for i, name := range names {
		for _, filter := range r.programs.Filters {
			if fields[3*i+2] == filter {
				return &Error{Kind: Filtered, Path: Quote(name)}
			}
		}
	}
	return nil
}

// dress gives a new file the attributes of the one that it replaces, and the
// mode that git knows.
func (b putBack) dress(f *os.File, over present, executable bool) error {
	err := b.likeness(over.info, f)
	if err == nil {
		err = executableIf(f, executable)
	}
	if err == nil {
		err = f.Sync()
	}
	return err
}

// executableIf sets or clears the permission to execute for those who may read.
func executableIf(f *os.File, executable bool) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	mode := info.Mode().Perm() &^ 0o111
	if executable {
		mode |= mode >> 2 & 0o111
	}
	if mode == info.Mode().Perm() {
		return nil
	}
	return f.Chmod(mode)
}

// The modes of git's trees.
const (
	modeExecutable = "100755"
	modeTree       = "040000"
)

// unwritten returns the error of a file that could not be written.
func (f *Folder) unwritten(name string, err error) error {
	if errors.Is(err, fs.ErrExist) {
		return &Error{Kind: Occupied, Path: Quote(name), Err: err}
	}
	return &Error{Kind: NotWritten, Path: Quote(name), Detail: fmt.Sprint(err), Err: err}
}
