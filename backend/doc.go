// Package backend is the domain of the application: the records of sessions,
// costs and preferences, the [Store] that keeps them, and the [Error] that
// people see. The packages below it do the work: models knows the providers,
// live runs sessions, feed carries events to the pages that watch, and
// workbench combines them into the methods that hosts call.
package backend

// Empty is a request or reply without content.
type Empty struct{}
