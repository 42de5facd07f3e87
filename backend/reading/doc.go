// Package reading reads a session's log for a page: a part of it, an event in full, the places where
// a text occurs, and the nearest landmark such as a prompt or a failure. Every search has a limit,
// and says where it goes on.
package reading
