package main

import "atelier.dev/atelier/desktop"

// App is what the page of the window reaches. Wails binds its exported methods.
type App struct{ window *desktop.Window }

// Call runs a method of the application, with JSON in and out; see [desktop.Window.Call].
func (a *App) Call(method, args string) string { return a.window.Call(method, args) }
