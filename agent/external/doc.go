// Package external lets a session be answered by an agent of somebody else that speaks version 1
// of the Agent Client Protocol, such as Claude Code, Codex, Gemini or goose (issue 39).
//
// An [Adapter] is a provider of models like any other. What the agent says is the answer. What
// it asks of its client, to read or write a file, to run a command, to be permitted something,
// becomes a call of one of the session's own tools: the answer ends with the call, the loop
// judges it, asks about it, hooks, confines and records it, and the next request brings its
// result, which is the client's reply to the agent. So the rules, the sandbox, the journal, undo
// and the search hold for all that goes through the client.
//
// An agent can also act by itself, without asking its client. Nothing confines that. What it
// tells of it is recorded as calls of [StepTool], which say so.
//
// Nothing of an agent is believed: ids of other sessions are refused, what it sends has limits,
// and its death ends the request with an error, after which the next message starts it again,
// with the conversation so far as a text.
package external
