package desktop

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

// Window is the program's window on one folder. The page reaches Call; the other
// methods belong to the life cycle: startup, domReady, beforeClose, shutdown.
type Window struct {
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

// newWindow holds child processes back until the page is ready, because children
// that start while it loads can keep it blank.
func newWindow(launch cli.Launch) *Window {
	life, end := context.WithCancel(context.Background())
	return &Window{
		launch: launch, state: loadWindowState(launch.Home, launch.Folder), release: sandbox.Hold(),
		up: make(chan struct{}), notices: newNotices(), closed: make(chan struct{}), life: life, end: end,
	}
}

// Call runs a method of the application, with JSON in and out. It waits until
// the application is open. If opening fails, every call returns the reason, and
// a later call tries again.
func (w *Window) Call(method, args string) string {
	<-w.up
	host, err := w.opening.get(w.open)
	if err != nil {
		return failure(err)
	}
	return host.Call(w.ctx, method, args)
}

// open opens the application and sends its events to the page.
func (w *Window) open() (cli.Host, error) {
	board := newNoticeBoard(w.life, w.ctx, w.noticePressed)
	host, err := w.launch.Open(w.ctx, cli.Desktop{OpenLink: openLink, Notify: func(n backend.Notice) {
		w.notices.put(w.life, board, n)
	}, Zoom: zoomWindow, PickFolder: w.pickFolder, PickSave: w.pickSave})
	if err != nil {
		return nil, err
	}
	host.Subscribe(func(envelope []byte) {
		runtime.EventsEmit(w.ctx, eventName, json.RawMessage(envelope))
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

func (w *Window) startup(ctx context.Context) {
	guardWindow(func() { w.gaveUp(ctx) })
	w.ctx = ctx
	close(w.up)
	context.AfterFunc(w.launch.Left, func() {
		if w.life.Err() == nil {
			runtime.Quit(ctx)
		}
	})
	go w.useLoginPath()
	_, _ = w.opening.get(w.open) // the page's first call reports a failure
}

// useLoginPath asks for the PATH of the user's terminals, once child processes
// may start, because a desktop launcher has a short one. It ends with the
// answer, or when the application closes.
func (w *Window) useLoginPath() {
	if err := sandbox.UseLoginPath(w.life); err != nil && w.life.Err() == nil {
		slog.Warn("could not look for programs", "error", err)
	}
}

// domReady runs at every load of the page.
func (w *Window) domReady(context.Context) {
	w.placing.Do(w.state.place)
	w.release()
}

// gaveUp is called when the page died too often to be loaded again.
func (w *Window) gaveUp(ctx context.Context) {
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
func (w *Window) pickFolder(title string) (string, error) {
	return runtime.OpenDirectoryDialog(w.ctx, runtime.OpenDialogOptions{
		Title: title, DefaultDirectory: filepath.Dir(w.launch.Folder), CanCreateDirectories: true,
	})
}

// pickSave asks for the path of a new file. The dialog asks before it names one that
// exists.
func (w *Window) pickSave(name string) (string, error) {
	return runtime.SaveFileDialog(w.ctx, runtime.SaveDialogOptions{DefaultFilename: name, CanCreateDirectories: true})
}

// beforeClose runs when the window or the program is asked to close. The host
// closes in parallel, so that it closes even if the window hangs.
func (w *Window) beforeClose(ctx context.Context) (prevent bool) {
	w.closing.Do(func() {
		time.AfterFunc(closeLimit, func() { os.Exit(0) })
		go w.closeHost()
		if err := w.state.capture(ctx).save(w.launch.Home, w.launch.Folder); err != nil {
			slog.Warn("could not keep the window's place", "error", err)
		}
	})
	return false
}

func (w *Window) closeHost() {
	defer close(w.closed)
	w.end()
	host := w.opening.end()
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

func (w *Window) shutdown(context.Context) {
	w.closing.Do(func() { go w.closeHost() }) // if nobody asked to close
	<-w.closed
}

// answer handles requests of later starts on the same folder.
func (w *Window) answer(req instance.Request) instance.Reply {
	if req.Do == instance.URL {
		return instance.Reply{Error: w.launch.Folder + " is open in a window. Close it to use browser mode."}
	}
	if req.Do == instance.Stop {
		return req.StopWith(w.Call)
	}
	<-w.up
	presentWindow(w.ctx)
	return instance.Reply{}
}
