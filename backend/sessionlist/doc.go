// Package sessionlist lists, finds, renames, marks and removes the sessions of a project.
//
// What a person says about a session is an event of its log. A session that is removed, or put into
// the trash, is at rest meanwhile, here and in other processes, with all agents that it started.
package sessionlist
