// Package tool holds the built-in tools: Read, Write, Edit, NotebookEdit, ApplyPatch, Bash,
// Grep, Glob, ReadMany, ListDir and the tools for background commands. Each is
// an [agent.Tool] that acts on an [env.Environment]. [Truncate] cuts their
// output to the model's share.
//
// # Commands
//
// In the foreground a call waits for its command, which has a time limit: the call's, else the
// user's, else two minutes; ten minutes at most. A command becomes a task if the call says so, or
// when its yield time is over, and then has only the limit that it names itself. The directory is
// part of a command's identity: the gate, grants and the dialog treat the same command in another
// directory as a different one. A command has pipes unless the call asks for a terminal. Models
// read the text that a terminal would show (package screen), not control sequences and redraws. A line
// of more than 128 KB, which no system takes, is refused.
//
// A task's output has two buffers, the model's and the page's, so that neither consumes the other's
// output. A task belongs to its session and ends with it. [Tasks] opens ports of a confined task to
// addresses of this machine until the task ends.
//
// # Reading before writing
//
// An edit needs a file that the model has read. Text counts as read when it reached the model by
// any tool: a command that printed one file, a diff that showed the lines (diffs.go), the model's
// own write. A patch needs no earlier read, because the lines around an edit prove that the model
// knows them; if it names no old lines, the rule of Write holds. What a step changed in files that
// the model knows is told to it, and its next edit works ([Memory]).
package tool
