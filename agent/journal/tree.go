package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/fileattr"
	"atelier.dev/atelier/agent/internal/ignore"
)

const (
	// maxFiles and maxDirs limit what is known of a folder, and maxDepth how deep it
	// is looked into. Beyond them, steps say that changes may have been missed.
	maxFiles = 50_000
	maxDirs  = 20_000
	maxDepth = 100
	// batch is how many names of a directory are read at once.
	batch = 1000
)

// skipped are folders that other programs fill.
var skipped = []string{".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv"}

// dir is a directory with the files in it that the journal follows.
type dir struct {
	parent *dir
	path   string // relative to the folder, with slashes; empty for the folder
	rules  *ignore.Rules
	clone  bool // a git repository begins here
	files  map[string]*entry
	dirs   map[string]*dir
}

// under returns the path of a name in the directory.
func (d *dir) under(name string) string { return path.Join(d.path, name) }

// size counts the files and directories from here downwards.
func (d *dir) size() (files, dirs int) {
	if d == nil {
		return 0, 0
	}
	files, dirs = len(d.files), 1
	for _, below := range d.dirs {
		f, n := below.size()
		files, dirs = files+f, dirs+n
	}
	return files, dirs
}

// each calls do for every file from here downwards.
func (d *dir) each(do func(path string, e *entry)) {
	for name, e := range d.files {
		do(d.under(name), e)
	}
	for _, below := range d.dirs {
		below.each(do)
	}
}

// find returns the directory of a path, or nil if it is not followed.
func (d *dir) find(path string) *dir {
	if path == "" {
		return d
	}
	for name := range strings.SplitSeq(path, "/") {
		if d = d.dirs[name]; d == nil {
			return nil
		}
	}
	return d
}

// file returns the entry of a path; nil if there is none.
func (d *dir) file(path string) *entry {
	at := strings.LastIndexByte(path, '/')
	if d = d.find(path[:max(at, 0)]); d == nil {
		return nil
	}
	return d.files[path[at+1:]]
}

// enter opens a directory below an open one, if it is a directory and not a link to
// one (K-39).
func enter(root *os.Root, name string) (*os.Root, error) {
	before, err := root.Lstat(name)
	if err == nil && !before.IsDir() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	below, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := below.Stat("."); err != nil || !os.SameFile(before, now) {
		_ = below.Close()
		return nil, fs.ErrNotExist // another one has taken its place
	}
	return below, nil
}

// open opens a directory that is followed.
func (t *tree) open(d *dir) (*os.Root, error) {
	if d.parent == nil {
		return os.OpenRoot(t.folder)
	}
	above, err := t.open(d.parent)
	if err != nil {
		return nil, err
	}
	defer above.Close()
	return enter(above, path.Base(d.path))
}

// absolute returns the absolute path of a relative one, with slashes.
func (t *tree) absolute(path string) string {
	return strings.TrimSuffix(filepath.ToSlash(t.folder)+"/"+path, "/")
}

// scan looks at directories from one downwards. It compares them with what was known
// of them.
type scan struct {
	tree *tree
	// known are the files of an earlier process; nil after the first scan.
	known map[string]*entry
	// note is told of each name whose file is another one than before. The first scan
	// tells of none.
	note func(path string, before *entry)
	// hidden says that the directory was not followed because it was ignored.
	hidden bool
	// linked is set if a file changed that has other names. The watch does not tell of
	// these.
	linked bool
	// partial is set if something was left out.
	partial bool
}

// directory looks at an open directory. old is what was known of it, or nil; it is
// not used afterwards.
func (s *scan) directory(root *os.Root, at string, parent, old *dir, above *ignore.Rules, depth int) *dir {
	t := s.tree
	d := &dir{parent: parent, path: at, rules: above, files: map[string]*entry{}, dirs: map[string]*dir{}}
	if t.dirs++; t.dirs > maxDirs || depth > maxDepth || t.ctx.Err() != nil {
		s.partial = true
		return d
	}
	// A directory is listed once the watch over it stands, so that nothing is missed in
	// between.
	t.follow(d)
	names := s.list(root)
	if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(ignore.Files, name) }) {
		d.rules = ignore.Read(root, ".", t.absolute(at), above)
	}
	var below []string
	ignored := map[string]bool{}
	for _, name := range names {
		d.clone = d.clone || name == ".git"
		info, err := root.Lstat(name)
		switch {
		case err != nil: // it has gone, or it cannot be looked at
			s.partial = s.partial || unreadable(err) != nil
		case t.skips(d, name, info.IsDir()):
			ignored[name] = true
		case info.IsDir():
			below = append(below, name)
		default:
			s.file(info, d, old, name)
		}
	}
	if old == nil {
		old = &dir{}
	}
	gone := func(name string, isDir bool) bool { return missing(root, name, isDir) || otherCase(names, name) }
	for name, e := range old.files {
		if d.files[name] == nil && !ignored[name] && gone(name, false) {
			s.tell(d.under(name), e)
		}
	}
	for _, name := range below {
		inner, err := enter(root, name)
		if err != nil {
			s.partial = s.partial || !missing(root, name, true)
			continue
		}
		hidden := s.hidden
		s.hidden = s.wasHidden(old, d.under(name), true)
		d.dirs[name] = s.directory(inner, d.under(name), d, old.dirs[name], d.rules, depth+1)
		s.hidden = hidden
		_ = inner.Close()
	}
	for name, was := range old.dirs {
		if d.dirs[name] == nil {
			s.drop(was, !ignored[name] && gone(name, true))
		}
	}
	t.leave(old)
	return d
}

// list returns the names in a directory, as many as the limits allow.
func (s *scan) list(root *os.Root) (names []string) {
	f, err := root.Open(".")
	if err != nil {
		s.partial = true
		return nil
	}
	defer f.Close()
	for {
		some, err := f.Readdirnames(batch)
		names = append(names, some...)
		switch {
		case len(some) == 0:
			s.partial = s.partial || err != nil && !errors.Is(err, io.EOF)
			return names
		case len(names) > maxFiles:
			s.partial = true
			return names
		}
	}
}

// file compares what is not a directory with what was known of it.
func (s *scan) file(info fs.FileInfo, d, old *dir, name string) {
	t := s.tree
	now := stampOf(info)
	if now.kind == "" {
		return
	}
	if t.files >= maxFiles {
		s.partial = true
		return
	}
	t.files++
	at := d.under(name)
	var before *entry
	if old != nil {
		before = old.files[name]
	}
	if before != nil && before.stamp == now && !before.recent {
		d.files[name] = before
		return
	}
	if e := s.known[at]; e != nil && e.stamp == now && !e.recent && (e.unkept == agent.UnkeptLarge || e.unkept == "" && t.store.Renew(e.version())) {
		d.files[name] = e
		return
	}
	d.files[name] = &entry{stamp: now, unkept: agent.UnkeptUnseen}
	s.linked = s.linked || fileattr.Links(info) > 1
	if before == nil && s.note != nil && (t.partial || s.wasHidden(old, at, false)) {
		// It may have been there before.
		if max(now.changed, now.touched) < time.Duration(t.at.Add(-tick).UnixNano()) {
			t.unread = append(t.unread, at)
			return
		}
		before = &entry{stamp: stamp{kind: now.kind}, unkept: agent.UnkeptUnseen}
	}
	s.tell(at, before)
}

// wasHidden reports whether a path was ignored before the rules changed.
func (s *scan) wasHidden(old *dir, at string, isDir bool) bool {
	return s.hidden || old != nil && old.rules.Ignores(s.tree.absolute(at), isDir)
}

func (s *scan) tell(path string, before *entry) {
	if s.note != nil {
		s.note(path, before)
	}
}

// drop forgets a directory. If it is gone, its files are told of.
func (s *scan) drop(d *dir, isGone bool) {
	if isGone {
		d.each(s.tell)
	}
	s.tree.forget(d)
}

// missing reports whether no directory has a name, or else no file.
func missing(root *os.Root, name string, isDir bool) bool {
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return unreadable(err) == nil
	case isDir:
		return !info.IsDir()
	}
	return kindOf(info.Mode()) == ""
}

// otherCase reports whether a name is among others in another case only. Where the file
// system ignores case, the name is found all the same.
func otherCase(names []string, name string) bool {
	return !slices.Contains(names, name) && slices.ContainsFunc(names, func(other string) bool { return strings.EqualFold(other, name) })
}

// skips reports whether a name is not followed.
func (t *tree) skips(d *dir, name string, isDir bool) bool {
	abs := t.absolute(d.under(name))
	return isDir && (slices.Contains(skipped, name) || abs == t.own) || name == ".git" || d.rules.Ignores(abs, isDir)
}

// follow watches a directory. If that is not possible, none is watched any more.
func (t *tree) follow(d *dir) {
	if t.watch == nil {
		return
	}
	if err := t.watch.add(d, filepath.Join(t.folder, filepath.FromSlash(d.path))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.unwatch()
	}
}

// unwatch ends the watch. From then on everything is looked at each time.
func (t *tree) unwatch() {
	t.watch.close()
	t.watch = nil
}

// leave ends the watch over one directory.
func (t *tree) leave(d *dir) {
	if t.watch != nil {
		t.watch.remove(d)
	}
}

// forget ends the watch over a directory and those below.
func (t *tree) forget(d *dir) {
	t.leave(d)
	for _, below := range d.dirs {
		t.forget(below)
	}
}
