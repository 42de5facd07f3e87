// Package cli is the command line that both of Atelier's programs share. It
// connects the parts: storage, keys and the workbench.
//
// Another project opens in a process of its own (elsewhere.go). If an instance has the folder, it
// is asked; else this program is started again, with the user's whole environment, which it
// conceals as well. In browser mode the new server's input is a pipe from the first one, so that it
// stops with it, and its one-time address travels through the instance's socket: it never stands in
// the arguments of a process.
package cli
