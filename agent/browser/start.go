package browser

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/agent/network/proxy"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/internal/outbound"
	"atelier.dev/atelier/internal/text"
)

// programs are the names of browsers that speak the DevTools protocol, and the paths where
// they are installed without a name on PATH.
var programs = map[string][]string{
	"": strings.Fields("chromium chromium-browser google-chrome google-chrome-stable chrome chromium-headless-shell headless_shell microsoft-edge microsoft-edge-stable brave-browser"),
	"darwin": {
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium",
		"/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge", "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
	},
	"windows": {
		`C:\Program Files\Google\Chrome\Application\chrome.exe`, `C:\Program Files (x86)\Google\Chrome\Application\chrome.exe`,
		`C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe`, `C:\Program Files\Microsoft\Edge\Application\msedge.exe`,
	},
}

// find returns the path of an installed browser. The variable CHROME_PATH comes first.
func find(environ []string) (string, error) {
	for _, v := range environ {
		if path, ok := strings.CutPrefix(v, "CHROME_PATH="); ok && path != "" {
			if _, err := os.Stat(sandbox.LookPath(path)); err == nil {
				return sandbox.LookPath(path), nil
			}
			return "", fmt.Errorf("the variable CHROME_PATH names %s, which is no program", path)
		}
	}
	for _, name := range append(programs[""], programs[runtime.GOOS]...) {
		found := sandbox.LookPath(name)
		if _, err := os.Stat(found); found != "" && err == nil {
			return found, nil
		}
	}
	return "", ErrNone
}

// arguments are those of every start. All requests go through the proxy, also those for
// this computer, and the browser itself looks up no name and sends nothing of its own accord.
func arguments(folder, proxyAddress string) []string {
	args := []string{
		"--headless=new", "--remote-debugging-port=0", "--user-data-dir=" + folder,
		"--proxy-server=http://" + proxyAddress, "--proxy-bypass-list=<-loopback>",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"--disable-quic", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-domain-reliability", "--no-pings",
		"--disable-extensions", "--disable-default-apps", "--no-first-run", "--no-default-browser-check",
		"--disable-breakpad", "--disable-crash-reporter", "--metrics-recording-only", "--disable-dev-shm-usage",
		"--disable-features=Translate,MediaRouter,OptimizationHints,DialMediaRouteProvider",
		"--disable-popup-blocking", "--deny-permission-prompts", "--mute-audio", "--hide-scrollbars", "--password-store=basic", "--use-mock-keychain",
	}
	if os.Geteuid() == 0 { // for which Chromium has no sandbox, as in a container
		args = append(args, "--no-sandbox")
	}
	return append(args, "about:blank")
}

// announced is how a browser says where it listens.
var announced = regexp.MustCompile(`DevTools listening on (ws://127\.0\.0\.1:\d+/\S+)`)

// address waits for what a browser prints at its start.
type address struct {
	mu      sync.Mutex
	printed string
	found   chan struct{}
	url     string
}

func (a *address) print(output string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.url != "" || len(a.printed) > 64<<10 {
		return
	}
	a.printed += output
	if match := announced.FindStringSubmatch(a.printed); match != nil && strings.HasSuffix(a.printed, "\n") {
		a.url = match[1]
		close(a.found)
	}
}

// process is a browser that runs, with its way out.
type process struct {
	*sandbox.Process
	folder string
	end    context.CancelFunc
	listen net.Listener
	proxy  *proxy.Proxy
	served sync.WaitGroup
	url    string
}

// launch starts a browser.
func (b *Browser) launch(ctx context.Context, want reach) (*process, error) {
	environ := b.cfg.Environ()
	program, err := find(environ)
	if err != nil {
		return nil, err
	}
	p := &process{}
	if p.folder, err = os.MkdirTemp("", "atelier-browser-"); err != nil {
		return nil, fmt.Errorf("make a folder for the browser: %w", err)
	}
	var life context.Context
	life, p.end = context.WithCancel(context.Background())
	if p.listen, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		p.stop()
		return nil, fmt.Errorf("listen for the browser: %w", err)
	}
	at := &address{found: make(chan struct{})}
	p.Process, err = sandbox.Start(life, sandbox.Spec{
		Argv: append([]string{program}, arguments(p.folder, p.listen.Addr().String())...), Dir: p.folder,
		Env: sandbox.Filter{}.Apply(environ), Merge: true, Whole: true, Limit: 16 << 10, Output: at.print,
	})
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("start %s: %w", filepath.Base(program), err)
	}
	patience := time.NewTimer(b.cfg.times.start)
	defer patience.Stop()
	select {
	case <-at.found:
	case <-p.Done():
		result, _ := p.Wait(context.Background())
		err = fmt.Errorf("%s ended at once: %s", filepath.Base(program), text.Shorten(strings.TrimSpace(result.Stdout), 500))
	case <-patience.C:
		err = fmt.Errorf("%s was not ready within %s", filepath.Base(program), b.cfg.times.start)
	case <-ctx.Done():
		err = ctx.Err()
	case <-b.life.Done():
		err = ErrClosed
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	u, err := url.Parse(at.url)
	if err != nil {
		p.stop()
		return nil, errors.New("the browser gave an address that cannot be read")
	}
	p.url = at.url
	p.proxy = proxy.New(network.Dialer{Why: outbound.Browser, Rules: want.rules(u.Port()), Lookup: b.cfg.Lookup})
	p.served.Go(func() { p.proxy.Serve(p.listen) }) // ends with the listener
	return p, nil
}

// stop ends a browser and removes what it kept.
func (p *process) stop() {
	p.end()
	if p.listen != nil {
		_ = p.listen.Close()
	}
	if p.Process != nil {
		<-p.Done()
	}
	p.served.Wait()
	_ = os.RemoveAll(p.folder) // in the folder for what is temporary
}
