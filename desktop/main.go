package desktop

import (
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

// Program is what the program adds to its window.
type Program struct {
	Icon []byte // PNG
	// Bind returns the value whose exported methods the page may call.
	Bind func(*Window) any
}

// Main runs the command line in args and returns the exit code. It shows a window if the
// command is to open one.
func (p Program) Main(args []string) int { return p.start(args) }

// openWindow shows the window on a folder until it is closed.
func (p Program) openWindow(launch cli.Launch) int {
	closeInspector()
	drawWithoutGL()
	w := newWindow(launch)
	launch.Instance.Serve(w.answer)
	return p.show(w)
}

// show runs the window until it is closed.
func (p Program) show(w *Window) (code int) {
	defer func() {
		if p := recover(); p != nil { // the engine panics if no display answers
			fmt.Fprintf(os.Stderr, "atelier: the window cannot be opened: %v.\nNothing was changed. Check DISPLAY, or use: atelier serve\n", p)
			code = 1
		}
	}()
	state := w.state
	err := wails.Run(&options.App{
		Title:            filepath.Base(w.launch.Folder) + " - Atelier",
		Width:            state.Width,
		Height:           state.Height,
		MinWidth:         minWidth,
		MinHeight:        minHeight,
		WindowStartState: state.startState(),
		BackgroundColour: options.NewRGB(0xfb, 0xfa, 0xf7), // --paper, until the page paints
		AssetServer:      assets(),
		Bind:             []any{p.Bind(w)},
		OnStartup:        w.startup,
		OnDomReady:       w.domReady,
		OnBeforeClose:    w.beforeClose,
		OnShutdown:       w.shutdown,
		// Files dropped on the window arrive as paths; the page and the
		// navigation guard keep the web view from opening them.
		DragAndDrop: &options.DragAndDrop{EnableFileDrop: true},
		// The engine's own menu, because of Copy and Paste.
		EnableDefaultContextMenu: true,

		Logger:   engineLog{},
		LogLevel: logger.ERROR,
		Linux: &linux.Options{
			Icon:        p.Icon,
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
