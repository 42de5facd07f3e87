// Package conversation lets a user talk with a session: open it, send and queue messages, go on,
// stop, choose its settings, and send a prompt again in place of an earlier one.
//
// A turn begins with [Conversations.Begin], which checks what it needs, or with
// [Conversations.Start], which does not. Messages wait in a session's queue, which is stored and is
// changed only by the session's owner ([Conversations.ChangeQueue]). What a text means, such as the
// skill that it calls, is the [Host]'s to say.
package conversation
