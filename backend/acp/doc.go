// Package acp lets editors use Atelier: it speaks version 1 of the Agent Client Protocol, with
// the community's Go library.
//
// A [Server] serves one client. Each folder in which the client begins a session has a [Host],
// the application on it, which is called by the same methods as the window calls. Sessions are
// the user's ordinary ones: the window lists them, and the client can load those of the window.
//
// The goroutine of a session never waits for the client: it adds events to a list, and one
// goroutine a session turns them into updates, in their order. Streamed text that does not fit
// is left out, since the whole answer follows. What a person has to decide is asked of the
// client as a permission, and questions of the model as a form if the client has forms.
//
// Files and commands stay with Atelier, behind its gate and in its sandbox. The client's own
// file system and terminals are not used, because nothing would confine, record or undo what
// happens there. Commands and differences are shown as contents of their calls.
package acp
