// Package agents keeps the definitions of agents that a project's models can start: built in, in
// files of the user and of the project, and given to one run. The files are watched. A project's
// definition with hooks of its own is offered to nobody until the user accepted exactly what
// stands there, and nothing weaker is offered under its name meanwhile.
//
// Nothing weaker takes the place of a definition that waits. When the file of an accepted one
// changes, the calls that its hooks are about are asked about.
package agents
