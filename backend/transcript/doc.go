// Package transcript reads sessions from files that other programs wrote, and from
// our own, as events of a new session; and it writes sessions to such files.
//
// Nothing in a file is trusted. Anything that is not understood is skipped and
// counted, never guessed: a cost that a file does not have stays unknown, a call
// without a result is interrupted. Files are read once from front to back, a line at
// a time; what is kept in memory is bounded by [MaxLine] and [MaxLines].
package transcript
