package env

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent/command"
	"atelier.dev/atelier/agent/internal/reinstall"
	"atelier.dev/atelier/agent/repository"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/agent/sandbox/confine"
)

// started tracks commands that run beside their callers.
type started struct {
	scope sandbox.Scope
	life  context.Context // ends with Cleanup, and ends every started command
	end   context.CancelFunc
	mu    sync.Mutex // guards adding to all against waiting for it
	all   sync.WaitGroup
}

func newStarted() *started {
	s := &started{scope: sandbox.NewScope()}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// startedLimit limits the memory for the output of a started command between
// two reads, in bytes, because many may run at once.
const startedLimit = 256 << 10

// errClosed is returned for commands after Cleanup.
var errClosed = errors.New("the environment is closed")

// Exec implements [Commands] with bash or, on Windows, cmd.exe, without
// start-up files. cmd.exe takes a single line, and several lines are an error.
func (l *Local) Exec(ctx context.Context, c Command) (CommandResult, error) {
	spec, err := l.confinedSpec(ctx, c)
	if err != nil {
		return CommandResult{}, err
	}
	watched := open(ctx, l, c.Line, &spec)
	kept := keep(l, c.Line, spec)
	r, err := l.exec(ctx, spec)
	if note := kept.End(); note != "" {
		r.Notes = append(r.Notes, note)
	}
	for _, watch := range watched {
		r.Notes = append(r.Notes, watch.End(context.WithoutCancel(ctx))...)
	}
	return r, err
}

// open lets a confined line of git commands write the repository that the project's
// folder belongs to, or those of its submodules in which it runs, and returns the
// comparisons that follow the line; none if the line is another one. No process of the
// line lives on: it could change a repository later.
func open(ctx context.Context, l *Local, line string, spec *sandbox.Spec) (watched []*repository.Watch) {
	if spec.Confine == nil {
		return nil
	}
	found, only, ok := onlyGit(l.real, line, spec.Dir)
	if !ok {
		if _, exists := repository.Find(l.real); !exists && onlyInit(l.real, line, spec.Dir) {
			spec.Whole = true
			repository.Allow(spec.Confine, l.real)
		}
		return nil
	}
	all := found.Of(only)
	for _, each := range all {
		watch, ok := each.Watch(ctx, only)
		if !ok {
			return nil
		}
		watched = append(watched, watch)
	}
	spec.Whole = true
	excludes, _ := found.Excludes(*spec.Confine)
	spec.Confine.Shown = slices.DeleteFunc(spec.Confine.Shown, func(s confine.Shown) bool { // git would take the copy for a change
		rel, err := filepath.Rel(l.real, s.Path)
		return err == nil && filepath.IsLocal(rel) && s.Path != excludes
	})
	for _, each := range all {
		each.Open(spec.Confine, only)
	}
	return watched
}

// onlyGit returns the repository of a project, by its folder without links, and what is known
// of a line that runs in dir, if it is one of git commands.
func onlyGit(project, line, dir string) (found repository.Repository, only repository.Line, ok bool) {
	if runtime.GOOS == "windows" {
		return found, only, false
	}
	if found, ok = repository.Find(project); !ok {
		return found, only, false
	}
	home, _ := os.UserHomeDir()
	only, ok = repository.OnlyGit(line, command.Place{Dir: dir, Project: project, Home: home, Exists: exists})
	return found, only, ok
}

// onlyInit reports whether a line makes a repository of the project and does nothing else.
func onlyInit(project, line, dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || real != project || runtime.GOOS == "windows" || exists(filepath.Join(project, ".git", "HEAD")) {
		return false
	}
	home, _ := os.UserHomeDir()
	return repository.OnlyInit(line, command.Place{Dir: real, Project: project, Home: home, Exists: exists})
}

func (l *Local) exec(ctx context.Context, spec sandbox.Spec) (CommandResult, error) {
	if l.started.life.Err() != nil {
		return CommandResult{}, errClosed
	}
	r, err := sandbox.Run(ctx, spec)
	return r, blameFolder(spec.Dir, err)
}

// blameFolder returns err, or a missing folder as the cause of it: the system says of a
// program that starts in one that the program does not exist.
func blameFolder(dir string, err error) error {
	if err == nil {
		return nil
	}
	if _, gone := os.Stat(dir); !errors.Is(gone, fs.ErrNotExist) {
		return err
	}
	return errGone(dir)
}

// errGone says that a folder in which commands run no longer exists, and how a model or a
// user makes it again.
func errGone(dir string) error {
	above := filepath.Dir(dir)
	for above != filepath.Dir(above) {
		if info, err := os.Stat(above); err == nil && info.IsDir() {
			break
		}
		above = filepath.Dir(above)
	}
	problem := fmt.Sprintf("no longer exists, so nothing runs there. mkdir -p makes it again, empty, "+
		"from another folder: name one in the call, such as %s", above)
	return &Error{Path: dir, Problem: problem, Err: fs.ErrNotExist}
}

// Start implements [Commands].
func (l *Local) Start(ctx context.Context, c Command) (Process, error) {
	spec, err := l.confinedSpec(ctx, c)
	if err != nil {
		return nil, err
	}
	spec.Merge, spec.Input, spec.Limit = true, c.Input, c.Keep
	kept := keep(l, c.Line, spec)
	p, err := l.start(ctx, spec, kept)
	if err != nil || kept == nil {
		_ = kept.End()
		return p, err
	}
	return keeping{p, kept}, nil
}

// keep moves aside what a confined line would delete and install anew.
func keep(l *Local, line string, spec sandbox.Spec) *reinstall.Kept {
	if spec.Confine == nil {
		return nil
	}
	home, _ := os.UserHomeDir()
	return reinstall.Keep(line, command.Place{Dir: spec.Dir, Project: l.real, Home: home, Exists: exists})
}

// keeping is a process with what stands aside until it has ended.
type keeping struct {
	Process
	kept *reinstall.Kept
}

// Wait implements [Process].
func (k keeping) Wait(ctx context.Context) (CommandResult, error) {
	r, err := k.Process.Wait(ctx)
	if err == nil {
		if note := k.kept.End(); note != "" {
			r.Notes = append(r.Notes, note)
		}
	}
	return r, err
}

// MayOutlive implements [Outliver].
func (l *Local) MayOutlive(ctx context.Context, c Command) bool {
	if _, confined := l.Confinement(ctx); !confined || c.Unconfined {
		return true
	}
	spec, err := l.spec(c)
	if err != nil {
		return false // Exec says why
	}
	_, _, only := onlyGit(l.real, c.Line, spec.Dir)
	return !only && !onlyInit(l.real, c.Line, spec.Dir)
}

func (l *Local) start(ctx context.Context, spec sandbox.Spec, kept *reinstall.Kept) (Process, error) {
	s := l.started
	spec.Limit = cmp.Or(spec.Limit, startedLimit)
	s.mu.Lock()
	if s.life.Err() != nil {
		s.mu.Unlock()
		return nil, errClosed
	}
	s.all.Add(1)
	s.mu.Unlock()
	// The caller's context limits the start, which may be delayed, but not the
	// command after it.
	life, cancel := context.WithCancel(s.life)
	detach := context.AfterFunc(ctx, cancel)
	p, err := sandbox.Start(life, spec)
	detach()
	if err != nil {
		cancel()
		s.all.Done()
		return nil, blameFolder(spec.Dir, err)
	}
	go func() { // ends with the command, which Cleanup ends
		defer s.all.Done()
		_, _ = p.Wait(context.Background())
		kept.End()
		cancel()
	}()
	return p, nil
}

// shellVariables change how bash reads a command line: a start-up file,
// functions, options, the targets of cd. They are removed, so that only the
// line itself runs.
var shellVariables = []string{"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "CDPATH", "GLOBIGNORE", "PS4", "EXECIGNORE"}

// spec returns how the shell runs a command here.
func (l *Local) spec(c Command) (sandbox.Spec, error) {
	argv, err := interpreter(runtime.GOOS, c.Line)
	if err != nil {
		return sandbox.Spec{}, err
	}
	dir := c.Dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(l.dir, dir)
	}
	environ := slices.DeleteFunc(l.Filter.Apply(sandbox.Environ()), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(shellVariables, name) || strings.HasPrefix(name, "BASH_FUNC_") ||
			slices.ContainsFunc(c.Env, func(gone string) bool {
				begin, all := strings.CutSuffix(gone, "*")
				return gone == name || all && !strings.Contains(gone, "=") && strings.HasPrefix(name, begin)
			})
	})
	added := slices.DeleteFunc(slices.Clone(c.Env), func(entry string) bool { return !strings.Contains(entry, "=") })
	return sandbox.Spec{
		Argv: argv, Dir: dir, Env: append(append(environ, "PWD="+dir), added...), Scope: l.started.scope,
		TTY: c.TTY, Timeout: c.Timeout, Merge: c.Merge, Output: c.Output, SpillDir: l.SpillDir,
	}, nil
}

// Confinement implements [Confinable].
func (l *Local) Confinement(ctx context.Context) (Confining, bool) {
	if l.Confine == nil {
		return Confining{}, false
	}
	return l.Confine(ctx)
}

// confinedSpec returns how a command runs here, confined if commands are.
func (l *Local) confinedSpec(ctx context.Context, c Command) (sandbox.Spec, error) {
	spec, err := l.spec(c)
	if err != nil || c.Unconfined {
		return spec, err
	}
	if confining, ok := l.Confinement(ctx); ok {
		secrets, settings, whole := l.secrets.find(l.real)
		c.Exposed = !whole
		profile := confining.Profile(c)
		profile.Secrets = secrets
		l.replace(&profile, settings)
		spec.Confine = &profile
		if found, ok := repository.Find(l.real); ok {
			found.Protect(&profile)
			exclude(l, &profile, found)
		}
	}
	return spec, nil
}

// Cleanup implements [Host]: started commands get SIGTERM and time to end, then
// all remaining processes are killed (LOOP-159).
func (l *Local) Cleanup(ctx context.Context) error {
	s := l.started
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() { // ends with the commands, which have been told to end
		s.all.Wait()
		close(ended)
	}()
	var err error
	select {
	case <-ended:
	case <-ctx.Done():
		err = fmt.Errorf("end commands: %w", ctx.Err())
	}
	s.scope.End()
	return err
}

// confined runs commands of a Local that cannot change anything.
type confined struct{ l *Local }

// Confined implements [Confiner].
func (l *Local) Confined(ctx context.Context) (Commands, bool) {
	return confined{l}, sandbox.CanConfine(ctx)
}

func (c confined) Exec(ctx context.Context, command Command) (CommandResult, error) {
	spec, err := c.l.spec(command)
	if err != nil {
		return CommandResult{}, err
	}
	spec.Confine = &confine.Profile{}
	return c.l.exec(ctx, spec)
}

func (c confined) Start(ctx context.Context, command Command) (Process, error) {
	spec, err := c.l.spec(command)
	if err != nil {
		return nil, err
	}
	spec.Confine, spec.Merge, spec.Input = &confine.Profile{}, true, command.Input
	return c.l.start(ctx, spec, nil)
}
