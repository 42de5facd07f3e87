// Package branch lists the branches of a session and compares two of them: what each did since they
// parted, the files that it changed, its cost and its time. A file can be taken over from another
// branch, with a three-way merge.
//
// Branches in different folders have their files there; branches that share a folder are compared
// by what the journal recorded of each, and what was not recorded is said to be unknown.
//
// Runs are the forks and agents of a session that have worktrees of their own. They stand side by
// side, and what they changed since they left is merged back three ways, as a step that can be
// undone. A race starts several with one prompt.
package branch
