// Package agent runs the loop of a session: it asks a model, runs the tools
// that the model calls, and continues until the model makes no more calls.
//
// A [Session] is a library first. Its host provides a [Config] — a model,
// tools, a gate that decides about calls, an approver that asks a person — and
// ranges over [Session.Run]:
//
//	for event, err := range session.Run(ctx, "Fix the login bug.") {
//		// store durable events, show all of them
//	}
//
// Everything that happens is an [Event]. The durable events of a session, in
// order, are the session: [New] rebuilds a session from them, and a running
// session keeps its state by the same fold.
//
// Run works in the caller's goroutine and yields its events there. The
// documentation of [Session] says which methods other goroutines may call.
package agent
