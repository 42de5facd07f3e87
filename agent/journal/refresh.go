package journal

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/ignore"
)

// change is a file that is not what it was.
type change struct {
	path          string // relative to the folder, with slashes
	before, after *entry // nil means that there was none
}

// refresh brings what is known of the folder up to date, and returns what has
// changed since it was last called. Files that were not read before ctx ended have
// no known contents yet. t.mu is held.
func (t *tree) refresh(ctx context.Context) (changed []change) {
	notes := map[string]*entry{} // what there was before, by path
	note := func(path string, before *entry) {
		if _, ok := notes[path]; !ok {
			notes[path] = before
		}
	}
	now := time.Now()
	if !t.follows(note) {
		t.sweep(note)
	}
	t.at = now
	if len(notes) > 0 {
		changed = t.capture(ctx, notes)
	}
	if len(t.unread) > 0 {
		t.work()
	}
	return changed
}

// sweep looks at everything. t.mu is held.
func (t *tree) sweep(note func(string, *entry)) {
	s := scan{tree: t, note: note}
	root, err := os.OpenRoot(t.folder)
	if err != nil {
		if t.partial = !errors.Is(err, fs.ErrNotExist); !t.partial { // a command removed the folder itself
			s.drop(t.top, true)
			t.top, t.files, t.dirs = &dir{}, 0, 0
		}
		if t.watch != nil {
			t.unwatch() // nothing tells if it comes back
		}
		return
	}
	defer root.Close()
	t.files, t.dirs = 0, 0
	t.top = s.directory(root, "", nil, t.top, rulesAbove(t.folder), 0)
	t.partial = s.partial
}

// follows looks at what the watch names. It reports false if everything must be
// looked at.
func (t *tree) follows(note func(string, *entry)) bool {
	if t.watch == nil {
		return false
	}
	dirty := map[*dir]map[string]bool{} // names; true for a directory
	rules := false
	ok := t.watch.drain(func(d *dir, name string, isDir bool) {
		if dirty[d] == nil {
			dirty[d] = map[string]bool{}
		}
		dirty[d][name] = dirty[d][name] || isDir
		rules = rules || name != ".git" && slices.Contains(ignore.Files, name)
	})
	if !ok || rules || slices.ContainsFunc(slices.Collect(maps.Values(dirty)), changedCase) {
		return false
	}
	byDepth := slices.SortedFunc(maps.Keys(dirty), func(a, b *dir) int { return cmp.Compare(a.path, b.path) })
	s := scan{tree: t, note: note}
	for _, d := range byDepth {
		if t.top.find(d.path) != d {
			continue // a directory above is another one now, and was looked at
		}
		root, err := t.open(d)
		if err != nil {
			continue // the directory above tells of it
		}
		ok = s.names(root, d, dirty[d])
		_ = root.Close()
		if !ok {
			return false
		}
	}
	t.partial = t.partial || s.partial
	return !s.linked
}

// changedCase reports whether names differ in their case only: a file may have got the
// one instead of the other, which are the same where the file system ignores case.
func changedCase(names map[string]bool) bool {
	lower := map[string]bool{}
	for name := range names {
		lower[strings.ToLower(name)] = true
	}
	return len(lower) < len(names)
}

// names looks at names in a directory, of which those that are true may be
// directories. It reports false if the rules have changed.
func (s *scan) names(root *os.Root, d *dir, names map[string]bool) bool {
	for name, isDir := range names {
		if name == ".git" {
			if missing(root, name, isDir) == d.clone {
				return false
			}
			continue
		}
		if isDir {
			if s.tree.excluded() {
				return false
			}
			s.below(root, d, name)
		}
		s.look(root, d, name)
	}
	return true
}

// below looks at a directory that came, went, or became another one.
func (s *scan) below(root *os.Root, d *dir, name string) {
	t, old := s.tree, d.dirs[name]
	files, dirs := old.size()
	t.files, t.dirs = t.files-files, t.dirs-dirs
	delete(d.dirs, name)
	inner, err := enter(root, name)
	switch {
	case err == nil && !t.skips(d, name, true):
		d.dirs[name] = s.directory(inner, d.under(name), d, old, d.rules, strings.Count(d.path, "/")+1)
	case old != nil:
		isGone := err != nil && missing(root, name, true)
		s.partial = s.partial || err != nil && !isGone
		s.drop(old, isGone)
	}
	if err == nil {
		_ = inner.Close()
	}
}

// look looks at a file that came, went, or may have changed.
func (s *scan) look(root *os.Root, d *dir, name string) {
	before := d.files[name]
	if before == nil && s.tree.skips(d, name, false) {
		return
	}
	info, err := root.Lstat(name)
	if err != nil && unreadable(err) != nil {
		s.partial = true
		return
	}
	delete(d.files, name)
	if before != nil {
		s.tree.files--
	}
	if err == nil {
		s.file(info, d, &dir{files: map[string]*entry{name: before}}, name)
	}
	if before != nil && d.files[name] == nil {
		s.tell(d.under(name), before)
	}
}

// capture reads the files that changed, and returns what did change. Files that
// are still unread when ctx ends are read later. t.mu is held.
func (t *tree) capture(ctx context.Context, notes map[string]*entry) (changed []change) {
	moved := map[stamp]*entry{} // files of directories that have another name now
	for _, before := range notes {
		if before != nil && before.unkept == "" && !before.recent && before.stamp.file != 0 {
			moved[before.stamp] = before
		}
	}
	reading := reader{tree: t}
	defer reading.close()
	for _, at := range slices.Sorted(maps.Keys(notes)) {
		before, after := notes[at], t.top.file(at)
		if after != nil && after.unkept == agent.UnkeptUnseen {
			if same := moved[after.stamp]; same != nil {
				*after = *same
			} else if ctx.Err() == nil {
				after = reading.read(ctx, at)
			} else {
				t.unread = append(t.unread, at)
			}
		}
		if !before.same(after) {
			changed = append(changed, change{at, before, after})
		}
		t.index.put(at, after)
	}
	t.index.flush()
	return changed
}

// catchUp reads what is unread until ctx ends, unless the folder is still being read
// for the first time, which nobody waits for any more. t.mu is held.
func (t *tree) catchUp(ctx context.Context) {
	select {
	case <-t.settled:
	default:
		return
	}
	reading := reader{tree: t}
	defer reading.close()
	for len(t.unread) > 0 && ctx.Err() == nil {
		at := t.unread[0]
		t.unread = t.unread[1:]
		if e := t.top.file(at); e != nil && e.unkept == agent.UnkeptUnseen {
			t.index.put(at, reading.read(ctx, at))
		}
	}
	t.index.flush()
}

// reader opens the directories of files that are read in the order of their paths.
type reader struct {
	tree *tree
	dir  *dir
	root *os.Root // nil if dir cannot be opened
}

func (r *reader) close() {
	if r.root != nil {
		_ = r.root.Close()
	}
}

// open returns the open directory of a file that is followed, until the next call.
// t.mu is held.
func (r *reader) open(at string) (root *os.Root, name string, ok bool) {
	parent, name := path.Split(at)
	d := r.tree.top.find(strings.TrimSuffix(parent, "/"))
	if d == nil {
		return nil, name, false
	}
	if r.dir != d {
		r.close()
		r.dir, r.root = d, nil
		if root, err := r.tree.open(d); err == nil {
			r.root = root
		}
	}
	return r.root, name, r.root != nil
}

// read reads a file that is followed and keeps its contents. t.mu is held.
func (r *reader) read(ctx context.Context, at string) *entry {
	root, name, ok := r.open(at)
	if !ok {
		return r.tree.top.file(at)
	}
	e := read(ctx, r.tree.store, root, name)
	if e == nil {
		delete(r.dir.files, name)
	} else {
		r.dir.files[name] = e
	}
	return e
}

// excluded reports whether the rules of the clone, which no watch tells of, have
// changed. They do when a worktree is made in the folder.
func (t *tree) excluded() bool {
	info, err := os.Lstat(t.absolute(".git/info/exclude"))
	if err != nil {
		return false
	}
	before := t.exclude
	t.exclude = stampOf(info)
	return t.exclude != before
}
