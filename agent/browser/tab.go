package browser

import (
	"cmp"
	"context"
	_ "embed" // for the script
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/chromedp/chromedp/remote"
)

//go:embed page.js
var script string

// The usual window, and the most of a page that is in one picture, in pixels.
const (
	usualWidth  = 1280
	usualHeight = 800
	maxHeight   = 6_000
	quality     = 75
)

// tab is the page of a browser that runs.
type tab struct {
	*process
	reach reach
	times times
	ctx   context.Context // of chromedp; ends with the browser
	leave context.CancelFunc
	id    target.ID
	group sync.WaitGroup // what runs beside the calls
	gone  chan struct{}  // closed when it is known why the browser has ended

	mu    sync.Mutex
	err   error // why the browser is no use any more
	over  bool  // nothing is begun any more
	frame cdp.FrameID
	at    string // the address that is shown
	notes
}

// start starts a browser with an empty page.
func (b *Browser) start(ctx context.Context, want reach) (*tab, error) {
	p, err := b.launch(ctx, want)
	if err != nil {
		return nil, err
	}
	t := &tab{process: p, reach: want, times: b.cfg.times, gone: make(chan struct{}), notes: notes{inFlight: map[network.RequestID]*request{}, news: make(chan struct{})}}
	allocated, end := remote.NewAllocator(context.Background(), p.url, remote.NoModifyURL)
	quiet := func(string, ...any) {}
	t.ctx, t.leave = chromedp.NewContext(allocated, chromedp.WithLogf(quiet), chromedp.WithErrorf(quiet))
	leave := t.leave
	t.leave = func() { leave(); end() }
	t.group.Go(func() { t.watch(b.cfg.Memory) })
	within, cancel := context.WithTimeout(ctx, b.cfg.times.start)
	stop := context.AfterFunc(within, t.leave)
	err = t.prepare()
	stop()
	cancel()
	if err != nil {
		err = cmp.Or(ctx.Err(), t.failure(), t.reason(err))
		t.stop()
		return nil, fmt.Errorf("begin with the browser: %w", err)
	}
	return t, nil
}

// reason returns why the browser ended if it has, in place of the error of a call.
func (t *tab) reason(err error) error {
	if t.ctx.Err() == nil && !errors.Is(err, context.Canceled) {
		return err
	}
	t.end() // the connection may be lost first
	<-t.gone
	return t.failure()
}

// prepare connects to the browser.
func (t *tab) prepare() error {
	// The first call of all has to live as long as the page.
	if err := chromedp.ListenBrowser(t.ctx, t.hearBrowser); err != nil {
		return err
	}
	if err := chromedp.Listen(t.ctx, t.hear); err != nil {
		return err
	}
	t.listenToConsole()
	return chromedp.Do(t.ctx, chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		at := chromedp.FromContext(ctx).Browser
		if _, err := cdp.Call(ctx, at, target.SetDiscoverTargets, target.SetDiscoverTargetsParams{Discover: true}); err != nil {
			return err
		}
		t.mu.Lock()
		t.id = tab.TargetID // what is there by now was not opened by a page
		t.mu.Unlock()
		if _, err := cdp.Call(ctx, at, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorDeny}); err != nil {
			return err
		}
		// chromedp follows the page's elements with calls, which never return if the page
		// prints thousands of lines at once.
		if _, err := cdp.Call(ctx, tab, dom.Disable, cdp.Empty{}); err != nil {
			return err
		}
		tree, err := cdp.Call(ctx, tab, page.GetFrameTree, cdp.Empty{})
		if err != nil {
			return err
		}
		t.mu.Lock()
		t.frame = tree.FrameTree.Frame.ID
		t.mu.Unlock()
		return resize(ctx, tab, usualWidth, usualHeight)
	}))
}

func resize(ctx context.Context, tab *chromedp.Target, width, height int) error {
	_, err := cdp.Call(ctx, tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: int64(width), Height: int64(height), DeviceScaleFactor: 1})
	return err
}

// watch ends a browser that takes too much memory, and notes its end.
func (t *tab) watch(memory int64) {
	defer close(t.gone)
	tick := time.NewTicker(t.times.memory)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if used := t.Memory(); used > memory {
				t.fail(fmt.Errorf("the browser took %d MB of memory, more than the %d MB that it may, and was ended: navigate again", used>>20, memory>>20))
				t.end()
			}
		case <-t.Done():
			t.fail(errors.New("the browser has ended by itself: navigate again"))
			t.leave()
			return
		}
	}
}

// fail notes why the browser is no use any more; the first reason counts.
func (t *tab) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

func (t *tab) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// stop ends the browser, and returns when nothing of it is left.
func (t *tab) stop() {
	t.fail(errors.New("the browser was closed: navigate again"))
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.end() // what chromedp waits for ends with the connection
	t.leave()
	t.process.stop()
	t.group.Wait()
}

// later runs what an event asks for beside it. The caller has the mutex.
func (t *tab) later(run func()) {
	if !t.over {
		t.group.Go(run) // ends with the page
	}
}

// dismiss answers a dialog, without which the page stands still. A page that asks whether
// it may be left is left.
func (t *tab) dismiss(kind page.DialogType) {
	_ = chromedp.Do(t.ctx, chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: kind == page.DialogTypeBeforeunload})
		return err
	}))
}

// hearBrowser closes windows that the page opens: only one page is watched.
func (t *tab) hearBrowser(event any) {
	opened, ok := event.(*target.EventTargetCreated)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !ok || opened.TargetInfo.Type != "page" || t.id == "" || opened.TargetInfo.TargetID == t.id {
		return
	}
	t.note("window", "the page opened another window, which was closed; navigate to its address if you need it: "+opened.TargetInfo.URL)
	t.later(func() {
		_ = chromedp.Do(t.ctx, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := cdp.Call(ctx, chromedp.FromContext(ctx).Browser, target.CloseTarget, target.CloseTargetParams{TargetID: opened.TargetInfo.TargetID})
			return err
		}))
	})
}

// do runs steps of a call, which end with it.
func (t *tab) do(ctx context.Context, run func(ctx context.Context, tab *chromedp.Target) error) error {
	within, cancel := context.WithTimeout(t.ctx, t.times.action)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	err := chromedp.Do(within, chromedp.Func(run))
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("the call was interrupted: %w", ctx.Err())
	case errors.Is(err, context.DeadlineExceeded): // no other page can be opened in its place
		t.fail(fmt.Errorf("the page did not answer within %s; its scripts may never end, so the browser was closed: navigate again", t.times.action))
		t.end()
		<-t.gone
	}
	return t.reason(err)
}

// settle waits until a page is at rest, which is when it requests and prints nothing for a
// while. It reports false if that takes too long.
func (t *tab) settle(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, t.times.settle)
	defer cancel()
	quiet := time.NewTimer(t.times.quiet)
	defer quiet.Stop()
	for {
		t.mu.Lock()
		busy, news := t.loading || len(t.inFlight) > 0, t.news
		t.mu.Unlock()
		var rest <-chan time.Time
		if !busy {
			quiet.Reset(t.times.quiet)
			rest = quiet.C
		}
		select {
		case <-rest:
			return true
		case <-news:
		case <-ctx.Done():
			return false
		case <-t.ctx.Done():
			return false
		}
	}
}

// navigate opens an address. The error says why the page is not shown.
func (t *tab) navigate(ctx context.Context, address string) error {
	t.mu.Lock()
	t.document = nil
	t.mu.Unlock()
	return t.do(ctx, func(ctx context.Context, tab *chromedp.Target) error {
		went, err := cdp.Call(ctx, tab, page.Navigate, page.NavigateParams{URL: address})
		if err != nil {
			return err
		}
		t.settle(ctx)
		t.mu.Lock()
		document := t.document
		t.mu.Unlock()
		refusal := ""
		if document != nil {
			refusal = t.refusal(document.url)
		}
		switch {
		case went.IsDownload:
			return errors.New("the address is a download, which the browser refuses: fetch it with a command")
		case refusal != "" && (went.ErrorText != "" || document.status == http.StatusForbidden):
			return fmt.Errorf("the page was not opened: %s. The browser reaches this computer from its own pages, and the hosts that the user allowed (sandbox.network)", refusal)
		case went.ErrorText != "":
			return fmt.Errorf("the page was not opened: %s", went.ErrorText)
		}
		return nil
	})
}

// refusal returns why the host of an address is not reached; empty if it was not refused.
func (t *tab) refusal(address string) string {
	to, err := parse(address)
	if err != nil {
		return ""
	}
	for _, clause := range t.proxy.Refused() {
		if strings.HasPrefix(clause, to.String()+" ") {
			return clause
		}
	}
	return ""
}

// evaluate runs an expression with the reader in its own world of the page.
func evaluate[T any](ctx context.Context, t *tab, tab *chromedp.Target, expression string) (out T, err error) {
	t.mu.Lock()
	frame := t.frame
	t.mu.Unlock()
	world, err := cdp.Call(ctx, tab, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: frame, WorldName: "reader"})
	if err != nil {
		return out, err
	}
	yes := true
	got, err := cdp.Call(ctx, tab, runtime.Evaluate, runtime.EvaluateParams{Expression: script + "\n;" + expression, ContextID: world.ExecutionContextID, ReturnByValue: &yes})
	switch {
	case err != nil:
		return out, err
	case got.ExceptionDetails != nil:
		return out, fmt.Errorf("the page cannot be read: %s", got.ExceptionDetails.Text)
	}
	return out, json.Unmarshal(got.Result.Value, &out)
}

func quoted(text string) string {
	out, _ := json.Marshal(text) // never fails
	return string(out)
}

// found is an element that a target meant, or why there is none.
type found struct {
	OK   bool    `json:"ok"`
	Why  string  `json:"why"`
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	Name string  `json:"name"`
	Kind string  `json:"kind"`
	Done bool    `json:"done"`
}

// click presses an element, and says which.
func (t *tab) click(ctx context.Context, wanted string) (el found, err error) {
	err = t.do(ctx, func(ctx context.Context, tab *chromedp.Target) error {
		if el, err = evaluate[found](ctx, t, tab, "reader.point("+quoted(wanted)+")"); err != nil {
			return err
		}
		if !el.OK {
			return errors.New(el.Why)
		}
		if _, err := chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, el.X, el.Y)(ctx, tab); err != nil {
			return err
		}
		if _, err := chromedp.MouseClickXY(el.X, el.Y)(ctx, tab); err != nil {
			return err
		}
		t.settle(ctx)
		return nil
	})
	return el, err
}

// fill fills in an element, and says which.
func (t *tab) fill(ctx context.Context, in Input) (el found, err error) {
	err = t.do(ctx, func(ctx context.Context, tab *chromedp.Target) error {
		if el, err = evaluate[found](ctx, t, tab, "reader.fill("+quoted(in.Target)+","+quoted(in.Text)+")"); err != nil {
			return err
		}
		if !el.OK {
			return errors.New(el.Why)
		}
		if !el.Done && in.Text == "" {
			_, err = chromedp.KeyEvent(kb.Delete)(ctx, tab)
		} else if !el.Done {
			_, err = cdp.Call(ctx, tab, input.InsertText, input.InsertTextParams{Text: in.Text})
		}
		if err == nil && in.Submit {
			_, err = chromedp.KeyEvent(kb.Enter)(ctx, tab)
		}
		if err == nil {
			t.settle(ctx)
		}
		return err
	})
	return el, err
}

// contents is what a page shows.
type contents struct {
	Title    string   `json:"title"`
	URL      string   `json:"url"`
	Text     string   `json:"text"`
	Length   int      `json:"length"`
	Elements []string `json:"elements"`
	Count    int      `json:"count"`
	Height   float64  `json:"height"`
}

func (t *tab) read(ctx context.Context, most int) (c contents, err error) {
	err = t.do(ctx, func(ctx context.Context, tab *chromedp.Target) error {
		c, err = evaluate[contents](ctx, t, tab, fmt.Sprintf("reader.read(%d)", most))
		return err
	})
	return c, err
}

// picture returns the page as a JPEG, and how much of its height is in it.
func (t *tab) picture(ctx context.Context, whole bool) (jpeg []byte, err error) {
	err = t.do(ctx, func(ctx context.Context, tab *chromedp.Target) error {
		grade := int64(quality)
		params := page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatJpeg, Quality: &grade}
		if whole {
			metrics, err := cdp.Call(ctx, tab, page.GetLayoutMetrics, cdp.Empty{})
			if err != nil {
				return err
			}
			yes, size := true, metrics.CSSContentSize
			params.CaptureBeyondViewport = &yes
			params.Clip = &page.Viewport{Width: min(size.Width, maxSize), Height: min(size.Height, maxHeight), Scale: 1}
		}
		shot, err := cdp.Call(ctx, tab, page.CaptureScreenshot, params)
		jpeg = shot.Data
		return err
	})
	return jpeg, err
}
