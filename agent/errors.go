package agent

import "errors"

// Errors that a caller branches on.
var (
	// ErrBusy means that a turn was started while another one runs.
	ErrBusy = errors.New("the session is already running")
	// ErrClosed means that the session was closed. It can be opened again from
	// its events.
	ErrClosed = errors.New("the session is closed")
	// ErrNoModel means that the session's settings name no model.
	ErrNoModel = errors.New("no model is chosen: give the session's Settings a Model, by Configure or the Runtime")
	// ErrDone means that there is no turn to continue, because the newest one
	// ended by itself.
	ErrDone = errors.New("there is nothing to continue")
	// ErrInterrupted is the cause of a context that Interrupt cancelled.
	ErrInterrupted = errors.New("interrupted by the user")
	// ErrSuspended is the cause of a context that Suspend cancelled.
	ErrSuspended = errors.New("suspended")

	errAborted = errors.New("aborted")
)
