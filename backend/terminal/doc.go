// Package terminal runs the user's own shell for the page: a few terminals, each in a
// folder of the project.
//
// The shell is the user's, so it is not confined. Secrets that this program was given are
// not in its environment, because commands of models could read them there.
//
// A page reads a terminal in pieces, each from where the last one ended, and asks for the
// next one once it has drawn that. While a page reads, a shell that is too far ahead of it
// waits, so that a flood neither fills the memory nor freezes the page. While no page does,
// the shell goes on, and the newest output is kept. A page that was loaded again begins with
// what is kept. Terminals end with the program.
package terminal
