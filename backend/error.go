package backend

import (
	"errors"

	"atelier.dev/atelier/agent"
)

// Error is a failure as a person sees it: what happened, what was kept, what to
// do next. [Problem] makes one. Front ends branch on Code; ID and Args carry
// the same text in a form for translation.
type Error struct {
	ID      ProblemID `json:"id"`
	Args    []string  `json:"args,omitempty"`
	Code    Code      `json:"code"`
	Message string    `json:"message"`
	Kept    string    `json:"kept,omitempty"`
	Next    string    `json:"next,omitempty"`
	// Details are shown only on request and never contain a stack trace.
	Details string `json:"details,omitempty"`
	// Cause is for the log and for errors.Is; nil if there is none.
	Cause error `json:"-"`
}

// Code names a kind of failure.
type Code string

// The kinds of failure that front ends tell apart.
const (
	CodeInternal       Code = "internal"
	CodeInvalid        Code = "invalid"         // the request is not valid
	CodeNotFound       Code = "not_found"       // there is no such session, event or method
	CodeBusy           Code = "busy"            // the session is running, here or elsewhere
	CodeFolder         Code = "folder"          // the project folder cannot be used
	CodeStoreLocked    Code = "store_locked"    // another program holds the database
	CodeStoreCorrupt   Code = "store_corrupt"   // the database failed verification
	CodeStoreNewer     Code = "store_newer"     // written by a newer Atelier
	CodeStoreFailed    Code = "store_failed"    // could not be read or written
	CodeStoreUnusable  Code = "store_unusable"  // cannot be opened at all
	CodeNoModel        Code = "no_model"        // unknown provider or no model chosen
	CodeKeyUnavailable Code = "key_unavailable" // the keyring refused
	CodeKeyNeeded      Code = "key_needed"      // a new address needs its own key
)

// Error implements the error interface.
func (e *Error) Error() string {
	s := e.Message
	if e.Kept != "" {
		s += " " + e.Kept
	}
	if e.Next != "" {
		s += " " + e.Next
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Failure is the error as the event that ends a turn says it.
func (e *Error) Failure() *agent.Failure {
	return &agent.Failure{
		ID: agent.FailureID(e.ID), Args: e.Args, Code: string(e.Code),
		Message: e.Message, Kept: e.Kept, Next: e.Next, Details: e.Details,
	}
}

// AsError returns err as an *Error. Any other error becomes an internal one
// with its text as the details.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return Problem(ProblemInternal).Because(err)
}
