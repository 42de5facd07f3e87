// Package filechanges answers what changed in the project or in a session's worktree, by
// sessions and by git, and takes it out, stages and commits it.
//
// [agent/changes] does the work in one folder. Here a request finds its folder and the edits of the
// sessions that its scope is about, and has limited time. What is put back is an event of the
// session, so that it can itself be undone.
package filechanges
