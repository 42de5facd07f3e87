// Package backend is the domain of the application: what is kept of sessions,
// costs and preferences, the [Store] that keeps it, and the [Error] that people
// see. The packages below it do the work: models knows the providers, live runs
// sessions, feed carries what happens to the pages that watch, and workbench
// puts them together into what hosts call.
package backend

// Empty is a request or reply without content.
type Empty struct{}
