// Package sandbox runs child processes: it is the only package that starts
// any, so that no child escapes its rules.
//
// A child gets a filtered environment ([Filter]), no standard input, no
// descriptor but 0 to 2 and its own process group. It ends with its context:
// SIGTERM to the group, two seconds, SIGKILL, and then SIGKILL to whatever
// left the group but still carries the call's marker in its environment.
package sandbox
