// Package transcript reads sessions from files that other programs wrote, and from
// our own, as events of a new session; and it writes sessions to such files.
//
// Nothing in a file is trusted. Anything that is not understood is skipped and
// counted, never guessed: a cost that a file does not have stays unknown, a call
// without a result is interrupted. Files are read once from front to back, a line at
// a time; what is kept in memory is bounded by [MaxLine] and [MaxLines].
//
// The builder makes a sound log of whatever files say: turns end, each call has one end and an id
// of our own. Of our own format nothing is taken over that could act here: no briefing, no
// worktree, no provider's bytes, no record of files.
package transcript
