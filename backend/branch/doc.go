// Package branch describes what a session did since it and another session
// parted: the files that it changed, its cost and its time.
//
// Branches in different folders have their files there; branches that share a folder are compared
// by what the journal recorded of each, and what was not recorded is said to be unknown.
package branch
