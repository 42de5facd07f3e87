// Package sandbox runs child processes: it is the only package that starts
// any, so that no child escapes its rules.
//
// A child gets a filtered environment ([Filter]), no descriptor but 0 to 2 and
// its own session; no terminal and no standard input, unless it is to be written
// to ([Spec.TTY], [Spec.Input]). It ends with its context: SIGTERM to its group,
// two seconds, SIGKILL, and then SIGKILL to whatever left the group but still
// carries the call's marker in its environment. A guard beside this program
// does the latter where this program was itself killed. What escapes is a
// process that leaves its group and drops its environment both; [Spec.ReadOnly]
// runs in a namespace of its own, which nothing escapes. To run everything in
// one would cost each command more than the shell itself does.
//
// Windows has neither signals nor sessions. There a child is in a job object
// from before its first instruction, with all that it starts; nothing leaves
// one, and it ends with this program in whatever way that ends. Where this
// program has no console of its own, a child is first sent Ctrl-Break and has
// two seconds; else its job is terminated at once.
package sandbox
