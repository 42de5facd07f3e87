// Package monitor has the tool with which a model watches a command: each line that the command
// prints wakes the model (Monitor of Claude Code).
//
// The command is one that Bash runs in the background, so the gate, the sandbox, the list of tasks
// and the panel Running treat it like any other. [Watch] gathers the lines of a session's commands
// for a moment and then wakes the session, whose turn takes them as news (see [agent.Config]): in the form of a
// reminder, which is nobody's consent. Everything is bounded: the length of a line, the lines of one
// message, what waits while the model works, and how often a command may wake it. What is left out
// is counted and said. A command that is too loud is no longer followed, but runs on.
package monitor
