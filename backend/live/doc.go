// Package live runs sessions. It holds sessions in memory, each owned by a
// goroutine that reads it from the log, runs its turns one after the other,
// records events and closes it again. Callers open a session with
// [Sessions.Open] and reach its owner through the methods of [Session].
//
// The goroutine that owns a session reads it, takes its lease (a file lock, so that only one
// process runs it) and ranges over agent.Session.Run. [Sessions] keeps those that work, and the 16
// at rest that were used last. Its lock guards only the list; each session has one lock for what
// its owner shares. Neither is held during I/O: a turn, an answer and a change of the queue are
// marked as begun under the lock, carried out without it and then marked as ended. A turn that
// panics fails alone.
//
// A durable event goes to the store, then to the feed. Events that follow each other at once
// (Event.More) share a transaction. Points outside of turns (tasks that begin and end, agents at
// rest, changed settings, worktrees) are queued by Session.Observe, at most 64, and their hooks run
// in a side job. bypassPermissions is never taken over from a log by another process (bypass.go).
// The first answer to a question counts: it claims the request before its rule is stored
// (approvals.go). An answer that is remembered with a rule has every request that waits judged
// again.
package live
