package browser

import (
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"atelier.dev/atelier/internal/text"
)

// The limits of what is kept of a page.
const (
	maxNotes    = 200 // of each kind: the newest
	maxNote     = 500 // characters of one
	maxInFlight = 1000
)

// notes is what a page printed and requested. The mutex of its tab guards it.
type notes struct {
	console  []note
	requests []*request
	inFlight map[network.RequestID]*request
	loading  bool
	document *request      // the newest of the page itself
	dropped  int           // lines of the console that are not kept
	news     chan struct{} // closed when one of these changed
}

type note struct {
	kind, text string
	told       bool // stands in a result
}

func (n note) String() string { return n.kind + ": " + n.text }

// request is one request of a page.
type request struct {
	method, url, kind string
	status            int64
	failure           string
	told              bool
}

// aborted is the failure of a request whose page did not wait for the answer.
const aborted = "net::ERR_ABORTED"

func (r *request) failed() bool {
	return r.failure != "" && r.failure != aborted || r.status >= 400
}

func (r *request) String() string {
	outcome := "no answer yet"
	switch {
	case r.status > 0 && (r.failure == "" || r.failure == aborted):
		outcome = fmt.Sprint(r.status)
	case r.failure != "":
		outcome = r.failure
	}
	return fmt.Sprintf("%s %s %s (%s)", r.method, text.Shorten(r.url, 300), outcome, strings.ToLower(r.kind))
}

// changed tells those who wait. The caller has the mutex.
func (n *notes) changed() {
	close(n.news)
	n.news = make(chan struct{})
}

// print notes a line of the console.
func (t *tab) print(kind, line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note(kind, line)
}

// note is print for one who has the mutex.
func (t *tab) note(kind, line string) {
	t.console = append(t.console, note{kind: kind, text: text.Shorten(line, maxNote)})
	if more := len(t.console) - maxNotes; more > 0 {
		t.console = t.console[more:]
		t.dropped += more
	}
	t.changed()
}

// hear is told every event of the page. It must not block, and calls nothing.
func (t *tab) hear(event any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch ev := event.(type) {
	case *network.EventRequestWillBeSent:
		t.begun(ev)
	case *network.EventResponseReceived:
		if r := t.inFlight[ev.RequestID]; r != nil {
			r.status = ev.Response.Status
		}
	case *network.EventLoadingFinished:
		t.ended(ev.RequestID, "")
	case *network.EventLoadingFailed:
		t.ended(ev.RequestID, strings.TrimSpace(ev.ErrorText+" "+string(ev.BlockedReason)))
	case *page.EventFrameStartedLoading:
		t.loading = t.loading || ev.FrameID == t.frame
		t.changed()
	case *page.EventFrameStoppedLoading:
		t.loading = t.loading && ev.FrameID != t.frame
		t.changed()
	case *page.EventFrameNavigated:
		if ev.Frame.ParentID == "" {
			t.frame, t.at = ev.Frame.ID, ev.Frame.URL
		}
	case *page.EventNavigatedWithinDocument:
		if ev.FrameID == t.frame {
			t.at = ev.URL
		}
	case *page.EventJavascriptDialogOpening:
		t.note("dialog", fmt.Sprintf("%s %q, which was closed", ev.Type, ev.Message))
		t.later(func() { t.dismiss(ev.Type) })
	}
}

// begun notes a request. A redirect has the same id as the request before it.
func (t *tab) begun(ev *network.EventRequestWillBeSent) {
	if before := t.inFlight[ev.RequestID]; before != nil && ev.RedirectResponse != nil {
		before.status = ev.RedirectResponse.Status
	}
	if ev.Type == network.ResourceTypeEventSource || strings.HasPrefix(ev.Request.URL, "data:") || strings.HasPrefix(ev.Request.URL, "blob:") {
		return
	}
	r := &request{method: ev.Request.Method, url: ev.Request.URL, kind: string(ev.Type)}
	if t.requests = append(t.requests, r); len(t.requests) > maxNotes {
		t.requests = t.requests[len(t.requests)-maxNotes:]
	}
	if ev.Type == network.ResourceTypeDocument && (t.frame == "" || ev.FrameID == t.frame) {
		t.document = r
	}
	if len(t.inFlight) < maxInFlight {
		t.inFlight[ev.RequestID] = r
	}
	t.changed()
}

func (t *tab) ended(id network.RequestID, failure string) {
	if r := t.inFlight[id]; r != nil {
		r.failure = failure
		delete(t.inFlight, id)
		t.changed()
	}
}

// listenToConsole notes what the page prints, until the page ends.
func (t *tab) listenToConsole() {
	messages := chromedp.Console(t.ctx)
	t.group.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			where := ""
			if m.URL != "" {
				where = fmt.Sprintf(" (%s:%d)", text.Shorten(m.URL, 200), m.Line+1)
			}
			t.print(string(m.Type), m.Text+where)
		}
	})
}

// untold returns what went wrong since the last result, in lines.
func (t *tab) untold() (lines []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, n := range t.console {
		if !n.told && (n.kind == "error" || n.kind == "exception" || n.kind == "assert" || n.kind == "dialog" || n.kind == "window") {
			lines = append(lines, n.String())
		}
		t.console[i].told = true
	}
	for _, r := range t.requests {
		if r.failed() && !r.told && r != t.document {
			lines = append(lines, r.String())
		}
		r.told = r.told || r.failed()
	}
	return lines
}
