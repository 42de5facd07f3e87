//go:build linux && webkit2_41

package desktop

/*
#cgo pkg-config: gtk+-3.0 webkit2gtk-4.1
#include "window_linux.h"
*/
import "C"

import (
	"context"
	"log/slog"
)

// watched is what the window's C side calls. There is one window.
var watched struct {
	reloads reloads
	gaveUp  func()
	dead    bool // the page died, and is not loaded again yet; the window's thread alone uses it
}

// drawWithoutGL keeps OpenGL out of the program. Call it before the window exists.
func drawWithoutGL() { C.atelier_without_gl() }

// guardWindow keeps the web view on its own page and reloads the page when its
// process dies. It calls gaveUp if that happens too often. Call it once, after
// the window exists.
func guardWindow(gaveUp func()) {
	watched.gaveUp = gaveUp
	C.atelier_guard()
}

// moveWindow moves the window, unless no monitor would show its title.
func moveWindow(x, y int) { C.atelier_move(C.int(x), C.int(y)) }

// zoomWindow scales the page.
func zoomWindow(percent int) { C.atelier_zoom(C.int(percent)) }

// presentWindow brings the window to the front. The user asked for it outside
// the window.
func presentWindow(context.Context) { C.atelier_present() }

//export atelierNavigationBlocked
func atelierNavigationBlocked(uri *C.char) {
	slog.Warn("the page tried to leave", "to", C.GoString(uri))
}

//export atelierPageDied
func atelierPageDied() C.int {
	if watched.reloads.allow() {
		slog.Warn("the page's process died; reloading the page")
		watched.dead = true
		return 1
	}
	slog.Error("the page's process died too often")
	go watched.gaveUp() // this is the window's thread, on which a dialog would wait for itself
	return 0
}

//export atelierPageLoaded
func atelierPageLoaded() {
	if watched.dead {
		watched.dead = false
		slog.Info("the page was loaded again")
	}
}
