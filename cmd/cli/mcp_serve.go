package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/mcp/serve"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/cmd/cli/output"
)

const (
	// maxClients limits the clients that call tools at a time.
	maxClients = 32
	// maxShown limits what a question shows of a call, in bytes.
	maxShown = 4000
	// headerTime is how long an HTTP client may take to send its request's head.
	headerTime = 10 * time.Second
)

// serveInstructions tell a client's model what it is offered.
const serveInstructions = `These are the tools of Atelier, which work in one project folder. Paths may be relative to it.
A call that changes something may be refused, or wait until the user has allowed it. run_agent gives a whole task to an agent that works by itself and reports.`

// serveFlags are the flags of atelier mcp serve.
type serveFlags struct {
	folder, addr, mode string
	overHTTP           bool
	trustHooks         bool
	trustServers       bool
	run                runFlags // what they share with atelier run
}

// serveTools offers Atelier's tools to a client of the Model Context Protocol.
func (c *command) serveTools(args []string) int {
	var f serveFlags
	flags := c.flags("atelier mcp serve [flags] [DIR]")
	flags.BoolVar(&f.overHTTP, "http", false, "serve Streamable HTTP instead of the standard input and output, and print address and token")
	flags.StringVar(&f.addr, "addr", "127.0.0.1:0", "loopback address and port for --http; port 0 picks a free one")
	flags.StringVar(&f.mode, "permission-mode", string(agent.ModeDefault), "default, plan, acceptEdits, auto, dontAsk or bypassPermissions; what a person has to decide is asked of the client's user, if the client can ask")
	flags.StringSliceVar(&f.run.allowed, "allowed-tools", nil, "tools that run without asking, or rules such as \"Bash(go test *)\"")
	flags.StringSliceVar(&f.run.disallowed, "disallowed-tools", nil, "tools that never run, or rules such as \"Read(secrets/**)\"")
	flags.BoolVar(&f.run.readOnly, "read-only", false, "change nothing: files are not written, and commands run only if they can be kept from writing")
	flags.BoolVar(&f.trustHooks, "trust-hooks", false, "trust the project's hooks as they stand there now, while it serves")
	flags.BoolVar(&f.trustServers, "trust-servers", false, "trust the project's MCP servers as they stand there now, while it serves")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() > 1 {
		return c.misused(flags, "one folder at a time")
	}
	f.folder = flags.Arg(0)
	if !slices.Contains(agent.Modes(), agent.Mode(f.mode)) {
		return c.misused(flags, fmt.Sprintf("there is no permission mode %q", f.mode))
	}
	if err := loopbackOnly(f.addr); err != nil {
		return c.misused(flags, err.Error())
	}
	if err := c.offerTools(&f); err != nil {
		return c.fail(err)
	}
	return exitDone
}

// offerTools opens the application and serves its tools until the client leaves, or
// the command is interrupted.
func (c *command) offerTools(f *serveFlags) error {
	folder, home, err := c.places(f.folder)
	if err != nil {
		return err
	}
	defer c.logTo(home)()
	cfg := c.config(folder, home)
	cfg.ReadOnly = f.run.readOnly
	if cfg.Rules, cfg.RunRules, err = f.run.rules(); err != nil {
		return err
	}
	app, err := newApp(c.ctx, cfg)
	if err != nil {
		return err
	}
	clients := &clients{app: app, mode: agent.Mode(f.mode), byID: map[string]*client{}}
	if err = c.tellOfRules(app, cfg.RunRules); err == nil {
		err = c.settleHooks(app, f.trustHooks)
	}
	if err == nil {
		err = c.settleServers(app, f.trustServers)
	}
	if err == nil {
		err = c.serveClients(clients, f)
	}
	clients.close()
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	return errors.Join(err, app.Close(ctx))
}

// serveClients serves one client over the standard input and output, or many over
// HTTP.
func (c *command) serveClients(all *clients, f *serveFlags) error {
	specs, err := all.tools()
	if err != nil {
		return err
	}
	server := serve.New(serve.Config{
		Name: "atelier", Version: Version, Instructions: serveInstructions, Tools: specs, Call: all.call, Left: all.left,
	})
	defer server.Close()
	if f.overHTTP {
		return c.serveHTTP(server, f.addr)
	}
	in, stop := ending(c.ctx, c.in)
	defer stop()
	out := c.out
	if p, ok := out.(*output.Plain); ok { // a program reads it, and exactly
		out = p.Out
	}
	if err := server.Serve(c.ctx, in, out); err != nil && c.ctx.Err() == nil {
		return fmt.Errorf("serve tools: %w", err)
	}
	return nil
}

// ending returns a reader that ends with ctx, even while a read waits. Stop frees
// its goroutine once the input has ended.
func ending(ctx context.Context, in io.Reader) (_ io.Reader, stop func()) {
	r, w := io.Pipe()
	go func() { // ends with the input, or with the program
		_, err := io.Copy(w, in)
		_ = w.CloseWithError(err)
	}()
	release := context.AfterFunc(ctx, func() { _ = w.Close() })
	return r, func() { release(); _ = r.Close() }
}

// serveHTTP serves until the command is interrupted.
func (c *command) serveHTTP(server *serve.Server, addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return backend.Problem(backend.ProblemListen, addr).Because(err)
	}
	token := rand.Text()
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.Handler(token))
	web := &http.Server{Handler: mux, ReadHeaderTimeout: headerTime}
	defer context.AfterFunc(c.ctx, func() { _ = web.Close() })()
	fmt.Fprintf(c.out, "http://%s/mcp\nAuthorization: Bearer %s\n", listener.Addr(), token)
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve tools: %w", err)
	}
	return nil
}

// clients are the programs that call tools, each in a session of its own.
type clients struct {
	app  *app
	mode agent.Mode
	mu   sync.Mutex
	byID map[string]*client
}

// client is one of them.
type client struct {
	*workbench.Caller
	// asks are the calls that can ask the client's user, the newest last.
	mu   sync.Mutex
	asks []*asker
}

// asker asks the user of a client while one of its calls runs.
type asker struct {
	ask func(context.Context, serve.Question) (serve.Answer, error)
}

// offered are the names under which clients see tools, where they differ.
var offered = map[string]string{"RunAgent": "run_agent"}

// tools lists what clients are offered.
func (a *clients) tools() ([]serve.Tool, error) {
	caller := a.app.NewCaller("", a.mode, nil)
	defer caller.Close()
	specs, err := caller.Tools()
	if err != nil {
		return nil, err
	}
	out := make([]serve.Tool, len(specs))
	for i, s := range specs {
		out[i] = serve.Tool{Name: offered[s.Name], Spec: s}
	}
	return out, nil
}

// begin returns the client of a call, which can be asked by it until end is called.
func (a *clients) begin(who serve.Client, by *asker) (c *client, err error) {
	a.mu.Lock()
	c, left := a.byID[who.ID], (*client)(nil)
	if c == nil && len(a.byID) >= maxClients {
		if left = a.dropIdle(); left == nil {
			err = errors.New("too many clients call tools at a time; close one of them first")
		}
	}
	if c == nil && err == nil {
		c = &client{}
		c.Caller = a.app.NewCaller(who.Name, a.mode, c.decide)
		a.byID[who.ID] = c
	}
	if c != nil {
		c.mu.Lock()
		c.asks = append(c.asks, by)
		c.mu.Unlock()
	}
	a.mu.Unlock()
	if left != nil {
		left.Close()
	}
	return c, err
}

// dropIdle takes out a client without a call under way; nil if there is none.
// Clients of the newest protocol do not say that they leave; one that comes back gets
// another session.
func (a *clients) dropIdle() *client {
	for id, c := range a.byID {
		if c.idle() {
			delete(a.byID, id)
			return c
		}
	}
	return nil
}

// end says that a call has ended.
func (c *client) end(by *asker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks = slices.DeleteFunc(c.asks, func(other *asker) bool { return other == by })
}

func (c *client) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.asks) == 0
}

// left ends the session of a client that has left.
func (a *clients) left(id string) {
	a.mu.Lock()
	c := a.byID[id]
	delete(a.byID, id)
	a.mu.Unlock()
	if c != nil {
		c.Close()
	}
}

// close ends all sessions.
func (a *clients) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, c := range a.byID {
		c.Close()
		delete(a.byID, id)
	}
}

// call runs a call.
func (a *clients) call(ctx context.Context, call serve.Call) agent.Result {
	asks := &asker{call.Ask}
	c, err := a.begin(call.Client, asks)
	if err != nil {
		return agent.Fail(err.Error())
	}
	defer c.end(asks)
	end, err := c.Call(ctx, call.Tool, call.Input, call.Output)
	if err != nil {
		return agent.Fail(err.Error())
	}
	output := end.Output
	if end.ModelOutput != nil {
		output = *end.ModelOutput
	}
	return agent.Result{Output: output, IsError: end.IsError, Media: end.Media}
}

// decide asks the client's user about a call, through a request that is under way.
func (c *client) decide(ctx context.Context, r agent.ApprovalRequest) agent.Answer {
	c.mu.Lock()
	var asks *asker
	if len(c.asks) > 0 {
		asks = c.asks[len(c.asks)-1]
	}
	c.mu.Unlock()
	if asks == nil {
		return agent.Answer{Decision: agent.Deny, Feedback: "Nobody can be asked: the call that began this has ended."}
	}
	answer, err := asks.ask(ctx, questionAbout(r))
	switch {
	case errors.Is(err, serve.ErrCannotAsk):
		return agent.Answer{Decision: agent.Deny, Feedback: "The client cannot ask its user. Another --permission-mode or --allowed-tools of atelier mcp serve would let the call pass."}
	case err != nil:
		return agent.Answer{Decision: agent.Deny, Feedback: "The question did not reach the user."}
	case answer.Value == "allow":
		return agent.Answer{Decision: agent.Allow}
	case answer.Value == "allow_session" && !r.EachTime:
		return agent.Answer{Decision: agent.Allow, Scope: agent.ScopeSession}
	}
	return agent.Answer{Decision: agent.Deny, Feedback: answer.Words}
}

// questionAbout words what a person has to decide.
func questionAbout(r agent.ApprovalRequest) serve.Question {
	var b strings.Builder
	fmt.Fprintf(&b, "Atelier asks before it runs %s. %s\n", r.Tool, r.Reason)
	switch {
	case r.Access.Command != "":
		fmt.Fprintf(&b, "\n%s\n", r.Access.Command)
	case len(r.Changes) > 0:
		for _, change := range r.Changes {
			fmt.Fprintf(&b, "\n%s\n%s", change.Path, change.Diff)
		}
	default:
		fmt.Fprintf(&b, "\n%s\n", r.Input)
	}
	message := visible(b.String())
	if len(message) > maxShown {
		message = strings.ToValidUTF8(message[:maxShown], "") + "\n… The rest is not shown. Allow it only if you know what it is."
	}
	q := serve.Question{Message: message, Choices: []serve.Choice{{Value: "allow", Title: "Allow"}, {Value: "allow_session", Title: "Allow for this session"}, {Value: "deny", Title: "Deny"}}}
	if r.EachTime {
		q.Choices = slices.Delete(q.Choices, 1, 2)
	}
	return q
}

// visible writes out the characters that a person could not see, or that change the
// order of a text: a client's page may not mark them.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)) {
			b.WriteString(output.Mark(r))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
