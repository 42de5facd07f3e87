package hook

import (
	"context"
	"time"

	"atelier.dev/atelier/agent/sandbox"
)

// Runner starts the programs of hooks. It is safe for concurrent use.
type Runner interface {
	// Run runs a program to its end. When it returns, nothing that the program
	// started runs any more. An error means that it did not start.
	Run(ctx context.Context, p Program) (Exit, error)
}

// Program is a program to run.
type Program struct {
	Argv    []string
	Dir     string
	Env     []string // the whole environment
	Input   []byte   // on its standard input
	Timeout time.Duration
	// Limit is how many bytes of each stream are kept.
	Limit int
	// Output receives the standard output as it appears, as valid UTF-8. Calls
	// do not overlap and end before the program has ended. It may be nil.
	Output func(text string)
}

// Exit is how a program ended. Its texts are valid UTF-8.
type Exit struct {
	Stdout, Stderr string
	// Code is 128 plus the signal's number if a signal ended it.
	Code int
	// TimedOut and Interrupted say that it was ended early: by its timeout, or
	// by the caller.
	TimedOut, Interrupted bool
	// Dropped counts the bytes that are not in the texts.
	Dropped int64
}

// Local is the [Runner] that starts programs on this machine. They may do what
// the user may.
type Local struct{}

// Run implements [Runner].
func (Local) Run(ctx context.Context, p Program) (Exit, error) {
	scope := sandbox.NewScope()
	defer scope.End()
	x, err := sandbox.Run(ctx, sandbox.Spec{
		Argv: p.Argv, Dir: p.Dir, Env: p.Env, Scope: scope, Stdin: p.Input, Timeout: p.Timeout, Limit: p.Limit, Output: p.Output,
	})
	if err != nil {
		return Exit{}, err
	}
	return Exit{x.Stdout, x.Stderr, x.ExitCode, x.TimedOut, x.Interrupted, x.Dropped}, nil
}
