package share

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend"
)

// program is one that makes a tunnel. It prints the address of the tunnel.
type program struct {
	name    string
	argv    func(port int) []string
	address *regexp.Regexp // its first group is the host
}

// programs are those that are known, the preferred one first.
var programs = []program{
	{
		name:    "cloudflared",
		argv:    func(port int) []string { return []string{"tunnel", "--no-autoupdate", "--url", target(port)} },
		address: regexp.MustCompile(`https://([a-z0-9-]+\.trycloudflare\.com)`),
	},
	{
		name: "ngrok",
		argv: func(port int) []string {
			return []string{"http", target(port), "--log", "stdout", "--log-format", "json"}
		},
		address: regexp.MustCompile(`"url":"https://([A-Za-z0-9.-]{4,200})"`),
	},
}

const (
	tunnelPatience = 30 * time.Second // until a tunnel has an address
	maxPrinted     = 64 << 10         // bytes of its output in which the address is looked for
)

func target(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

// tunnelProgram returns the program on PATH that makes tunnels; the zero value if there is none.
func tunnelProgram() program {
	for _, p := range programs {
		if sandbox.LookPath(p.name) != "" {
			return p
		}
	}
	return program{}
}

// tunnel starts a tunnel to the share and returns its host. The end of the tunnel is that of
// the share, and the other way round.
func (s *share) tunnel(ctx context.Context, port int) (host string, err error) {
	by := tunnelProgram()
	if by.name == "" {
		return "", backend.Problem(backend.ProblemShareTunnel)
	}
	found := make(chan string, 1)
	var mu sync.Mutex
	var printed strings.Builder
	look := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if printed.Len() > maxPrinted {
			return
		}
		printed.WriteString(text)
		if m := by.address.FindStringSubmatch(printed.String()); m != nil {
			select {
			case found <- m[1]:
			default:
			}
		}
	}
	process, err := sandbox.Start(s.ctx, sandbox.Spec{Argv: append([]string{sandbox.LookPath(by.name)}, by.argv(port)...), Merge: true, Output: look, Limit: 16 << 10, Whole: true})
	if err != nil {
		return "", backend.Problem(backend.ProblemShareTunnelFailed, by.name).Because(err)
	}
	s.jobs.Go(func() {
		<-process.Done() // ends with the share's context at the latest
		s.stop(EndTunnel)
	})
	timer := time.NewTimer(tunnelPatience)
	defer timer.Stop()
	select {
	case host = <-found:
		s.mu.Lock()
		s.host = host
		s.mu.Unlock()
		return host, nil
	case <-process.Done():
	case <-timer.C:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	mu.Lock()
	defer mu.Unlock()
	said := sandbox.Redact(printed.String())
	return "", backend.Problem(backend.ProblemShareTunnelFailed, by.name).Detailed(said[max(0, len(said)-2_000):])
}
