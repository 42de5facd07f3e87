package worktree

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// includes is the file of a project that names, in the syntax of .gitignore, which files
// that git ignores a new worktree gets as well, such as .env.
const includes = ".worktreeinclude"

// The limits of what is copied into a worktree.
const (
	maxIncluded      = 500       // files
	maxIncludedBytes = 100 << 20 // of all of them
)

// include copies ignored files into a new worktree that the repository it begins with
// names, and returns how many. A file that cannot be copied is left out: the worktree is
// of use without it.
func (t Tree) include(ctx context.Context, from *git) (copied int) {
	if info, err := os.Lstat(filepath.Join(from.top, includes)); err != nil || !info.Mode().IsRegular() {
		return 0
	}
	named, err := from.run(ctx, "-C", from.top, "ls-files", "--others", "--ignored", "-z", "--exclude-from="+includes)
	if err != nil || named == "" {
		return 0
	}
	names := strings.Split(strings.TrimSuffix(named, "\x00"), "\x00")
	ignored, err := from.run(ctx, append([]string{"-C", from.top, "--literal-pathspecs", "ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--"}, names[:min(len(names), maxIncluded)]...)...)
	if err != nil {
		return 0
	}
	source, err := os.OpenRoot(from.top)
	if err != nil {
		return 0
	}
	defer source.Close()
	target, err := os.OpenRoot(t.Path())
	if err != nil {
		return 0
	}
	defer target.Close()
	room := int64(maxIncludedBytes)
	for name := range strings.SplitSeq(ignored, "\x00") {
		if name != "" && !strings.HasPrefix(name, Dir+"/") && copyFile(target, source, filepath.FromSlash(name), &room) == nil {
			copied++
		}
	}
	return copied
}

// copyFile copies a regular file below one folder to the same name below another, where
// there is none.
func copyFile(to, from *os.Root, name string, room *int64) (err error) {
	info, err := from.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > *room {
		return errors.Join(err, os.ErrInvalid)
	}
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := to.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	out, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, info.Size()))
	*room -= n
	return errors.Join(err, out.Close())
}
