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
//   - [Read] returns the files that a line reads, if it does nothing else. It is the same
//     walk, but accepts of each step only what is known to read.
//
// The table (programs_*.go) has one row a program: what it does, which of its commands do
// something else, how its options are spelled, with which options it only reads, and whether
// it runs others. The commands of git have rows of their own (git_commands.go). A program
// without a row may do anything. To add one, such as kubectl get:
//
//  1. Write its row, here the query of the row "kubectl": with which options does it only
//     read? An option that is not listed makes the line one that is asked about: here -o,
//     which prints secrets.
//
//     queries: map[string]usage{"get": {flags: "A", values: "n", long: "all-namespaces", operands: takesTexts}},
//
//  2. Write a line in testdata/readers.txt for what only reads, and one in
//     testdata/others.txt for what does not. testdata/lines.txt has the effects of the rest;
//     go test -run Table -update writes them, and you read the difference.
//
// Only a program whose arguments follow rules of their own needs code: a looker (special.go,
// files.go, network.go) adds its effects, and a check (usages.go) examines its harmless use.
package command
