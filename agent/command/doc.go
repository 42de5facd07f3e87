// Package command tells what a line of bash would do, without running it.
//
// A line is parsed once ([Parse]) and walked as bash would run it. Each program and each
// redirection that the walk meets is a [Step]: the program with its arguments, the folders
// in which it may run, the files that it reads and writes, the scripts that it runs and the
// code that nobody can look at. What cannot be told is reported as such, never as harmless.
//
// The questions about a line are questions to its steps:
//
//   - [Of] returns its effects, for the person who is asked and the mode that decides.
//   - [Trace] returns the steps, for rules, lists of programs and paths, and repositories.
//   - [Step.Has] says whether a step is what a rule names, however its options are spelled.
//   - [Step.Prints] says what git prints of files that no argument names.
//   - [Read] returns the files that a line reads, if it does nothing else.
//
// The tables say what is known of programs. A program that no table has may do anything.
package command
