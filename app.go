package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"sync"
	"time"

	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/instance"
	"atelier.dev/atelier/cmd/cli"
	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// eventName is the one name under which envelopes reach the page.
const eventName = "atelier"

// closeLimit is how long closing may take. A native dialog that is open keeps
// the window's main loop from ever ending.
const closeLimit = 5 * time.Second

// App is what the page reaches of this program. Only Call is bound; the rest
// is the window's life: startup, domReady, beforeClose, shutdown.
type App struct {
	launch  cli.Launch
	state   windowState
	release func() // lets child processes start
	guard   sync.Once
	closing sync.Once

	opened chan struct{}   // closed when the fields below are set
	ctx    context.Context // the window's
	host   cli.Host        // nil where opening failed
	err    error
	closed chan struct{} // closed when the host is
}

// newApp holds child processes back until the page is ready: started while it
// loads, they can keep it blank.
func newApp(launch cli.Launch) *App {
	return &App{
		launch: launch, state: loadWindowState(launch.Home, launch.Folder), release: sandbox.Hold(),
		opened: make(chan struct{}), closed: make(chan struct{}),
	}
}

// Call runs a method of the application, with JSON in and out. It waits for
// the application to open; where that failed, every call says why.
func (a *App) Call(method, args string) string {
	<-a.opened
	if a.err != nil {
		return failure(a.err)
	}
	return a.host.Call(a.ctx, method, args)
}

// failure is an error as the page understands it.
func failure(err error) string {
	b, err := json.Marshal(map[string]*backend.Error{"error": backend.AsError(err)})
	if err != nil {
		return `{"error":{"code":"internal","message":"Atelier could not open."}}`
	}
	return string(b)
}

func (a *App) startup(ctx context.Context) {
	a.ctx = ctx
	a.host, a.err = a.launch.Open(ctx, openLink)
	if a.err != nil {
		slog.Error("open the application", "error", a.err)
	} else {
		a.host.Subscribe(func(envelope []byte) {
			runtime.EventsEmit(ctx, eventName, json.RawMessage(envelope))
		})
	}
	close(a.opened)
}

// domReady runs at every load of the page.
func (a *App) domReady(ctx context.Context) {
	a.guard.Do(func() {
		guardWindow(func() { a.gaveUp(ctx) })
		a.state.place()
	})
	a.release()
}

// gaveUp is called when the page died too often to be loaded again.
func (a *App) gaveUp(ctx context.Context) {
	_, err := runtime.MessageDialog(ctx, runtime.MessageDialogOptions{
		Type: runtime.ErrorDialog, Title: "Atelier",
		Message: "The page stopped working several times within a minute. Everything shown as saved is saved. Open Atelier again to go on.",
	})
	if err != nil {
		slog.Error("tell that the page died", "error", err)
	}
	runtime.Quit(ctx)
}

// openLink shows a checked web address in the person's own browser. The child
// keeps none of our descriptors, as one started by Wails would.
func openLink(url string) error { return sandbox.Detach("xdg-open", url) }

// beforeClose runs when the window or the program is asked to close. The host
// closes beside the window, so that it is done even where the window hangs.
func (a *App) beforeClose(ctx context.Context) (prevent bool) {
	a.closing.Do(func() {
		time.AfterFunc(closeLimit, func() { os.Exit(0) })
		go a.closeHost()
		if err := a.state.capture(ctx).save(a.launch.Home, a.launch.Folder); err != nil {
			slog.Warn("keep the window's place", "error", err)
		}
	})
	return false
}

func (a *App) closeHost() {
	defer close(a.closed)
	<-a.opened
	if a.host == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit-time.Second)
	defer cancel()
	if err := a.host.Close(ctx); err != nil {
		slog.Error("close the application", "error", err)
	}
}

func (a *App) shutdown(ctx context.Context) {
	a.beforeClose(ctx)
	<-a.closed
}

// answer grants the wishes of later starts on the same folder.
func (a *App) answer(req instance.Request) instance.Reply {
	if req.Do == instance.URL {
		return instance.Reply{Error: a.launch.Folder + " is open in a window. Close it to use browser mode."}
	}
	<-a.opened
	runtime.WindowUnminimise(a.ctx)
	runtime.WindowShow(a.ctx)
	return instance.Reply{}
}
