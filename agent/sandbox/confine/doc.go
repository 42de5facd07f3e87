// Package confine says what a confined command may do, and how much of that a
// system enforces. It has values and rules only; package sandbox enforces them.
//
// [Level] says how much a system enforces, and with it what Settings and atelier doctor say. A
// command that ran into its bounds says so in a sentence, found in its output (explain.go), and the
// model may ask for it to run unconfined; a person decides about that in every mode, or a rule that
// names the command. [SeatbeltRules] writes the rules for macOS, which are compiled and vetted here
// but never run.
package confine
