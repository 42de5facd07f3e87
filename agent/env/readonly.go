package env

import (
	"context"
	"errors"

	"atelier.dev/atelier/agent/sandbox/confine"
)

// Confiner is implemented by environments that can keep commands from changing
// anything. Confined reports false if the machine does not support that.
type Confiner interface {
	Confined(ctx context.Context) (Commands, bool)
}

// Confining is how an environment confines its commands.
type Confining struct {
	// Profile makes what the next command may do, which is given. Whether a call may
	// run is asked more often than it runs.
	Profile func(Command) confine.Profile
	// Reach says which hosts commands reach; nil if nobody is asked about more.
	Reach Reach
	// Always says that commands are confined in every mode, and Auto that the mode
	// auto confines them so that they need no consent: at least one of them holds.
	Always, Auto bool
	// Free says that the user lets confined commands run without asking in every
	// mode, and Outside that a command may ask to run unconfined.
	Free, Outside bool
}

// Reach says which hosts confined commands reach.
type Reach interface {
	// Reaches reports whether commands reach a host, or may never.
	Reaches(host string) bool
	// Refused returns the hosts that were refused to the same command line before, or
	// allowed for that time.
	Refused(line string) []string
	// Kept returns where commands keep what they change at a path in the user's home;
	// empty if they change it itself.
	Kept(path string) []string
}

// Confinable is implemented by environments that may confine their commands.
// Confinement reports false if they do not.
type Confinable interface {
	Confinement(ctx context.Context) (Confining, bool)
}

// ConfinementOf returns how an environment confines commands that are not judged to
// run outside.
func ConfinementOf(ctx context.Context, e Environment) (Confining, bool) {
	if c, ok := e.(Confinable); ok {
		return c.Confinement(ctx)
	}
	return Confining{}, false
}

// ReadOnly returns the environment in a form that cannot change anything
// (LOOP-37): files are not written, and commands run only if the environment is
// a [Confiner] and its confinement works.
func ReadOnly(e Environment) Environment { return readOnly{e} }

type readOnly struct{ Environment }

var errReadOnlyCommands = errors.New("this environment is read-only, and commands cannot be kept from changing files here")

func (r readOnly) WriteFile(_ context.Context, path string, _ []byte) error {
	return &Error{Path: path, Problem: "was not written: this environment is read-only"}
}

func (r readOnly) Exec(ctx context.Context, command Command) (CommandResult, error) {
	commands, ok := r.Confined(ctx)
	if !ok {
		return CommandResult{}, errReadOnlyCommands
	}
	return commands.Exec(ctx, command)
}

func (r readOnly) Start(ctx context.Context, command Command) (Process, error) {
	commands, ok := r.Confined(ctx)
	if !ok {
		return nil, errReadOnlyCommands
	}
	return commands.Start(ctx, command)
}

// Confined implements [Confiner].
func (r readOnly) Confined(ctx context.Context) (Commands, bool) {
	if c, ok := r.Environment.(Confiner); ok {
		return c.Confined(ctx)
	}
	return nil, false
}

// Foresee implements [Foreseer].
func (r readOnly) Foresee(ctx context.Context, line, dir string) (Foreseen, bool) {
	return foresee(ctx, r.Environment, line, dir)
}

// Absolute implements [Namer].
func (r readOnly) Absolute(path string) string { return Absolute(r.Environment, path) }

// Spelled implements [Namer].
func (r readOnly) Spelled(path string) string { return Spelled(r.Environment, path) }
