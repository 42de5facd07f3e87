// Package trust decides whether what a project can make Atelier run may run: only
// after the user accepted exactly these bytes. It does not know what is run, such
// as hooks or servers; their owners say what stands there now.
//
// An item is pinned by its own definition and by the contents of every file of the
// project that its command names, so that a script that changes is asked about
// again. What a command runs is asked of package command; besides, each word that is
// the name of a file counts, unless it is only written. The user's decisions are kept in the user's own data, never in the
// project.
//
// A check is made just before each run, and this remains: between the check and the
// start of the program, and while it runs, another program may replace a file; and
// a program may load files that its command line does not name. Files in the
// folder of a hook's script are therefore pinned as well, and shell scripts are
// read for what they run in turn.
//
// Accepting needs the seal of what was shown. What cannot be told from a line (a variable, eval, a
// program that runs what other files say) is said in words beside the item; what cannot be pinned,
// such as a pipe or too many files, cannot be accepted. An edited definition takes the place of the
// accepted one and is asked about as a change, so that a guard is not switched off by an edit
// unnoticed.
package trust
