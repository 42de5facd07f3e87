// Package worktree gives an agent or a fork a git worktree of its own: a second working
// folder of the project's repository, on a branch of its own. It stands in the
// project, in a folder that git and searches ignore (OAS-506).
//
// A repository is treated as hostile: none of its hooks, filters or other
// programs is run, and no symbolic link is followed out of the project. Errors
// say what to do, because a model reads them.
//
// A worktree is at .worktrees/NAME in the project, on the branch worktree-NAME, so that the gate
// and the confinement hold there as everywhere in the project. A line in .git/info/exclude has git
// and searches ignore it; no file of the project changes. A new worktree gets the ignored files
// that .worktreeinclude names.
//
// It is removed when nothing is lost with it (held.go): no change, also none that git was told to
// overlook, no file that git ignores and the project does not have, no commit that the project's
// HEAD or a submodule's remote lacks, its own branch checked out, and nobody at work there.
// Otherwise it is kept, and the report says why.
package worktree
