package agent

import "errors"

// Errors that a caller branches on.
var (
	// ErrBusy: Run or Resume was called while one of them is under way.
	ErrBusy = errors.New("the session is already running")
	// ErrClosed: the session was closed; open it again from its events.
	ErrClosed = errors.New("the session is closed")
	// ErrInterrupted is the cause of a context that Interrupt cancelled.
	ErrInterrupted = errors.New("interrupted by the user")

	errSuspended = errors.New("suspended")
	errAborted   = errors.New("aborted")
)
