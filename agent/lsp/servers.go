package lsp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/agent/sandbox/confine"
)

// The limits of servers, where a [Config] says nothing else.
const (
	DefaultIdle   = 10 * time.Minute
	DefaultMemory = 3 << 30
	maxServers    = 4 // that run at a time
	maxStarts     = 3 // that failed, after which a server is not started again for a while
	failTime      = 10 * time.Minute
)

// Why there is no server.
var (
	ErrOff    = errors.New("language servers are switched off")
	ErrNone   = errors.New("no language server was found")
	ErrClosed = errors.New("the program ends")
)

// Config is what [Servers] need of their host. Every field may be left out.
type Config struct {
	// Languages returns the languages that are known, of which the first that knows an
	// extension counts; nil means [Languages].
	Languages func(context.Context) []Language
	// Environ returns the machine's variables, which are filtered for servers (K-16); nil
	// means those of this process.
	Environ func() []string
	// Confine returns how a server for a root is confined, or why none may start there.
	// Nil starts servers without confinement.
	Confine func(ctx context.Context, root string) (*confine.Profile, error)
	// Off reports whether the language servers of a language are switched off.
	Off    func(language string) bool
	Idle   time.Duration // after which a server that nobody needs ends; 0 means [DefaultIdle]
	Memory int64         // bytes that a server may take; 0 means [DefaultMemory]
}

// key is what there is at most one server of.
type key struct{ root, language string }

// Servers are the language servers of a program. They are safe for concurrent use.
type Servers struct {
	cfg   Config
	times times
	life  context.Context // ends with Close
	end   context.CancelFunc

	mu      sync.Mutex
	closed  bool
	slots   map[key]*slot
	stopped sync.WaitGroup
}

// slot is the place of one server. Its mutex is held while the server starts, and never
// together with that of [Servers].
type slot struct {
	key      key
	mu       sync.Mutex
	server   *server
	failures []time.Time
	last     error // why the newest start failed
	used     time.Time
	using    int
	idle     *time.Timer
}

// New returns servers of which none runs yet.
func New(cfg Config) *Servers {
	if cfg.Languages == nil {
		cfg.Languages = func(context.Context) []Language { return Languages }
	}
	if cfg.Environ == nil {
		cfg.Environ = sandbox.Environ
	}
	if cfg.Idle <= 0 {
		cfg.Idle = DefaultIdle
	}
	if cfg.Memory <= 0 {
		cfg.Memory = DefaultMemory
	}
	s := &Servers{cfg: cfg, times: usual, slots: map[key]*slot{}}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

func (s *Servers) languages(ctx context.Context) []Language { return s.cfg.Languages(ctx) }

// acquire returns the server of a language for a root, started if need be. Release has to
// be called when it is not needed any more.
func (s *Servers) acquire(ctx context.Context, l Language, root string) (found *server, release func(), err error) {
	if s.off(l.Name) {
		return nil, nil, ErrOff
	}
	command, ok := l.command()
	if !ok {
		return nil, nil, ErrNone
	}
	at, err := s.slot(key{root, l.Name})
	if err != nil {
		return nil, nil, err
	}
	if found, err = s.use(ctx, at, command); err != nil {
		return nil, nil, err
	}
	s.leaveRoom(at)
	return found, func() { s.release(at) }, nil
}

// use counts a user of a slot's server, which it starts if need be.
func (s *Servers) use(ctx context.Context, at *slot, command Command) (*server, error) {
	at.mu.Lock()
	defer at.mu.Unlock() // also if the host's Confine panics
	if err := s.start(ctx, at, command); err != nil {
		return nil, err
	}
	at.using++
	at.used = time.Now()
	if at.idle != nil {
		at.idle.Stop()
	}
	return at.server, nil
}

// command returns the first server of a language that is on PATH.
func (l Language) command() (Command, bool) {
	i := slices.IndexFunc(l.Servers, func(c Command) bool { return sandbox.LookPath(c.Program) != "" })
	if i < 0 {
		return Command{}, false
	}
	return l.Servers[i], true
}

func (s *Servers) slot(k key) (*slot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	if s.slots[k] == nil {
		s.slots[k] = &slot{key: k}
	}
	return s.slots[k], nil
}

// start starts the server of a slot, unless it runs. The caller has the slot's mutex.
func (s *Servers) start(ctx context.Context, at *slot, command Command) error {
	if at.server != nil {
		why := at.server.failure()
		if why == nil {
			return nil
		}
		old := at.server
		at.server, at.last = nil, fmt.Errorf("%s: %w", command.Program, why)
		at.failures = append(at.failures, time.Now())
		s.stopped.Go(old.stop)
	}
	at.failures = slices.DeleteFunc(at.failures, func(t time.Time) bool { return time.Since(t) > failTime })
	if len(at.failures) >= maxStarts {
		return fmt.Errorf("it failed %d times lately and is not started again for %s: %w", len(at.failures), failTime, at.last)
	}
	spec, err := s.spec(ctx, at.key.root, command)
	if err != nil {
		at.last = err
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	if at.server, err = launch(ctx, at.key, command, spec, s.cfg.Memory, s.times); err != nil {
		if ctx.Err() == nil {
			at.failures, at.last = append(at.failures, time.Now()), err
		}
		return err
	}
	at.last = nil
	return nil
}

func (s *Servers) spec(ctx context.Context, root string, command Command) (sandbox.Spec, error) {
	spec := sandbox.Spec{
		Argv: append([]string{sandbox.LookPath(command.Program)}, command.Args...), Dir: root,
		Env: append(sandbox.Filter{}.Apply(s.cfg.Environ()), command.Env...),
	}
	if s.cfg.Confine == nil {
		return spec, nil
	}
	profile, err := s.cfg.Confine(ctx, root)
	spec.Confine = profile
	return spec, err
}

// release lets go of a server; one that nobody needs ends after a while.
func (s *Servers) release(at *slot) {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.using--
	at.used = time.Now()
	if at.using == 0 {
		at.idle = time.AfterFunc(s.cfg.Idle, func() { s.stopIdle(at) })
	}
}

// stopIdle ends the server of a slot that nobody uses.
func (s *Servers) stopIdle(at *slot) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.using == 0 && at.server != nil {
		s.stopped.Go(at.server.stop)
		at.server = nil
	}
}

// StopIn ends the servers whose roots are in a folder, such as one that will be removed, and
// returns when they have ended or ctx has. The next question starts them again.
func (s *Servers) StopIn(ctx context.Context, folder string) {
	s.stopAll(ctx, func(k key) bool { return within(folder, k.root) })
}

// stopAll ends some servers.
func (s *Servers) stopAll(ctx context.Context, which func(key) bool) {
	s.mu.Lock()
	var in []*slot
	for k, at := range s.slots {
		if which(k) {
			in = append(in, at)
		}
	}
	s.mu.Unlock()
	var ended sync.WaitGroup
	for _, at := range in {
		at.mu.Lock()
		if at.server != nil {
			ended.Go(at.server.stop)
			at.server = nil
		}
		at.mu.Unlock()
	}
	done := make(chan struct{})
	s.stopped.Go(func() {
		ended.Wait()
		close(done)
	})
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// leaveRoom ends the least recently used servers that are too many.
func (s *Servers) leaveRoom(keep *slot) {
	s.mu.Lock()
	var others []*slot
	for _, at := range s.slots {
		if at != keep {
			others = append(others, at)
		}
	}
	s.mu.Unlock()
	type candidate struct {
		*slot
		used time.Time
	}
	var running []candidate
	for _, at := range others {
		if !at.mu.TryLock() { // it starts
			continue
		}
		if at.server != nil {
			running = append(running, candidate{at, at.used})
		}
		at.mu.Unlock()
	}
	slices.SortFunc(running, func(a, b candidate) int { return a.used.Compare(b.used) })
	for i := 0; i < len(running)-(maxServers-1); i++ {
		s.stopIdle(running[i].slot)
	}
}

// running reports whether the server of a language for a root runs.
func (s *Servers) running(l Language, root string) bool {
	s.mu.Lock()
	at := s.slots[key{root, l.Name}]
	s.mu.Unlock()
	if at == nil || !at.mu.TryLock() { // it starts
		return false
	}
	defer at.mu.Unlock()
	return at.server != nil && at.server.failure() == nil
}

// Close ends all servers, and returns when nothing of them is left.
func (s *Servers) Close() {
	s.end()
	s.mu.Lock()
	s.closed = true
	all := s.slots
	s.slots = map[key]*slot{}
	s.mu.Unlock()
	for _, at := range all {
		at.mu.Lock()
		if at.idle != nil {
			at.idle.Stop()
		}
		if at.server != nil {
			s.stopped.Go(at.server.stop)
			at.server = nil
		}
		at.mu.Unlock()
	}
	s.stopped.Wait()
}

// rootOf returns the folder that a server is started in for a file: the nearest one in
// the project that has a marker of the language, or the project's own.
func rootOf(project, path string, l Language) string {
	for dir := filepath.Dir(path); within(project, dir); dir = filepath.Dir(dir) {
		for _, marker := range l.Markers {
			if found, _ := filepath.Glob(filepath.Join(dir, marker)); len(found) > 0 {
				return dir
			}
		}
		if dir == project {
			break
		}
	}
	return project
}

// within reports whether a path is a folder or something in it.
func within(folder, path string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(folder, string(os.PathSeparator)))
	return ok && (rest == "" || os.IsPathSeparator(rest[0]))
}
