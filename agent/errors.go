package agent

import "errors"

// Errors that a caller branches on.
var (
	// ErrBusy: a turn was begun while one is under way.
	ErrBusy = errors.New("the session is already running")
	// ErrClosed: the session was closed; open it again from its events.
	ErrClosed = errors.New("the session is closed")
	// ErrDone: there is no turn to continue, because the newest ended by itself.
	ErrDone = errors.New("there is nothing to continue")
	// ErrInterrupted is the cause of a context that Interrupt cancelled.
	ErrInterrupted = errors.New("interrupted by the user")
	// ErrSuspended is the cause of a context that Suspend cancelled.
	ErrSuspended = errors.New("suspended")

	errAborted = errors.New("aborted")
)
