package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/network"
)

// site is a page such as those that people build: a form, a script and a request.
const site = `<!doctype html><title>Shop</title>
<h1>Tea and cups</h1>
<form onsubmit="event.preventDefault(); document.querySelector('#said').textContent = 'Ordered ' + q.value + ' in ' + size.value; console.log('ordered', q.value)">
<label>What <input id=q value=old></label>
<label>Size <select id=size><option>small<option>large</select></label>
<label>Day <input id=day type=date></label>
<label>Secret <input type=password value=hunter2></label>
<button>Order</button>
<button type=button disabled>Pay</button>
</form>
<p id=said></p>
<button onclick="fetch('/missing').then(() => console.error('it is missing'))">Ask</button>
<button onclick="alert('Really?'); document.querySelector('#said').textContent = 'after the alert'">Alarm</button>
<button onclick="throw new Error('broken script')">Break</button>
<a href="/two" target=_blank>New window</a>
<a href="/two">Second page</a>
<a href="/far">Far away</a>
<a href="/file.zip">Get the file</a>
<div style="position:relative"><button>Covered</button><div style="position:absolute;inset:0;background:#fff">Please accept</div></div>
<div style="height:3000px"></div>
<button onclick="for (;;) {}">Hang</button>`

// serve serves the site; other paths answer as their names say.
func serve(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, site) })
	mux.HandleFunc("/two", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<title>Two</title>The second page") })
	mux.HandleFunc("/far", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://far.example/secret", http.StatusFound)
	})
	mux.HandleFunc("/gone", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such thing", http.StatusGone) })
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<title>Slow</title>at once"+strings.Repeat(" ", 4096))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/file.zip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", "attachment")
		w.Header().Set("Content-Type", "application/zip")
		fmt.Fprint(w, "PK")
	})
	mux.HandleFunc("/flood", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<title>Flood</title><script>for (let i = 0; i < 5000; i++) console.log('line', i); document.write('<p>'+'word '.repeat(50000))</script>`)
	})
	mux.HandleFunc("/hold", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `<script>for (;;) {}</script>`) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// with returns a browser; the test is skipped where no Chromium is installed.
func with(t *testing.T, cfg Config) *Browser {
	t.Helper()
	if _, err := find(os.Environ()); errors.Is(err, ErrNone) {
		t.Skip("no Chromium is installed")
	}
	b := New(cfg)
	t.Cleanup(b.Close)
	return b
}

// call runs a call as the loop does.
func call(t *testing.T, b *Browser, in Input) agent.Result {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := Tool(b).(agent.Validator).Validate(raw); err != nil {
		t.Fatalf("%+v: %v", in, err)
	}
	return Tool(b).Run(t.Context(), agent.Invocation{Input: raw})
}

// One test of a page from the first look to the last: the browser is started once.
func TestAPageIsUsed(t *testing.T) {
	t.Parallel()
	s, b := serve(t), with(t, Config{})
	local := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	first := call(t, b, Input{Action: Navigate, URL: local + "/"})
	for _, want := range []string{"Title: Shop", "URL: " + local, "Tea and cups", `field "What" (has "old")`, `list "Size" (has "small", options: small, large)`, `button "Pay" (disabled)`, "has a password", `link "Second page"`} {
		if first.IsError || !strings.Contains(first.Output, want) {
			t.Fatalf("the first look is without %q:\n%s", want, first.Output)
		}
	}
	if strings.Contains(first.Output, "hunter2") || strings.Contains(first.Output, "New errors") {
		t.Errorf("the first look:\n%s", first.Output)
	}
	if len(first.Media) != 1 {
		t.Fatalf("%d pictures", len(first.Media))
	}
	if p, err := jpeg.Decode(bytes.NewReader(first.Media[0].Data)); err != nil || p.Bounds().Dx() != 1280 || p.Bounds().Dy() != 800 {
		t.Errorf("the picture: %v, %v", p.Bounds(), err)
	}
	for _, tt := range []struct {
		name   string
		in     Input
		want   string
		failed bool
	}{
		{"a field by its label", Input{Action: Type, Target: "What", Text: "青茶"}, `has "青茶"`, false},
		{"a list", Input{Action: Type, Target: "Size", Text: "large"}, `has "large"`, false},
		{"a list without the option", Input{Action: Type, Target: "Size", Text: "huge"}, "no option of that name; it has small, large", true},
		{"a date", Input{Action: Type, Target: "#day", Text: "2026-11-28"}, `has "2026-11-28"`, false},
		{"no date", Input{Action: Type, Target: "#day", Text: "tomorrow"}, "does not take that text", true},
		{"a button by its name", Input{Action: Click, Target: "Order"}, "Ordered 青茶 in large", false},
		{"Enter", Input{Action: Type, Target: "#q", Text: "mint", Submit: true}, "Ordered mint in large", false},
		{"an empty field", Input{Action: Type, Target: "#q", Text: "", Submit: true}, "Ordered in large", false},
		{"a request that fails", Input{Action: Click, Target: "Ask"}, "404 (fetch)", false},
		{"an alert", Input{Action: Click, Target: "Alarm"}, "after the alert", false},
		{"an error", Input{Action: Click, Target: "Break"}, "broken script", false},
		{"another window", Input{Action: Click, Target: "New window"}, "opened another window, which was closed", false},
		{"the log", Input{Action: Console}, "log: ordered mint", false},
		{"the dialog in the log", Input{Action: Console}, `dialog: alert "Really?"`, false},
		{"the requests", Input{Action: Requests}, "/missing 404", false},
		{"a disabled button", Input{Action: Click, Target: "Pay"}, "The element is disabled", true},
		{"a covered button", Input{Action: Click, Target: "Covered"}, `lies over the element`, true},
		{"no such element", Input{Action: Click, Target: "Nowhere"}, "o element has that name", true},
		{"no such number", Input{Action: Click, Target: "[999]"}, "here is no element [999]", true},
		{"no selector", Input{Action: Click, Target: "#a >> b"}, "no CSS selector", true},
		{"two of one name", Input{Action: Click, Target: "e"}, "elements have that name", true},
		{"a field that is none", Input{Action: Type, Target: "Order", Text: "x"}, "click it", true},
		{"a number", Input{Action: Read}, "[1] field", false},
		{"a field by its number", Input{Action: Type, Target: "[1]", Text: "again"}, `has "again"`, false},
		{"a redirect to another computer", Input{Action: Click, Target: "Far away"}, "far.example", false},
		{"an address that is gone", Input{Action: Navigate, URL: s.URL + "/gone"}, "Status: 410", false},
		{"a redirect at once", Input{Action: Navigate, URL: s.URL + "/far"}, "The page was not opened: far.example:80 is not in allowedDomains", true},
		{"a download", Input{Action: Navigate, URL: s.URL + "/file.zip"}, "is a download", true},
		{"another page", Input{Action: Navigate, URL: s.URL + "/two"}, "The second page", false},
		{"the end", Input{Action: Close}, "closed", false},
		{"after the end", Input{Action: Read}, "No page is open", true},
	} {
		got := call(t, b, tt.in)
		if got.IsError != tt.failed || !strings.Contains(got.Output, tt.want) {
			t.Errorf("%s: failed %t, without %q:\n%s", tt.name, got.IsError, tt.want, got.Output)
		}
	}
}

// A whole page, and that of a phone.
func TestPictures(t *testing.T) {
	t.Parallel()
	s, b := serve(t), with(t, Config{})
	call(t, b, Input{Action: Navigate, URL: s.URL, Width: 390, Height: 844})
	for in, want := range map[Input][2]int{
		{Action: Screenshot}:                           {390, 844},
		{Action: Screenshot, FullPage: true}:           {390, 3000},
		{Action: Screenshot, Width: 1000, Height: 400}: {1000, 400},
	} {
		in.Width, in.Height = max(in.Width, want[0]), max(in.Height, min(want[1], 844))
		got := call(t, b, in)
		if got.IsError || len(got.Media) != 1 {
			t.Fatalf("%+v: %+v", in, got)
		}
		p, err := jpeg.Decode(bytes.NewReader(got.Media[0].Data))
		if err != nil || p.Bounds().Dx() != want[0] || p.Bounds().Dy() < want[1] {
			t.Errorf("%+v: %v, %v", in, p.Bounds(), err)
		}
	}
}

// What a browser reaches: this computer from its own pages, and the hosts that are allowed,
// judged by where their names lead.
func TestReach(t *testing.T) {
	t.Parallel()
	s := serve(t)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan string, 100)
	b := with(t, Config{
		Hosts: func(context.Context) (network.Settings, error) {
			return network.Settings{AllowedDomains: []string{"shop.example:" + u.Port(), "evil.example:*"}, DeniedDomains: []string{"bad.example"}}, nil
		},
		Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			asked <- name
			if name == "evil.example" {
				return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		},
	})
	for _, tt := range []struct{ url, want string }{
		{"http://other.example/", "other.example:80 is not in allowedDomains"},
		{"https://other.example/", "other.example:443 is not in allowedDomains"},
		{"http://bad.example/", "bad.example:80 is in deniedDomains"},
		{"http://evil.example/latest/meta-data", "evil.example:80 leads to an address that is not public"},
		{"http://169.254.169.254/", "169.254.169.254:80 is not in allowedDomains"},
		{"http://shop.example:" + u.Port() + "/", "leads to this computer"},
	} {
		got := call(t, b, Input{Action: Navigate, URL: tt.url})
		if !got.IsError || !strings.Contains(got.Output, tt.want) {
			t.Errorf("%s: %t\n%s", tt.url, got.IsError, got.Output)
		}
	}
	// A page of this computer cannot steer the browser that shows it.
	if got := call(t, b, Input{Action: Navigate, URL: s.URL}); got.IsError {
		t.Fatal(got.Output)
	}
	steer, err := url.Parse(b.current().url)
	if err != nil {
		t.Fatal(err)
	}
	got := call(t, b, Input{Action: Navigate, URL: "http://localhost:" + steer.Port() + "/json/version"})
	if !got.IsError || !strings.Contains(got.Output, "is in deniedDomains") {
		t.Errorf("the browser's own port: %s", got.Output)
	}
}

// Pages that never rest, never end or print without end, and a browser that dies.
func TestTrouble(t *testing.T) {
	t.Parallel()
	limits := usual
	limits.settle, limits.action = 2*time.Second, 20*time.Second
	s, b := serve(t), with(t, Config{times: limits})
	if got := call(t, b, Input{Action: Navigate, URL: s.URL + "/slow"}); got.IsError || !strings.Contains(got.Output, "still loads") || !strings.Contains(got.Output, "at once") {
		t.Errorf("a page that never ends: %s", got.Output)
	}
	got := call(t, b, Input{Action: Navigate, URL: s.URL + "/flood"})
	if got.IsError || len(got.Output) > 3*maxGlance || !strings.Contains(got.Output, "The text has 2") {
		t.Errorf("a long page: %d characters, %.500s", len(got.Output), got.Output)
	}
	for got = call(t, b, Input{Action: Console}); !strings.Contains(got.Output, "line 4999") && b.current().failure() == nil; got = call(t, b, Input{Action: Console}) {
		b.current().settle(t.Context())
	}
	if strings.Count(got.Output, "\n") != maxLog || !strings.Contains(got.Output, "The newest 100 of 5000 lines") {
		t.Errorf("a long log: %.300s", got.Output)
	}
	if got := call(t, b, Input{Action: Navigate, URL: s.URL + "/hold"}); !got.IsError || !strings.Contains(got.Output, "did not answer within") {
		t.Errorf("a script without end: %s", got.Output)
	}
	if got := call(t, b, Input{Action: Navigate, URL: s.URL + "/two"}); got.IsError || !strings.Contains(got.Output, "second page") {
		t.Errorf("after it: %s", got.Output)
	}
	folder, pid := b.current().folder, b.current().PID()
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	<-b.current().Done()
	if got := call(t, b, Input{Action: Read}); !got.IsError || !strings.Contains(got.Output, "navigate again") {
		t.Errorf("after its end: %s", got.Output)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder is left: %v", err)
	}
	if got := call(t, b, Input{Action: Navigate, URL: s.URL + "/two"}); got.IsError {
		t.Errorf("the next one: %s", got.Output)
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Tool(b).Run(interrupted, agent.Invocation{Input: json.RawMessage(`{"action":"read"}`)}); !got.IsError {
		t.Errorf("an interrupted call: %+v", got)
	}
}

// A browser ends when nobody needs it, when it takes too much memory, and with the session.
func TestEnds(t *testing.T) {
	t.Parallel()
	s, b := serve(t), with(t, Config{Idle: time.Millisecond})
	if got := call(t, b, Input{Action: Navigate, URL: s.URL + "/two"}); got.IsError {
		t.Fatal(got.Output)
	}
	if at := b.current(); at != nil {
		<-at.Done()
	}
	limits := usual
	limits.memory = time.Millisecond
	greedy := with(t, Config{Memory: 1, times: limits})
	got := call(t, greedy, Input{Action: Navigate, URL: s.URL + "/two"})
	if !got.IsError { // it was ended after the page was shown
		<-greedy.current().Done()
		got = call(t, greedy, Input{Action: Read})
	}
	if !got.IsError || !strings.Contains(got.Output, "MB of memory") {
		t.Errorf("a browser that takes too much: %s", got.Output)
	}
	closed := with(t, Config{})
	call(t, closed, Input{Action: Navigate, URL: s.URL + "/two"})
	at := closed.current()
	closed.Close()
	closed.Close()
	if _, err := os.Stat(at.folder); at.failure() == nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the session: %v, %v", at.failure(), err)
	}
	if got := call(t, closed, Input{Action: Navigate, URL: s.URL}); !got.IsError || !strings.Contains(got.Output, "session ends") {
		t.Errorf("after the session: %s", got.Output)
	}
}

// Without a browser, and with a program that is none.
func TestNoBrowser(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("false")
	if err != nil {
		t.Skip(err)
	}
	for environ, want := range map[string]string{"CHROME_PATH=/nowhere/chrome": "is no program", "CHROME_PATH=" + program: "ended at once"} {
		b := New(Config{Environ: func() []string { return []string{environ} }})
		if got := call(t, b, Input{Action: Navigate, URL: "http://localhost:1/"}); !got.IsError || !strings.Contains(got.Output, want) {
			t.Errorf("%s: %s", environ, got.Output)
		}
		b.Close()
	}
}

// What is wrong with a call is said before anybody is asked about it.
func TestInput(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"action":"navigate","url":"http://localhost:5173/a?b#c"}`:                      "",
		`{"action":"navigate","url":"localhost:5173"}`:                                   "whole address",
		`{"action":"navigate"}`:                                                          "whole address",
		`{"action":"navigate","url":"file:///etc/passwd"}`:                               "http://",
		`{"action":"navigate","url":"javascript:alert(1)"}`:                              "http://",
		`{"action":"navigate","url":"http://a:b@localhost/"}`:                            "leave them out",
		`{"action":"navigate","url":"http://localhost:99999/"}`:                          "port",
		`{"action":"navigate","url":"http://2130706433/"}`:                               "cannot be opened",
		`{"action":"navigate","url":"http://localhost/","width":1}`:                      "200 to 3000",
		`{"action":"click"}`:                                                             "takes a target",
		`{"action":"type","text":"a"}`:                                                   "takes a target",
		`{"action":"dance"}`:                                                             "no action",
		`{"action":"type","target":"a","text":"` + strings.Repeat("a", maxText+1) + `"}`: "characters",
		`{"action":"close"}`:                                                             "",
	} {
		err := Tool(New(Config{})).(agent.Validator).Validate(json.RawMessage(in))
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %v, want %q", in, err, want)
		}
	}
}

// The gate is asked for the host that a call has the browser ask.
func TestAccess(t *testing.T) {
	t.Parallel()
	s, b := serve(t), with(t, Config{})
	access := func(in string) agent.Access {
		return Tool(b).(agent.Accessor).Access(t.Context(), json.RawMessage(in))
	}
	if got := access(`{"action":"navigate","url":"https://GO.dev/x"}`); got.Web != "go.dev" {
		t.Errorf("navigate: %+v", got)
	}
	if got := access(`{"action":"click","target":"1"}`); !got.Own {
		t.Errorf("a click on nothing: %+v", got)
	}
	if got := call(t, b, Input{Action: Navigate, URL: s.URL}); got.IsError {
		t.Fatal(got.Output)
	}
	if got := access(`{"action":"click","target":"1"}`); got.Web != "127.0.0.1" || got.Own {
		t.Errorf("a click: %+v", got)
	}
	if got := access(`{"action":"console"}`); !got.Own || got.Web != "" {
		t.Errorf("a look: %+v", got)
	}
	for _, profile := range []string{"anthropic", "openai", "gemini", "spec"} {
		raw, err := Tool(b).Spec().Bindings[profile][0].Input(json.RawMessage(`{"action":"click","selector":"#a"}`))
		if err != nil || !strings.Contains(string(raw), `"target":"#a"`) {
			t.Errorf("%s: %s, %v", profile, raw, err)
		}
	}
}
