// Package repository lets confined git commands change a repository without letting
// them run anything outside of the confinement by the user's next git command (K-47).
//
// The folder of a repository is writable only for a line whose every program is git
// ([OnlyGit]), and there only for what no git command takes programs from
// ([Repository.Open]). What no mount can hold is compared when the line has ended
// ([Watch.End]).
//
// .git is a mount of its own, writable only while a line runs whose every program is git, in a form
// that takes no program or file from the line (line.go). Its configuration, hooks and what leads
// git elsewhere stay read-only, also where they do not exist: a file stands in for commondir and
// config.worktree. What is compared afterwards (watch.go): HEAD, new links, new configurations,
// programs in a rebase, and repositories in the index. What would run a program by the user's next
// git command is put right and reported. git branch alone may write the configuration, without
// hooks, and what is not about branches is put back.
package repository
