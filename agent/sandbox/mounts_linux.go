package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/sandbox/confine"
)

// mounts is the plan of what a command sees.
type mounts struct {
	profile confine.Profile
	links   resolver
	steps   []mount  // from the root down, one for each path
	roots   []string // the writable folders, without links
	dir     string   // the working directory, without links
	env     []string // variables that the plan asks for
	// undo has what removes the plan's placeholders.
	undo []func()
}

// mount puts something at a path: an empty folder of a mode, or what is at a
// source.
type mount struct {
	path   string
	rank   int
	kind   mountKind
	mode   os.FileMode
	source string
	// What was at the source and at the path when the plan was made. It is only
	// known if it is compared and can be changed by commands.
	what, place os.FileInfo
}

// mountKind is what is mounted. The launcher knows these numbers.
type mountKind uint32

// The kinds.
const (
	emptyFolder mountKind = iota
	changeableBind
	readableBind
	layered // what is at the path, with changes kept at the source
)

// optional is the mode of a bind that is left out if there is nothing at its path.
const optional os.FileMode = 1

// The ranks of steps. At the same path the later one in this list wins.
const (
	base = iota
	writes
	reads
	keeps
	hides
)

// private are the system's folders that a command does not share: temporary
// files, and the sockets of the system and of the user's session.
var private = []string{"/tmp", "/run"}

// bind mounts what is at source, which is no link, at a path.
func (m *mounts) bind(rank int, kind mountKind, source, path string) {
	step := mount{path: path, rank: rank, kind: kind, source: source}
	if rank != base {
		step.what, _ = os.Lstat(source)
		step.place, _ = os.Lstat(path)
	}
	m.steps = append(m.steps, step)
}

// clear mounts an empty folder at a path.
func (m *mounts) clear(rank int, mode os.FileMode, path string) {
	step := mount{path: path, rank: rank, kind: emptyFolder, mode: mode}
	if rank != base {
		step.place, _ = os.Lstat(path)
	}
	m.steps = append(m.steps, step)
}

// plan decides what a command with a profile sees that begins in a folder. It
// makes placeholders: after an error, too, the caller undoes it.
func plan(p confine.Profile, dir string) (*mounts, error) {
	m := &mounts{profile: p, links: resolver{}}
	if err := m.arrange(dir); err != nil {
		return m, err
	}
	slices.SortStableFunc(m.steps, func(a, b mount) int {
		return cmp.Or(strings.Count(a.path, "/")-strings.Count(b.path, "/"), strings.Compare(a.path, b.path), a.rank-b.rank)
	})
	var steps []mount
	for i, step := range m.steps {
		if i+1 == len(m.steps) || m.steps[i+1].path != step.path { // else it would be covered
			steps = append(steps, step)
		}
	}
	m.steps = steps
	return m, nil
}

func (m *mounts) arrange(dir string) error {
	p := m.profile
	m.clear(base, 0o755, "/run")
	visible := []string{"/run/current-system", "/run/wrappers"}
	if p.Network == confine.NetworkFull {
		visible = append(visible, "/run/systemd/resolve")
	}
	for _, path := range visible {
		if real, err := m.links.follow(path); err == nil {
			m.bind(base, readableBind, real, path)
		}
	}
	if p.Temp == "" {
		m.clear(base, 0o755, "/tmp")
	} else {
		temp, err := m.links.follow(p.Temp)
		if err != nil {
			return fmt.Errorf("the folder for temporary files cannot be found: %w", err)
		}
		m.bind(base, changeableBind, temp, "/tmp")
	}
	for _, path := range p.Writable {
		real, err := m.links.follow(path)
		if err != nil {
			return fmt.Errorf("the folder that the command may change cannot be found: %w", err)
		}
		if real == "/" {
			return fmt.Errorf("%w: the whole file system cannot be a folder to change", ErrNoConfinement)
		}
		m.roots = append(m.roots, real)
		m.bind(writes, changeableBind, real, real)
	}
	for _, c := range p.Caches {
		if err := m.layer(c); err != nil {
			return err
		}
	}
	for _, path := range p.Readable {
		if real, err := m.links.follow(path); err == nil {
			m.bind(reads, readableBind, real, real)
		}
	}
	var table confine.Mounts
	kernelLines("/proc/self/mountinfo", table.Add)
	for _, path := range p.Hidden {
		if err := m.hide(path); err != nil {
			return err
		}
		for _, other := range table.Others(path) {
			if err := m.hide(other); err != nil {
				return err
			}
		}
	}
	for _, path := range p.Secrets {
		if real, err := m.links.follow(path); err == nil && !m.links.isDir(real) {
			m.cover(os.DevNull, real)
		}
	}
	for _, s := range p.Shown {
		real, err := m.links.follow(s.Path)
		source, err2 := m.links.follow(s.Source)
		if err := errors.Join(err, err2); err != nil {
			return fmt.Errorf("show %s without its secrets: %w", s.Path, err)
		}
		m.cover(source, real)
	}
	if p.Sockets == confine.SocketsOwn {
		m.hideSockets(foreignSockets())
	}
	for _, path := range p.Protected {
		if err := m.keep(path); err != nil {
			return err
		}
	}
	m.enter(dir)
	return nil
}

// layer puts a cache of the command's own over the user's. A cache that the user
// does not have is led to by its variable.
func (m *mounts) layer(c confine.Cache) error {
	lower, err := m.links.follow(c.Path)
	if slices.ContainsFunc(m.steps, func(s mount) bool { return s.kind == layered && within(s.path, lower) }) {
		return nil // the layer above it keeps its changes
	}
	if c.Path == "" || err != nil || !m.links.isDir(lower) || m.isWritable(lower) {
		if c.Variable != "" {
			m.env = append(m.env, c.Variable+"="+c.Own)
		}
		return nil //nolint:nilerr // the user has none
	}
	for _, name := range []string{"changes", "work"} {
		if err := os.MkdirAll(filepath.Join(c.Own, name), 0o700); err != nil {
			return fmt.Errorf("make a cache for confined commands: %w", err)
		}
	}
	upper, err := m.links.follow(c.Own)
	if err != nil {
		return fmt.Errorf("the cache of confined commands cannot be found: %w", err)
	}
	m.bind(writes, layered, upper, lower)
	return nil
}

// hide makes a file or a folder unreadable. One that does not exist must not
// appear.
func (m *mounts) hide(path string) error {
	real, err := m.links.follow(path)
	if err != nil {
		return m.keep(path)
	}
	if m.links.isDir(real) {
		mode := os.FileMode(0)
		if m.holdsVisible(real) {
			mode = 0o111 // the way to it stays open
		}
		m.clear(hides, mode, real)
	} else {
		m.bind(hides, readableBind, os.DevNull, real)
	}
	m.pin(real)
	return nil
}

// cover shows a file instead of another one, which cannot be moved away then.
func (m *mounts) cover(source, path string) {
	m.bind(hides, readableBind, source, path)
	m.pin(path)
}

// hideSockets covers the sockets of other programs, which the command could
// connect to.
func (m *mounts) hideSockets(paths []string) {
	for _, path := range paths {
		real, err := m.links.follow(path)
		if err != nil || isPrivate(real) && !m.isWritable(real) || m.isHidden(real) {
			continue // it sees none there
		}
		if info, err := os.Lstat(real); err == nil && info.Mode()&os.ModeSocket != 0 {
			m.steps = append(m.steps, mount{path: real, rank: hides, kind: readableBind, mode: optional, source: os.DevNull})
		}
	}
}

// isHidden reports whether a path is inside of a hidden folder and not visible.
func (m *mounts) isHidden(path string) bool {
	return slices.ContainsFunc(m.profile.Hidden, func(dir string) bool {
		real, err := m.links.follow(dir)
		return err == nil && within(real, path) && !m.isWritable(path)
	})
}

// holdsVisible reports whether something inside a hidden folder stays visible.
func (m *mounts) holdsVisible(dir string) bool {
	return slices.ContainsFunc(slices.Concat(m.profile.Writable, m.profile.Readable), func(path string) bool {
		real, err := m.links.follow(path)
		return err == nil && real != dir && within(dir, real)
	})
}

// keep protects a file or a folder in a writable folder. A link cannot be kept
// from being replaced, and is refused.
func (m *mounts) keep(path string) error {
	parent, err := m.links.follow(filepath.Dir(path))
	if err != nil {
		return m.keep(filepath.Dir(path)) // nothing can appear there before its folder does
	}
	stub := slices.IndexFunc(m.profile.Stubs, func(s confine.Stub) bool { return s.Path == path })
	path = filepath.Join(parent, filepath.Base(path))
	if !m.isWritable(parent) {
		return nil
	}
	placeholders.Lock()
	defer placeholders.Unlock()
	info, err := protectable(path)
	if err != nil {
		return err
	}
	if info == nil || IsPlaceholder(info) {
		put := putFolder
		if stub >= 0 {
			put = putFile(m.profile.Stubs[stub].Text)
		}
		release, err := placeholder(path, put)
		if err != nil {
			return fmt.Errorf("keep %s from being created: %w", path, err)
		}
		m.undo = append(m.undo, release)
	}
	m.bind(keeps, readableBind, path, path)
	m.pin(path)
	return nil
}

// protectable returns what is at a path that the command must not change; nil if
// there is nothing. A link there can be neither mounted over nor followed.
func protectable(path string) (os.FileInfo, error) {
	info, err := os.Lstat(path)
	switch {
	case os.IsNotExist(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look at %s, which the command must not change: %w", path, err)
	case info.Mode()&os.ModeSymlink != 0:
		return nil, fmt.Errorf("%w: %s is a link, which cannot be protected; replace it by what it leads to", ErrNoConfinement, path)
	}
	return info, nil
}

// pin keeps the folders between a writable folder and path from being renamed,
// which would make room for another path: what is mounted cannot be renamed.
func (m *mounts) pin(path string) {
	for dir := filepath.Dir(path); m.isWritable(dir) && !slices.Contains(m.roots, dir); dir = filepath.Dir(dir) {
		m.bind(writes, changeableBind, dir, dir)
	}
}

func (m *mounts) isWritable(path string) bool {
	return slices.ContainsFunc(m.roots, func(root string) bool { return within(root, path) })
}

// enter makes the working directory visible.
func (m *mounts) enter(dir string) {
	if dir == "" {
		return
	}
	real, err := m.links.follow(dir)
	if err != nil {
		real = dir // who carries out the plan says what is wrong
	}
	if isPrivate(real) && !m.isWritable(real) {
		m.bind(reads, readableBind, real, real)
	}
	m.dir = real
}

// isPrivate reports whether a command does not share what is at a path.
func isPrivate(path string) bool {
	return slices.ContainsFunc(private, func(p string) bool { return within(p, path) })
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
