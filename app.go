package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/instance"
	"atelier.dev/atelier/cmd/cli"
	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// eventName is the event under which envelopes reach the page.
const eventName = "atelier"

// closeLimit limits how long closing may take. An open native dialog keeps the
// window's main loop from ending.
const closeLimit = 5 * time.Second

// App is the part of the program that the page reaches. Only Call is bound; the
// other methods belong to the window's life cycle: startup, domReady,
// beforeClose, shutdown.
type App struct {
	launch  cli.Launch
	state   windowState
	release func() // lets child processes start
	placing sync.Once
	closing sync.Once
	ctx     context.Context // the window's
	up      chan struct{}   // closed when ctx is set
	opening opening
	notices *notices
	closed  chan struct{} // closed when the application has closed
	life    context.Context
	end     context.CancelFunc // ends life when the application begins to close
}

// newApp holds child processes back until the page is ready, because children
// that start while it loads can keep it blank.
func newApp(launch cli.Launch) *App {
	life, end := context.WithCancel(context.Background())
	return &App{
		launch: launch, state: loadWindowState(launch.Home, launch.Folder), release: sandbox.Hold(),
		up: make(chan struct{}), notices: newNotices(), closed: make(chan struct{}), life: life, end: end,
	}
}

// Call runs a method of the application, with JSON in and out. It waits until
// the application is open. If opening fails, every call returns the reason, and
// a later call tries again.
func (a *App) Call(method, args string) string {
	<-a.up
	host, err := a.opening.get(a.open)
	if err != nil {
		return failure(err)
	}
	return host.Call(a.ctx, method, args)
}

// open opens the application and sends its events to the page.
func (a *App) open() (cli.Host, error) {
	board := newNoticeBoard(a.life, a.ctx, a.noticePressed)
	host, err := a.launch.Open(a.ctx, cli.Desktop{OpenLink: openLink, Notify: func(n backend.Notice) {
		a.notices.put(a.life, board, n)
	}, Zoom: zoomWindow, PickFolder: a.pickFolder, PickSave: a.pickSave})
	if err != nil {
		return nil, err
	}
	host.Subscribe(func(envelope []byte) {
		runtime.EventsEmit(a.ctx, eventName, json.RawMessage(envelope))
	})
	return host, nil
}

// failure returns an error in the form for the page.
func failure(err error) string {
	b, err := json.Marshal(map[string]*backend.Error{"error": backend.AsError(err)})
	if err != nil {
		return `{"error":{"id":"internal","code":"internal","message":"Atelier could not open."}}`
	}
	return string(b)
}

func (a *App) startup(ctx context.Context) {
	guardWindow(func() { a.gaveUp(ctx) })
	a.ctx = ctx
	close(a.up)
	context.AfterFunc(a.launch.Left, func() {
		if a.life.Err() == nil {
			runtime.Quit(ctx)
		}
	})
	go a.useLoginPath()
	_, _ = a.opening.get(a.open) // the page's first call reports a failure
}

// useLoginPath asks for the PATH of the user's terminals, once child processes
// may start, because a desktop launcher has a short one. It ends with the
// answer, or when the application closes.
func (a *App) useLoginPath() {
	if err := sandbox.UseLoginPath(a.life); err != nil && a.life.Err() == nil {
		slog.Warn("could not look for programs", "error", err)
	}
}

// domReady runs at every load of the page.
func (a *App) domReady(context.Context) {
	a.placing.Do(a.state.place)
	a.release()
}

// gaveUp is called when the page died too often to be loaded again.
func (a *App) gaveUp(ctx context.Context) {
	_, err := runtime.MessageDialog(ctx, runtime.MessageDialogOptions{
		Type: runtime.ErrorDialog, Title: "Atelier",
		Message: "The page stopped working several times within a minute. Everything shown as saved is saved. Open Atelier again to go on.",
	})
	if err != nil {
		slog.Error("could not say that the page died", "error", err)
	}
	runtime.Quit(ctx)
}

// openLink opens a checked web address in the user's browser. Unlike a child of
// Wails, this one inherits no descriptors.
func openLink(url string) error {
	_, err := sandbox.Detach("xdg-open", url)
	return err
}

// pickFolder shows the system's dialog, which begins beside the open project.
func (a *App) pickFolder(title string) (string, error) {
	return runtime.OpenDirectoryDialog(a.ctx, runtime.OpenDialogOptions{
		Title: title, DefaultDirectory: filepath.Dir(a.launch.Folder), CanCreateDirectories: true,
	})
}

// pickSave asks for the path of a new file. The dialog asks before it names one that
// exists.
func (a *App) pickSave(name string) (string, error) {
	return runtime.SaveFileDialog(a.ctx, runtime.SaveDialogOptions{DefaultFilename: name, CanCreateDirectories: true})
}

// beforeClose runs when the window or the program is asked to close. The host
// closes in parallel, so that it closes even if the window hangs.
func (a *App) beforeClose(ctx context.Context) (prevent bool) {
	a.closing.Do(func() {
		time.AfterFunc(closeLimit, func() { os.Exit(0) })
		go a.closeHost()
		if err := a.state.capture(ctx).save(a.launch.Home, a.launch.Folder); err != nil {
			slog.Warn("could not keep the window's place", "error", err)
		}
	})
	return false
}

func (a *App) closeHost() {
	defer close(a.closed)
	a.end()
	host := a.opening.end()
	if host == nil {
		return
	}
	defer sandbox.Shutdown()
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit-time.Second)
	defer cancel()
	if err := host.Close(ctx); err != nil {
		slog.Error("could not close the application", "error", err)
	}
}

func (a *App) shutdown(context.Context) {
	a.closing.Do(func() { go a.closeHost() }) // if nobody asked to close
	<-a.closed
}

// answer handles requests of later starts on the same folder.
func (a *App) answer(req instance.Request) instance.Reply {
	if req.Do == instance.URL {
		return instance.Reply{Error: a.launch.Folder + " is open in a window. Close it to use browser mode."}
	}
	<-a.up
	presentWindow(a.ctx)
	return instance.Reply{}
}
