package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"

	"atelier.dev/atelier/backend"
	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// pressedName is the event under which the page learns that a notice was
// pressed. It carries the id of the session.
const pressedName = "atelier:pressed"

// maxNotices limits how many notices wait for the desktop. More are dropped,
// because the page shows the same.
const maxNotices = 8

// notices shows notices on the desktop, one after another, in a goroutine of
// its own: a desktop that does not answer holds nobody up. The goroutine begins
// with the first notice, so that nobody without notices connects to the desktop.
type notices struct {
	begin sync.Once
	queue chan backend.Notice
}

func newNotices() *notices { return &notices{queue: make(chan backend.Notice, maxNotices)} }

// noticeBoard is where notices are shown.
type noticeBoard interface {
	connect() error
	show(backend.Notice) error
}

// put shows a notice later, or drops it.
func (n *notices) put(life context.Context, board noticeBoard, notice backend.Notice) {
	n.begin.Do(func() { go n.run(life, board) })
	select {
	case n.queue <- notice:
	default:
	}
}

// run shows notices until the application closes. A failure is logged once;
// what the notice says is in the page as well.
func (n *notices) run(life context.Context, board noticeBoard) {
	connected, told := false, false
	for {
		select {
		case <-life.Done():
			return
		case notice := <-n.queue:
			var err error
			if !connected {
				err = board.connect()
				connected = err == nil
			}
			if err == nil {
				err = board.show(notice)
			}
			if err != nil && !told {
				slog.Info("the desktop shows no notices", "error", err)
				told = true
			}
		}
	}
}

// desktopBoard shows notices through the desktop of the window's user.
type desktopBoard struct {
	window context.Context
}

func (b desktopBoard) connect() error {
	if !hasSessionBus() {
		return os.ErrNotExist
	}
	if err := runtime.InitializeNotifications(b.window); err != nil {
		return err
	}
	runtime.OnNotificationResponse(b.window, func(pressed runtime.NotificationResult) {
		if pressed.Error != nil {
			return
		}
		session, _, _ := strings.Cut(pressed.Response.ID, " ")
		presentWindow(b.window)
		runtime.EventsEmit(b.window, pressedName, session)
	})
	return nil
}

func (b desktopBoard) show(n backend.Notice) error {
	id := n.Session + " " + n.Kind
	_ = runtime.RemoveNotification(b.window, id) // the earlier one about the same
	return runtime.SendNotification(b.window, runtime.NotificationOptions{ID: id, Title: n.Title, Body: noticeBody(n.Body)})
}

// noticeBody returns a text in the form for a notice's body, which desktops on
// Linux read as markup.
func noticeBody(text string) string {
	if goruntime.GOOS != "linux" {
		return text
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// hasSessionBus reports whether there is a bus to connect to. Without one, the
// library behind Wails would start a program to get one.
func hasSessionBus() bool {
	if goruntime.GOOS != "linux" {
		return true
	}
	if address := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return address != "autolaunch:"
	}
	_, err := os.Stat(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus"))
	return err == nil && os.Getenv("XDG_RUNTIME_DIR") != ""
}
