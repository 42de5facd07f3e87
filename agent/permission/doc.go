// Package permission decides which tool calls run freely, which need a person's
// consent and which are refused. [Policy] decides for one session.
//
// The mode auto confines commands and runs them free (K-47). A call's Access says how it is
// confined in which mode, and what the gate judged goes with the call (Invocation.Unconfined), so
// that a switch of the mode in between unconfines nothing. Auto asks about what destroys more than
// undo brings back (losing), and about every command where the system cannot confine. Of other
// tools it runs what stays in the project.
//
// [Policy.Foretell] returns the effects of a call for the dialog. [Composite] joins functions that
// decide about calls.
package permission
