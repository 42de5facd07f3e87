// Package objects keeps the contents of files under their hash, so that steps can
// be undone. Several processes share one store.
//
// The store takes 2 GB, compressed and readable by nobody else. When it is full, what no session
// needed for longest is removed as something new is kept, never by a timer and nothing from the
// last hour. A hash that does not fit its contents is never given out.
package objects
