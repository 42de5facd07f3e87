// Package filelog reads what the logs of sessions say of changed files.
//
// Undoing, the list of changes and the comparison of branches ask the same of a log. Here is the
// only place that knows which events change files ([Changed], [Rewrite]), that reads a log for them
// ([Logs], each part once), and that writes the paths of an agent as its session's folder has them
// ([Rebase]).
package filelog
