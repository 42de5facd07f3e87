package env

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"time"
)

// Logging returns the environment with a debug record for every operation
// (LOOP-37): what, where, how long and whether it failed. Contents, patterns
// and command lines are left out, because they can hold secrets.
func Logging(e Environment, logger *slog.Logger) Environment {
	l := logging{e, logger.With("module", "env")}
	if tree, ok := e.(Tree); ok {
		return loggingTree{l, tree}
	}
	return l
}

type logging struct {
	Environment
	log *slog.Logger
}

// record is deferred with the time of its call and the operation's error.
func (l logging) record(ctx context.Context, operation, path string, begin time.Time, err *error) {
	attrs := []slog.Attr{slog.String("path", path), slog.Duration("took", time.Since(begin))}
	if known := (*Error)(nil); errors.As(*err, &known) {
		attrs = append(attrs, slog.String("problem", known.Problem))
	} else if *err != nil {
		attrs = append(attrs, slog.String("problem", "failed"))
	}
	l.log.LogAttrs(ctx, slog.LevelDebug, operation, attrs...)
}

func (l logging) ReadLines(ctx context.Context, path string, offset, limit int) (_ Page, err error) {
	defer l.record(ctx, "read lines", path, time.Now(), &err)
	return l.Environment.ReadLines(ctx, path, offset, limit)
}

func (l logging) ReadFile(ctx context.Context, path string) (_ []byte, err error) {
	defer l.record(ctx, "read file", path, time.Now(), &err)
	return l.Environment.ReadFile(ctx, path)
}

func (l logging) WriteFile(ctx context.Context, path string, data []byte) (err error) {
	defer l.record(ctx, "write file", path, time.Now(), &err)
	return l.Environment.WriteFile(ctx, path, data)
}

func (l logging) Stat(ctx context.Context, path string) (_ Info, err error) {
	defer l.record(ctx, "stat", path, time.Now(), &err)
	return l.Environment.Stat(ctx, path)
}

func (l logging) ListDirectory(ctx context.Context, path string, depth int) (_ []Entry, err error) {
	defer l.record(ctx, "list directory", path, time.Now(), &err)
	return l.Environment.ListDirectory(ctx, path, depth)
}

func (l logging) Grep(ctx context.Context, query GrepQuery) (_ Hits, err error) {
	defer l.record(ctx, "grep", query.Path, time.Now(), &err)
	return l.Environment.Grep(ctx, query)
}

func (l logging) Glob(ctx context.Context, query GlobQuery) (_ Hits, err error) {
	defer l.record(ctx, "glob", query.Path, time.Now(), &err)
	return l.Environment.Glob(ctx, query)
}

func (l logging) Exec(ctx context.Context, command Command) (r CommandResult, err error) {
	defer l.record(ctx, "run command", command.Dir, time.Now(), &err)
	return l.Environment.Exec(ctx, command)
}

func (l logging) Start(ctx context.Context, command Command) (_ Process, err error) {
	defer l.record(ctx, "start command", command.Dir, time.Now(), &err)
	return l.Environment.Start(ctx, command)
}

func (l logging) Initialize(ctx context.Context) (err error) {
	defer l.record(ctx, "initialize", l.WorkingDirectory(), time.Now(), &err)
	return l.Environment.Initialize(ctx)
}

func (l logging) Cleanup(ctx context.Context) (err error) {
	defer l.record(ctx, "clean up", l.WorkingDirectory(), time.Now(), &err)
	return l.Environment.Cleanup(ctx)
}

// Confined implements [Confiner].
func (l logging) Confined(ctx context.Context) (Commands, bool) {
	c, ok := l.Environment.(Confiner)
	if !ok {
		return nil, false
	}
	commands, ok := c.Confined(ctx)
	return loggingCommands{commands, l}, ok
}

// Confinement implements [Confinable].
func (l logging) Confinement(ctx context.Context) (Confining, bool) {
	return ConfinementOf(ctx, l.Environment)
}

// Foresee implements [Foreseer].
func (l logging) Foresee(ctx context.Context, line, dir string) (Foreseen, bool) {
	return foresee(ctx, l.Environment, line, dir)
}

// Absolute implements [Namer].
func (l logging) Absolute(path string) string { return Absolute(l.Environment, path) }

// Spelled implements [Namer].
func (l logging) Spelled(path string) string { return Spelled(l.Environment, path) }

// loggingCommands adds logging to confined commands.
type loggingCommands struct {
	Commands
	logging logging
}

func (l loggingCommands) Exec(ctx context.Context, command Command) (r CommandResult, err error) {
	defer l.logging.record(ctx, "run confined command", command.Dir, time.Now(), &err)
	return l.Commands.Exec(ctx, command)
}

func (l loggingCommands) Start(ctx context.Context, command Command) (_ Process, err error) {
	defer l.logging.record(ctx, "start confined command", command.Dir, time.Now(), &err)
	return l.Commands.Start(ctx, command)
}

// loggingTree adds logging to an environment that is a [Tree].
type loggingTree struct {
	logging
	tree Tree
}

func (l loggingTree) OpenFile(path string, flag int, perm fs.FileMode) (_ *os.File, err error) {
	defer l.record(context.Background(), "open file", path, time.Now(), &err)
	return l.tree.OpenFile(path, flag, perm)
}

func (l loggingTree) Lstat(path string) (_ fs.FileInfo, err error) {
	defer l.record(context.Background(), "stat", path, time.Now(), &err)
	return l.tree.Lstat(path)
}

func (l loggingTree) Mkdir(path string, perm fs.FileMode) (err error) {
	defer l.record(context.Background(), "make directory", path, time.Now(), &err)
	return l.tree.Mkdir(path, perm)
}

func (l loggingTree) Rename(from, to string) (err error) {
	defer l.record(context.Background(), "rename", from, time.Now(), &err)
	return l.tree.Rename(from, to)
}

func (l loggingTree) Remove(path string) (err error) {
	defer l.record(context.Background(), "remove", path, time.Now(), &err)
	return l.tree.Remove(path)
}

var errNoLinks = errors.New("this environment has no symbolic links")

// Readlink implements [Links].
func (l loggingTree) Readlink(path string) (_ string, err error) {
	defer l.record(context.Background(), "read link", path, time.Now(), &err)
	if links, ok := l.tree.(Links); ok {
		return links.Readlink(path)
	}
	return "", errNoLinks
}

// Symlink implements [Links].
func (l loggingTree) Symlink(target, path string) (err error) {
	defer l.record(context.Background(), "make link", path, time.Now(), &err)
	if links, ok := l.tree.(Links); ok {
		return links.Symlink(target, path)
	}
	return errNoLinks
}
