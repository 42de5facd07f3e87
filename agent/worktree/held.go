package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kept says why a worktree is not removed; empty if nothing is lost with it.
type Kept string

// The reasons.
const (
	Uncommitted Kept = "uncommitted" // changes that are not committed
	Hidden      Kept = "hidden"      // changes that git was told to overlook
	Ignored     Kept = "ignored"     // files that git ignores
	Inner       Kept = "submodule"   // something new in a submodule
	Unmerged    Kept = "unmerged"    // commits that the project does not have
	Elsewhere   Kept = "elsewhere"   // its own branch is not checked out in it
	Locked      Kept = "locked"      // git works in it, or was told to keep it
	InUse       Kept = "in_use"      // a process works in it
	Strange     Kept = "strange"     // git does not know it
)

// Held is what would be lost with a worktree. The zero value means nothing.
type Held struct {
	Why Kept
	// Files and Bytes are how much that is, at least, and Examples the first names, if Why
	// is about files.
	Files    int
	Bytes    int64
	Examples []string
}

// String completes the sentence "it is kept, because …"; it is empty if nothing is lost.
func (h Held) String() string {
	what := map[Kept]string{
		Uncommitted: "it has changes that are not committed",
		Hidden:      "it has changes in files that git was told to overlook (skip-worktree, assume-unchanged)",
		Ignored:     "it has files that git ignores",
		Inner:       "a submodule in it has something new",
		Unmerged:    "its branch has commits that the project's own does not have",
		Elsewhere:   "its own branch is no longer checked out in it",
		Locked:      "git works in it or was told to keep it",
		InUse:       "a process works in it",
		Strange:     "git does not know it as a worktree",
	}[h.Why]
	if h.Files > 0 {
		what += fmt.Sprintf(": %d, %s", h.Files, size(h.Bytes))
	}
	if len(h.Examples) > 0 {
		what += ", such as " + strings.Join(h.Examples, ", ")
	}
	return what
}

// size says how much bytes are.
func size(bytes int64) string {
	units := []string{"bytes", "KB", "MB", "GB", "TB"}
	n, unit := float64(bytes), 0
	for ; n >= 1000 && unit < len(units)-1; unit++ {
		n /= 1000
	}
	if unit == 0 {
		return strconv.FormatInt(bytes, 10) + " bytes"
	}
	return strconv.FormatFloat(n, 'f', 1, 64) + " " + units[unit]
}

// The limits of looking for what would be lost.
const (
	maxExamples = 3
	maxWalked   = 200_000         // entries that are counted
	walkTime    = 3 * time.Second // for counting them
	maxOverlook = 500             // files that git overlooks and that are compared
	maxInner    = 50              // submodules
	maxNesting  = 4               // of submodules
	maxAlike    = 64 << 20        // bytes of files that are compared with the project's
	maxCompared = 2000            // entries of a folder that are
)

// holds says what would be lost with a worktree. Files that the project has as well, such
// as those that were copied from it, are not.
func (t Tree) holds(ctx context.Context, g, own *git) (Held, error) {
	for _, check := range []func(context.Context, *git, *git) (Held, error){t.busy, t.changes, t.overlooked, t.inner, t.commits, t.ignored} {
		if held, err := check(ctx, g, own); held.Why != "" || err != nil {
			return held, err
		}
	}
	return Held{}, nil
}

// busy finds those who work in the tree now, and locks.
func (t Tree) busy(ctx context.Context, _, own *git) (Held, error) {
	dir, err := own.run(ctx, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return Held{}, err
	}
	for _, name := range []string{"index.lock", "locked"} {
		if _, err := os.Lstat(filepath.Join(filepath.FromSlash(dir), name)); err == nil {
			return Held{Why: Locked}, nil
		}
	}
	if inUse(t.Path()) {
		return Held{Why: InUse}, nil
	}
	return Held{}, nil
}

// inUse reports whether the current folder of another process is in a folder, where the
// system tells.
func inUse(folder string) bool {
	processes, _ := filepath.Glob("/proc/[0-9]*/cwd")
	self := "/proc/" + strconv.Itoa(os.Getpid()) + "/cwd"
	return slices.ContainsFunc(processes, func(link string) bool {
		at, err := os.Readlink(link)
		return err == nil && link != self && (at == folder || strings.HasPrefix(at, folder+string(filepath.Separator)))
	})
}

func (t Tree) changes(ctx context.Context, _, own *git) (Held, error) {
	list, err := own.run(ctx, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=dirty")
	if err != nil || list == "" {
		return Held{}, err
	}
	var names []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		names = append(names, entry[min(len(entry), 3):])
	}
	return own.measured(Uncommitted, names), nil
}

// overlooked finds changes of files that git was told not to look at.
func (t Tree) overlooked(ctx context.Context, _, own *git) (Held, error) {
	list, err := own.run(ctx, "ls-files", "-v", "-z")
	if err != nil {
		return Held{}, err
	}
	var names []string
	for entry := range strings.SplitSeq(list, "\x00") {
		tag, name, _ := strings.Cut(entry, " ")
		if tag == "" || tag != "S" && tag == strings.ToUpper(tag) {
			continue
		}
		if info, err := os.Lstat(filepath.Join(own.top, filepath.FromSlash(name))); err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return Held{}, nil
	}
	if len(names) > maxOverlook {
		return own.measured(Hidden, names), nil
	}
	staged, err := own.run(ctx, append([]string{"ls-files", "-s", "-z", "--"}, names...)...)
	if err != nil {
		return Held{}, err
	}
	ids := map[string]string{}
	for entry := range strings.SplitSeq(staged, "\x00") {
		info, name, _ := strings.Cut(entry, "\t")
		if fields := strings.Fields(info); len(fields) == 3 {
			ids[name] = fields[1]
		}
	}
	hashed, err := own.run(ctx, append([]string{"hash-object", "--"}, names...)...)
	if err != nil {
		return Held{}, err
	}
	now := strings.Split(hashed, "\n")
	var changed []string
	for i, name := range names {
		if i >= len(now) || now[i] != ids[name] {
			changed = append(changed, name)
		}
	}
	return own.measured(Hidden, changed), nil
}

// inner finds what is new in submodules: changes, ignored files, and commits that no
// remote has, because the repositories of a worktree's submodules go with it.
func (t Tree) inner(ctx context.Context, _, own *git) (Held, error) {
	found := 0
	return own.submodules(ctx, 0, &found)
}

func (g *git) submodules(ctx context.Context, depth int, found *int) (Held, error) {
	list, err := g.run(ctx, "ls-files", "-s", "-z")
	if err != nil {
		return Held{}, err
	}
	for entry := range strings.SplitSeq(list, "\x00") {
		info, name, _ := strings.Cut(entry, "\t")
		at := filepath.Join(g.top, filepath.FromSlash(name))
		if !strings.HasPrefix(info, "160000 ") {
			continue
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err != nil {
			if isEmpty(at) {
				continue // it was never checked out
			}
			return Held{Why: Inner, Examples: []string{name}}, nil
		}
		if *found++; *found > maxInner || depth > maxNesting {
			return Held{Why: Inner, Examples: []string{name}}, nil
		}
		sub, err := open(ctx, at)
		if err != nil {
			return Held{}, err
		}
		if sub.top != at {
			return Held{Why: Inner, Examples: []string{name}}, nil
		}
		changes, err := sub.run(ctx, "status", "--porcelain", "--ignored", "--untracked-files=normal", "--ignore-submodules=dirty")
		if err != nil {
			return Held{}, err
		}
		commit, err := sub.run(ctx, "rev-list", "--max-count=1", "--all", "HEAD", "--not", "--remotes")
		if err != nil {
			return Held{}, err
		}
		if changes != "" || commit != "" {
			return Held{Why: Inner, Examples: []string{name}}, nil
		}
		if held, err := sub.submodules(ctx, depth+1, found); held.Why != "" || err != nil {
			return held, err
		}
	}
	return Held{}, nil
}

func isEmpty(folder string) bool {
	f, err := os.Open(folder)
	if err != nil {
		return os.IsNotExist(err)
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

func (t Tree) commits(ctx context.Context, g, own *git) (Held, error) {
	branch := "refs/heads/" + t.Branch()
	if head, err := own.run(ctx, "symbolic-ref", "--quiet", "HEAD"); err != nil || head != branch {
		return Held{Why: Elsewhere}, ctx.Err()
	}
	commit, err := g.run(ctx, "rev-list", "--max-count=1", branch, "--not", "HEAD")
	if commit != "" {
		return Held{Why: Unmerged}, nil
	}
	return Held{}, err
}

// ignored finds files that git ignores, unless the project has the same.
func (t Tree) ignored(ctx context.Context, g, own *git) (Held, error) {
	list, err := own.run(ctx, "status", "--porcelain", "-z", "--ignored=traditional", "--untracked-files=normal", "--ignore-submodules=all")
	if err != nil {
		return Held{}, err
	}
	room := int64(maxAlike)
	var names []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		name, ok := strings.CutPrefix(entry, "!! ")
		if ok && !alike(filepath.Join(own.top, filepath.FromSlash(name)), filepath.Join(g.top, filepath.FromSlash(name)), &room) {
			names = append(names, name)
		}
	}
	return own.measured(Ignored, names), nil
}

// alike reports whether a file, or each file in a folder, is the same at another place. It
// reads at most room bytes.
func alike(one, other string, room *int64) bool {
	if info, err := os.Lstat(one); err == nil && info.IsDir() {
		entries := 0
		err := filepath.WalkDir(one, func(path string, e fs.DirEntry, err error) error {
			below, outside := filepath.Rel(one, path)
			switch entries++; {
			case err != nil || outside != nil || entries > maxCompared:
				return fs.ErrInvalid
			case !e.IsDir() && !alike(path, filepath.Join(other, below), room):
				return fs.ErrInvalid
			}
			return nil
		})
		return err == nil
	}
	a, err := os.Lstat(one)
	b, err2 := os.Lstat(other)
	if err != nil || err2 != nil || !a.Mode().IsRegular() || !b.Mode().IsRegular() || a.Size() != b.Size() || a.Size() > *room {
		return false
	}
	*room -= a.Size()
	x, err := os.ReadFile(one)
	y, err2 := os.ReadFile(other)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// measured says of names below the top, which may be folders, that they are held; nothing
// if there are none.
func (g *git) measured(why Kept, names []string) Held {
	if len(names) == 0 {
		return Held{}
	}
	h := Held{Why: why}
	for _, name := range names {
		files, bytes, _ := measure(filepath.Join(g.top, filepath.FromSlash(name)))
		h.Files, h.Bytes = h.Files+max(files, 1), h.Bytes+bytes // a file that was removed counts as well
		if len(h.Examples) < maxExamples {
			h.Examples = append(h.Examples, strconv.QuoteToGraphic(name))
		}
	}
	for i, name := range h.Examples {
		if plain := strings.Trim(name, `"`); !strings.ContainsAny(plain, "\\ ,") {
			h.Examples[i] = plain
		}
	}
	return h
}

// measure counts the files at a path and their bytes; whole is false if they are more.
func measure(path string) (files int, bytes int64, whole bool) {
	began, walked := time.Now(), 0
	err := filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if walked++; walked > maxWalked || walked%1000 == 0 && time.Since(began) > walkTime {
			return fs.SkipAll
		}
		if err != nil || e.IsDir() {
			return nil // what cannot be read is not counted
		}
		if info, err := e.Info(); err == nil {
			files, bytes = files+1, bytes+info.Size()
		}
		return nil
	})
	return files, bytes, err == nil && walked <= maxWalked && time.Since(began) <= walkTime
}
