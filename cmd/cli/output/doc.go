// Package output is what the command line says, and what programs say to it: the events of a
// run in the form that was asked for, lines of JSON that drive a run, answers in the form of a
// schema, completions and the manual page, the hosts that were contacted, and text that cannot
// act on a terminal.
package output
