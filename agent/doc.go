// Package agent runs one session's loop: it asks a model, runs the tools the
// model calls, and goes on until the model has nothing more to call.
//
// A [Session] is a library first. Its host hands it what it needs in a
// [Config] — a model, tools, a gate that decides about calls, an approver that
// asks a person — and ranges over [Session.Run]:
//
//	for event, err := range session.Run(ctx, "Fix the login bug.") {
//		// store durable events, show all of them
//	}
//
// Everything that happens is an [Event]. A session's durable events, in order,
// are the session: [New] rebuilds one from them, and the running session keeps
// its own state by the same fold.
//
// Run works in the caller's goroutine and its events arrive there. What may be
// called from others stands at [Session].
package agent
