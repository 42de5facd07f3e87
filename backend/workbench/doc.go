// Package workbench is the application: it assembles sessions and the features over them, which
// register their own methods. It knows neither the window nor SQL. A host gives it
// a [backend.Store], a [backend.KeyStore] and a folder, calls it through
// [Workbench.Call] and watches it through [Workbench.Subscribe]. The window,
// the browser mode and the command line are three such hosts.
//
// assemble.go assembles a session. skills.go makes the input of a skill: it runs the skill's own
// command lines, if the session's rules allow all of them, with the arguments as the shell's
// parameters, never as text of a line. sidejobs.go asks the small model of the same provider for
// titles and suggestions; their results are recorded between turns, if they are still wanted.
// away.go tells whoever comes back after three minutes what was done in between without asking.
//
// An edited prompt is sent in place of a turn in one step (resend.go, live.Session.StartAfter):
// files, rewind and turn, with nothing in between. fork.go makes forks; a worktree that is gone is an
// error that says what to do. caller.go lets a client of the Model Context Protocol answer in place
// of a model.
package workbench
