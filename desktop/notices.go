package desktop

import (
	"context"
	"log/slog"
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
	// show shows a notice in place of an earlier one with the same id.
	show(id, title, body string) error
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
				err = board.show(notice.Session+" "+notice.Kind, notice.Title, notice.Body)
			}
			if err != nil && !told {
				slog.Info("the desktop shows no notices", "error", err)
				told = true
			}
		}
	}
}

// noticePressed brings the window to the front and tells the page which session to
// show.
func (w *Window) noticePressed(id string) {
	session, _, _ := strings.Cut(id, " ")
	presentWindow(w.ctx)
	runtime.EventsEmit(w.ctx, pressedName, session)
}
