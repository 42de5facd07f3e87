// Package place says where the sessions of a project work: in its folder, in a git worktree of
// their own, or, if they are agents, where the session that started them sent them.
package place
