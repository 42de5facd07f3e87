//go:build !linux || !webkit2_41

package desktop

import (
	"context"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// Other web views draw with what their system gives them, stay on their page and
// restart themselves, and the builds without a window have nothing to guard.

func drawWithoutGL() {}

func guardWindow(func()) {}

func moveWindow(int, int) {}

// These web views have zoom keys of their own.
func zoomWindow(int) {}

// presentWindow brings the window to the front.
func presentWindow(window context.Context) {
	runtime.WindowUnminimise(window)
	runtime.WindowShow(window)
}
