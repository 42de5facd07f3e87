// Package subagent lets a session delegate work to other sessions. Its tools start a session,
// write to it, wait for it and close it. The host decides what a session is and where it is kept
// (LOOP-48, LOOP-49, OAS-311).
//
// An agent is a session with its own log, approvals, queue and cost. It works in the parent's
// folder, with the parent's settings and the rest of the parent's budget, and cannot start agents.
// Its first event names the parent, so that a lost row is restored under it. The tool Agent waits
// for the report, unless the call or the definition says otherwise; the loop specification's
// spawn_agent is the same tool in the background (K-05).
package subagent
