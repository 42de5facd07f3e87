// Package output is what the command line prints: the events of a run in the form that was
// asked for, and text that cannot act on a terminal.
package output
