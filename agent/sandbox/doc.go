// Package sandbox runs child processes. It is the only package that starts any,
// so that no child escapes its rules.
//
// A child gets a filtered environment ([Filter]), no descriptor but 0 to 2 and
// its own session. It has neither a terminal nor standard input, unless the
// caller wants to write to it ([Spec.TTY], [Spec.Input]). It ends with its
// context: SIGTERM to its group, SIGKILL two seconds later, and then SIGKILL to
// processes that left the group but still carry the call's marker in their
// environment. A guard beside this program does the last step if the program
// itself was killed. A process escapes only if it leaves its group and also
// drops its environment; a command that is confined ([Spec.Confine]) in a
// namespace cannot escape it. A namespace for every command would cost more than the shell itself.
//
// Windows has neither signals nor sessions. There a child is in a job object
// before its first instruction, with everything it starts; no process leaves a
// job, and a job ends with this program, however that ends. If this program has
// no console of its own, a child is first sent Ctrl-Break and has two seconds;
// otherwise its job is terminated at once.
package sandbox
