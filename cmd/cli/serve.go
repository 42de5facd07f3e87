package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/acp"
	"atelier.dev/atelier/backend/instance"
	"atelier.dev/atelier/backend/serve"
	"atelier.dev/atelier/cmd/cli/output"
	"atelier.dev/atelier/frontend"
)

// closePatience limits how long running turns may take to stop when the program
// ends.
const closePatience = 5 * time.Second

// untilInputEnds is the flag of servers that another process starts.
const untilInputEnds = "until-input-ends"

// serve serves a project to a browser until it is interrupted.
func (c *command) serve(args []string) int {
	flags := c.flags("atelier serve [DIR] [--addr 127.0.0.1:0]")
	addr := flags.String("addr", "127.0.0.1:0", "loopback address and port to listen on; port 0 picks a free one")
	tied := flags.Bool(untilInputEnds, false, "stop serving when the standard input ends, for a program that starts this one")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() > 1 {
		return c.misused(flags, "one folder at a time")
	}
	if err := loopbackOnly(*addr); err != nil {
		return c.misused(flags, err.Error())
	}
	folder, home, err := c.places(flags.Arg(0))
	if err != nil {
		return c.fail(err)
	}
	inst, code := c.acquire(home, folder, instance.URL)
	if inst == nil {
		return code
	}
	defer inst.Close()
	defer c.logTo(home)()
	if *tied {
		ctx, leave := context.WithCancel(c.ctx)
		defer leave()
		c.ctx = ctx
		c.endWithInput(leave)
	}
	cfg := c.config(folder, home)
	cfg.OpenProject = elsewhere{home: home, browser: true}.Open
	app, err := openForSessions(c.ctx, cfg, "")
	if err != nil {
		return c.fail(err)
	}
	err = c.listen(app, inst, *addr)
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	if err = errors.Join(err, app.Close(ctx)); err != nil {
		return c.fail(err)
	}
	return exitDone
}

// listen serves app until the command is interrupted.
func (c *command) listen(app *app, inst *instance.Instance, addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return backend.Problem(backend.ProblemListen, addr).Because(err)
	}
	pages := serve.New(c.ctx, app, frontend.Assets())
	inst.Serve(func(req instance.Request) instance.Reply {
		if req.Do == instance.Stop {
			return req.StopWith(func(method, args string) string { return app.Call(c.ctx, method, args) })
		}
		return instance.Reply{URL: pages.URL(listener.Addr())}
	})
	fmt.Fprintln(c.out, pages.URL(listener.Addr()))
	return pages.Serve(listener)
}

// loopbackOnly refuses addresses that other machines could reach.
func loopbackOnly(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("--addr needs an address and a port, like 127.0.0.1:0")
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("--addr must be a loopback address such as 127.0.0.1; to reach it from elsewhere, forward the port over SSH")
	}
	return nil
}

// serveEditor serves an editor that speaks the Agent Client Protocol over the standard input
// and output, until it leaves.
func serveEditor(c *command, args []string) int {
	flags := c.flags("atelier acp")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() > 0 {
		return c.misused(flags, "the editor names the folders")
	}
	if err := speakWithEditor(c); err != nil {
		return c.fail(err)
	}
	return exitDone
}

func speakWithEditor(c *command) error {
	home, err := c.home()
	if err != nil {
		return err
	}
	defer c.logTo(home)()
	dir, err := os.MkdirTemp("", "atelier-acp-")
	if err != nil {
		return fmt.Errorf("make a folder for an editor's servers: %w", err)
	}
	cfg := acp.Config{Version: Version, Dir: dir, Open: func(ctx context.Context, folder string, observe func(agent.Event)) (acp.Host, error) {
		folder, home, err := c.places(folder)
		if err != nil {
			return nil, err
		}
		cfg := c.config(folder, home)
		cfg.Observe = observe
		return newApp(ctx, cfg)
	}}
	in, stop := ending(c.ctx, c.in)
	defer stop()
	out := c.out
	if p, ok := out.(*output.Plain); ok { // a program reads it, and exactly
		out = p.Out
	}
	return errors.Join(acp.Serve(c.ctx, cfg, in, out), os.RemoveAll(dir))
}
