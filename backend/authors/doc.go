// Package authors reads from the logs who wrote the lines of a file: the session, the
// turn, the prompt, the model and what it cost.
//
// It reads the events of a file's steps (storage has one row for each file and step), also from
// before the file was renamed. A fork's copies of steps count in the session that made them. Steps
// from before the journal are left out, because their diffs do not show what a file was.
package authors
