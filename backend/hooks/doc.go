// Package hooks keeps the programs that users and projects attach to sessions: where
// they are written, whether they may run, and what each of them did.
//
// The hooks of a project run once the user trusts exactly what stands there; package
// trust remembers that. A hook that guards calls is not dropped silently: while its
// file cannot be read, or while what took its place is not trusted yet, the calls
// that it is about are asked about.
//
// The files are read again when they have changed, in the order in which hooks run. Hooks in
// ~/.claude were written for another program, so they run only once they are switched on. A
// definition that was edited takes the place of the accepted one and is asked about as a change. A
// rule that a hook asks for is one of the session's; a project's hook cannot add one that allows.
// Each hook that was considered is entered into a log by a goroutine that no hook waits for.
package hooks
