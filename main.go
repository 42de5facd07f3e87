// Atelier is a desktop workbench for coding agents. This program is the command
// line of package cli plus a window; only this package knows Wails.
//
// The window is drawn without OpenGL, which window_linux.c keeps out of the program, and no child
// starts before the window's page is ready, because it could keep the page blank. Three measures
// confine the page: a strict content policy, a guard on every navigation, and links that open
// outside only if they are plain http or https. WebKit offers every frame the way to the
// application's methods, so window_linux.c takes it from all frames but the page. On Linux notices
// are sent over D-Bus (app_notices_linux.go), because Wails takes a notice that was dismissed for
// one that was pressed.
package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/cmd/cli"
	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/logger"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
)

//go:embed build/appicon.png
var icon []byte

func main() { os.Exit(start(os.Args[1:], openWindow)) }

// openWindow shows the window on a folder until it is closed.
func openWindow(launch cli.Launch) int {
	closeInspector()
	drawWithoutGL()
	app := newApp(launch)
	launch.Instance.Serve(app.answer)
	return show(app)
}

// show runs the window until it is closed.
func show(app *App) (code int) {
	defer func() {
		if p := recover(); p != nil { // the engine panics if no display answers
			fmt.Fprintf(os.Stderr, "atelier: the window cannot be opened: %v.\nNothing was changed. Check DISPLAY, or use: atelier serve\n", p)
			code = 1
		}
	}()
	state := app.state
	err := wails.Run(&options.App{
		Title:            filepath.Base(app.launch.Folder) + " - Atelier",
		Width:            state.Width,
		Height:           state.Height,
		MinWidth:         minWidth,
		MinHeight:        minHeight,
		WindowStartState: state.startState(),
		BackgroundColour: options.NewRGB(0xfb, 0xfa, 0xf7), // --paper, until the page paints
		AssetServer:      assets(),
		Bind:             []any{app},
		OnStartup:        app.startup,
		OnDomReady:       app.domReady,
		OnBeforeClose:    app.beforeClose,
		OnShutdown:       app.shutdown,
		// Files dropped on the window arrive as paths; the page and the
		// navigation guard keep the web view from opening them.
		DragAndDrop: &options.DragAndDrop{EnableFileDrop: true},
		// The engine's own menu, because of Copy and Paste.
		EnableDefaultContextMenu: true,

		Logger:   engineLog{},
		LogLevel: logger.ERROR,
		Linux: &linux.Options{
			Icon:        icon,
			ProgramName: "atelier", // as in build/linux/atelier.desktop
			// Measured: Always, which the zero value means to the engine,
			// leaves windows blank on some drivers and is slower without a GPU.
			WebviewGpuPolicy: linux.WebviewGpuPolicyNever,
		},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "atelier: the window cannot be opened:", err)
		return 1
	}
	return 0
}

// closeInspector keeps the environment from switching on WebKit's remote
// inspector, which has no access control. Only the window's own tests, which
// use it, set ATELIER_AUTOMATION.
func closeInspector() {
	if os.Getenv("ATELIER_AUTOMATION") != "" {
		return
	}
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "WEBKIT_INSPECTOR_") {
			os.Unsetenv(name)
		}
	}
}

// engineLog drops everything that Wails logs, except its last message, because
// its error lines repeat whole calls, keys included.
type engineLog struct{}

func (engineLog) Print(string)         {}
func (engineLog) Trace(string)         {}
func (engineLog) Debug(string)         {}
func (engineLog) Info(string)          {}
func (engineLog) Warning(string)       {}
func (engineLog) Error(string)         {}
func (engineLog) Fatal(message string) { fmt.Fprintln(os.Stderr, "atelier:", message) }
