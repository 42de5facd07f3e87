package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent/sandbox/confine"
	"golang.org/x/sys/unix"
)

// means returns the best way to confine commands here.
func means(weaker bool) enforcer {
	b := wholeBubblewrap()
	if b.found.Works() {
		return b
	}
	if weaker {
		if b := weakerBubblewrap(); b.found.Works() {
			return b
		}
	}
	if l := findLandlock(b.found); l.found.Works() {
		return l
	}
	return none{b.found}
}

// bubblewrap confines with the program of that name: a command has its own
// namespaces, in which it sees the files of its profile and nothing else that
// runs.
type bubblewrap struct {
	program string
	weaker  bool
	found   confine.Level
}

// search looks for a bubblewrap until one works: it may be installed while this
// program runs, or have failed once on a machine with too little memory.
type search struct {
	weaker bool

	mu    sync.Mutex
	last  time.Time // when it looked; zero for never
	found bubblewrap
}

// searchEvery is how often a search is repeated that found nothing.
const searchEvery = time.Minute

// result returns what was found. Whoever asks while it looks waits.
func (s *search) result(find func(weaker bool, paths ...string) bubblewrap) bubblewrap {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last.IsZero() || !s.found.found.Works() && time.Since(s.last) >= searchEvery {
		s.found, s.last = find(s.weaker, "/usr/bin/bwrap", LookPath("bwrap")), time.Now()
	}
	return s.found
}

var wholeSearch, weakerSearch = search{}, search{weaker: true}

func wholeBubblewrap() bubblewrap  { return wholeSearch.result(findBubblewrap) }
func weakerBubblewrap() bubblewrap { return weakerSearch.result(findBubblewrap) }

// findBubblewrap tries the program at some paths. The system's own comes first,
// because some distributions let only that one create namespaces.
func findBubblewrap(weaker bool, paths ...string) bubblewrap {
	b := bubblewrap{weaker: weaker, found: confine.Level{Lack: confine.LackMissing}}
	for _, path := range slices.Compact(paths) {
		if _, err := os.Stat(path); path == "" || err != nil {
			continue
		}
		b.program = path
		if err := b.try(mostTrying); err != nil {
			b.found = confine.Level{Lack: confine.LackRefused, Detail: err.Error()}
			continue
		}
		b.found = confine.Level{By: confine.Bubblewrap, Writes: true, Reads: true, Network: true, Sockets: true, Processes: !weaker}
		if weaker {
			b.found.Lack = confine.LackWeaker
		}
		return b
	}
	return b
}

// mostTrying is how long a bubblewrap may take to run the probe.
const mostTrying = 5 * time.Second

// probe tells whether it runs where it should: in a namespace of processes of its
// own, which begins to count anew, below a root that cannot be changed.
const probe = "[ $$ -lt 10 ] && [ ! -w / ] && echo confined"

// try runs the probe. What is installed under the name of bubblewrap may be a
// script that hangs, prints without an end, succeeds without running anything, or
// runs it unconfined.
func (b bubblewrap) try(most time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	j, err := b.jail(Spec{Confine: &confine.Profile{}, Dir: "/"}, []string{"/bin/sh", "-c", probe})
	if err != nil {
		return err
	}
	defer j.release()
	cmd := exec.CommandContext(ctx, j.argv[0], j.argv[1:]...)
	cmd.Env = Filter{Inherit: InheritCore}.Apply(Environ())
	cmd.ExtraFiles = j.files
	cmd.SysProcAttr = ownSession()
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = grace
	printed := newCapture(500, nil)
	cmd.Stdout, cmd.Stderr = printed, printed
	closeDescriptorsOnExec()
	err = cmd.Run()
	switch said := strings.TrimSpace(printed.take()); {
	case ctx.Err() != nil:
		return fmt.Errorf("try %s: it did not end: %w: %s", b.program, ctx.Err(), said)
	case err != nil:
		return fmt.Errorf("try %s: %w: %s", b.program, err, said)
	case said != "confined":
		return fmt.Errorf("try %s: it did not confine a command: %s", b.program, said)
	}
	return nil
}

func (b bubblewrap) level() confine.Level { return b.found }

// jail implements [enforcer].
func (b bubblewrap) jail(spec Spec, argv []string) (_ *jail, err error) {
	p := *spec.Confine
	if p.Network == confine.NetworkProxy && p.Proxy == nil {
		p.Network = confine.NetworkNone
	}
	j := &jail{env: append([]string{"TMPDIR=/tmp"}, p.Env...)}
	defer func() {
		if err != nil {
			j.release()
		}
	}()
	m := mounts{profile: p, jail: j, links: resolver{}, guarded: guarded(p)}
	if err := m.plan(spec.Dir); err != nil {
		return nil, err
	}
	args := []string{
		b.program, "--seccomp", "3", "--info-fd", "4", "--unshare-all", "--unshare-user", "--die-with-parent", "--cap-drop", "ALL",
	}
	if !p.Nested && !b.weaker {
		args = append(args, "--disable-userns")
	}
	switch p.Network {
	case confine.NetworkFull:
		args = append(args, "--share-net")
	case confine.NetworkProxy:
		args = append(args, "--block-fd", "5")
		j.env = append(j.env, p.Proxy.Environ(gatewayAddress, false)...)
	}
	if spec.TTY {
		argv, err = controlling(argv)
	} else {
		args = append(args, "--new-session")
	}
	if err != nil {
		return nil, err
	}
	args = append(args, "--ro-bind", "/", "/", "--dev", "/dev")
	if b.weaker {
		args = append(args, "--ro-bind", "/proc", "/proc")
	} else {
		args = append(args, "--proc", "/proc")
	}
	j.argv = slices.Concat(args, m.arguments(), []string{"--"}, argv)
	return j, j.open(&m)
}

// controlling makes the terminal that is argv's standard input its own, so that
// Ctrl-C reaches argv and not bubblewrap.
func controlling(argv []string) ([]string, error) {
	setsid := LookPath("setsid")
	if setsid == "" {
		return nil, fmt.Errorf("%w: a confined command on a terminal needs the program setsid", ErrNoConfinement)
	}
	return append([]string{setsid, "--ctty"}, argv...), nil
}

// open makes the descriptors of bubblewrap: 3 has the rules for system calls, 4
// takes the number of the namespace's first process, and 5, if there is a proxy,
// says when the command may begin.
func (j *jail) open(m *mounts) error {
	rules, err := socketRules(m.profile)
	if err != nil {
		return err
	}
	filter, hold, err := filterFile(rules, m.guarded)
	if err != nil {
		return err
	}
	j.undo = append(j.undo, func() { _ = errors.Join(filter.Close(), hold.close()) })
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	j.undo = append(j.undo, func() { _ = errors.Join(read.Close(), write.Close()) })
	j.files = []*os.File{filter, write}
	var way *gateway
	if m.profile.Network == confine.NetworkProxy {
		if way, err = newGateway(m.profile.Proxy); err != nil {
			return err
		}
		j.files = append(j.files, way.held)
		j.undo = append(j.undo, way.close)
	}
	var space namespace
	j.began = func() error {
		_ = errors.Join(filter.Close(), write.Close())
		var info struct {
			First int `json:"child-pid"`
		}
		if json.NewDecoder(read).Decode(&info) != nil {
			return nil // bubblewrap says what is wrong
		}
		if err := space.enter(info.First); err != nil {
			return err
		}
		if way != nil {
			if err := way.open(space.first); err != nil {
				return err
			}
		}
		err := hold.release(func() error { return m.inspect(space.first) })
		if err != nil {
			space.kill() // before the pipe is closed, which would let the command begin
		}
		return err
	}
	j.leader = func() int { return leaderBelow(space.first) }
	j.undo = append(j.undo, space.empty)
	return nil
}

// mounts is the plan of what a command sees.
type mounts struct {
	profile confine.Profile
	jail    *jail
	links   resolver
	steps   []mount
	roots   []string // the writable folders, without links
	dir     string   // the working directory, without links
	guarded bool     // the mounts are inspected before the command begins
}

// mount puts something at a path. Steps are taken from the root down; at the
// same path the later one in the list of ranks wins.
type mount struct {
	path string
	rank int
	args []string
	// what was at the source of a bind mount when the plan was made; only known
	// if the mounts are inspected.
	what os.FileInfo
}

// The ranks of steps.
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

func (m *mounts) add(rank int, path string, args ...string) {
	m.steps = append(m.steps, mount{path: path, rank: rank, args: args})
}

// bind mounts what is at source, which is no link.
func (m *mounts) bind(rank int, how, source, path string) {
	step := mount{path: path, rank: rank, args: []string{how, source, path}}
	if m.guarded {
		step.what, _ = os.Lstat(source)
	}
	m.steps = append(m.steps, step)
}

// plan decides what the command sees.
func (m *mounts) plan(dir string) error {
	p := m.profile
	m.add(base, "/run", "--tmpfs", "/run")
	for _, path := range []string{"/run/current-system", "/run/wrappers"} {
		m.add(base, path, "--ro-bind-try", path, path)
	}
	if p.Network == confine.NetworkFull {
		m.add(base, "/run/systemd/resolve", "--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve")
	}
	if p.Temp == "" {
		m.add(base, "/tmp", "--tmpfs", "/tmp")
	} else {
		temp, err := m.links.follow(p.Temp)
		if err != nil {
			return fmt.Errorf("the folder for temporary files cannot be found: %w", err)
		}
		m.bind(base, "--bind", temp, "/tmp")
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
		m.bind(writes, "--bind", real, real)
	}
	for _, path := range p.Readable {
		if real, err := m.links.follow(path); err == nil {
			m.bind(reads, "--ro-bind", real, real)
		}
	}
	for _, path := range p.Hidden {
		if err := m.hide(path); err != nil {
			return err
		}
	}
	for _, path := range p.Protected {
		if err := m.keep(path); err != nil {
			return err
		}
	}
	m.enter(dir)
	return nil
}

// arguments returns the plan in bubblewrap's words.
func (m *mounts) arguments() (args []string) {
	slices.SortStableFunc(m.steps, func(a, b mount) int {
		return cmp.Or(strings.Count(a.path, "/")-strings.Count(b.path, "/"), a.rank-b.rank)
	})
	for _, step := range m.steps {
		args = append(args, step.args...)
	}
	if m.dir != "" {
		args = append(args, "--chdir", m.dir)
	}
	return args
}

// hide makes a file or a folder unreadable. One that does not exist must not
// appear.
func (m *mounts) hide(path string) error {
	real, err := m.links.follow(path)
	if err != nil {
		return m.keep(path)
	}
	if m.links.isDir(real) {
		mode := "0000"
		if m.holdsVisible(real) {
			mode = "0111" // the way to it stays open
		}
		m.add(hides, real, "--perms", mode, "--tmpfs", real)
	} else {
		m.bind(hides, "--ro-bind", "/dev/null", real)
	}
	m.pin(real)
	return nil
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
	if info == nil || isPlaceholder(info) {
		release, err := placeholder(path)
		if err != nil {
			return fmt.Errorf("keep %s from being created: %w", path, err)
		}
		m.jail.undo = append(m.jail.undo, release)
	}
	m.bind(keeps, "--ro-bind", path, path)
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
		m.bind(writes, "--bind", dir, dir)
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
		real = dir // bubblewrap says what is wrong
	}
	if isPrivate(real) && !m.isWritable(real) {
		m.bind(reads, "--ro-bind", real, real)
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
