// Package branch lists the branches of a session and compares two of them: what each did since they
// parted, the files that it changed, its cost and its time. A file can be taken over from another
// branch, with a three-way merge.
//
// Branches in different folders have their files there; branches that share a folder are compared
// by what the journal recorded of each, and what was not recorded is said to be unknown.
package branch
