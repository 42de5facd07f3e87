// Package contexts shows what fills the context window of a session, and lets a person
// decide what stays in it: pin, drop and restore items, read and change a summary before
// it replaces a part of the conversation, and take compactions back. It also shows and
// edits what agents are told of a project in every session (COM-23): the files of its
// memory, which the user chooses, its documents, and the user's own.
//
// What a person decides is an event of the session's log. It needs the session at rest.
// Reading does not: the log is folded here, apart from the goroutine that owns the
// session. The fold of the session that was read last is kept, so that the next reading
// adds only what is new.
package contexts
