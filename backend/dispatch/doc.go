// Package dispatch calls the methods of the application by name, with JSON. Features
// register their methods; the window, the browser and the tests call them.
//
// It answers {"ok":…} or {"error":…}, and recovers panics.
package dispatch
