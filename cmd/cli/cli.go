package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/instance"
	"atelier.dev/atelier/cmd/cli/output"
	"github.com/spf13/pflag"
)

// Version is Atelier's version; the build may set it.
var Version = "0.1.0"

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitLimit       = 3
	exitForm        = 4 // the answer is not in the form of --json-schema
	exitSetup       = 5 // a key, a model or an address has to be mended first
	exitAway        = 6 // the provider does not answer for now
	exitInterrupted = 130
)

// Host is the application that a window or a browser needs.
type Host interface {
	// Call runs a method and returns {"ok":…} or {"error":{…}}. It never fails
	// or panics.
	Call(ctx context.Context, method, args string) string
	// Subscribe passes every envelope, as JSON, to watch until cancel is
	// called. watch must not block.
	Subscribe(watch func(envelope []byte)) (cancel func())
	// Close stops everything that runs and closes the database.
	Close(ctx context.Context) error
}

// Launch is what a window needs to open.
type Launch struct {
	Folder string
	Home   string
	// Left ends when the terminal in which the program was started is closed.
	Left context.Context
	// Instance is this process's right to the folder; the window answers later
	// starts through it. The caller of the window closes it.
	Instance *instance.Instance
	// Open opens the database and builds the application. The window calls it
	// once it is visible, so that it can show an error.
	Open func(context.Context, Desktop) (Host, error)
}

// Desktop is what a window can do outside itself.
type Desktop struct {
	OpenLink func(url string) error // opens a checked address
	Notify   func(backend.Notice)   // does not wait
	Zoom     func(percent int)
	// PickFolder asks the user for a folder; empty if the user picks none.
	PickFolder func(title string) (string, error)
	// PickSave asks the user for the path of a new file; empty if the user picks none.
	PickSave func(name string) (string, error)
}

const usage = `Atelier, a workbench for coding agents.

  atelier [DIR]                 opens the window on a project folder
  atelier serve [DIR]           serves the same to a browser and prints its address
  atelier run [flags] PROMPT|-  runs one prompt from the command line
  atelier agents                             what works, waits and failed in all projects
  atelier worktrees [list|remove NAME…]      the worktrees of forks and agents
  atelier sessions list|show|search|rename|…
                                lists a project's sessions, and does things with them
  atelier doctor                shows what is configured and reachable
  atelier explain COMMAND       says what would be allowed, asked about or denied
  atelier hooks list|test       lists a project's hooks, or tests them
  atelier skills list|validate|install
                                lists a project's skills, checks skills, or installs some
  atelier mcp list|test|add|remove
                                lists, tests, adds or removes servers of tools
  atelier mcp serve [DIR]       offers Atelier's tools to other programs
  atelier acp                   serves editors that speak the Agent Client Protocol
  atelier ledger [DIR]          lists what ran and what allowed or denied it
  atelier blame FILE            says which session, turn and model wrote each line
  atelier hosts                 lists which hosts were contacted, why and how much
  atelier undo [SESSION]        undoes what the newest turn did to files
  atelier redo [SESSION]        brings back what was undone last
  atelier completion bash|zsh|fish           prints the script that completes commands in a shell
  atelier man                   prints the manual page
  atelier version               prints the version

Run a command with --help for its flags. ATELIER_HOME moves everything that
Atelier keeps into one folder. --offline, or ATELIER_OFFLINE=1, lets Atelier contact
this machine alone.
`

// Main runs the command line and returns the exit code. window opens the
// desktop window; it is nil in the program without one.
func Main(args []string, window func(Launch) int) int {
	getenv := conceal()
	left, leave := context.WithCancel(context.Background())
	defer leave()
	watchTerminal(leave)
	ctx, stop := signal.NotifyContext(left, os.Interrupt, syscall.SIGTERM)
	defer stop()
	c := command{
		ctx: ctx, stop: stop, left: left, in: os.Stdin, out: &output.Plain{Out: os.Stdout, Closed: leave}, err: &output.Plain{Out: os.Stderr},
		getenv: getenv, window: window,
	}
	return c.main(args)
}

// watchTerminal calls leave when the terminal is closed. Every later SIGHUP is
// ignored, because a shell often sends a second one, which would kill a program
// that is closing in order. SIGPIPE is ignored too, because [output.Plain] notices a
// broken pipe by its write. A program started by nohup outlives its terminal.
func watchTerminal(leave func()) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if signal.Ignored(syscall.SIGHUP) {
		return
	}
	closed := make(chan os.Signal, 1)
	signal.Notify(closed, syscall.SIGHUP)
	go func() { // as long as the program
		<-closed
		leave()
	}()
}

// conceal removes secrets from the environment; see [sandbox.Conceal]. A
// proxy's address may contain a password: net/http reads the proxy once and
// remembers it, so that read comes first.
func conceal() (getenv func(string) string) {
	_, _ = http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: "example.com"}})
	return withHome(sandbox.Conceal(), os.UserHomeDir)
}

// withHome lets the variable HOME have the user's home folder where the system
// names it otherwise, as Windows does.
func withHome(getenv func(string) string, home func() (string, error)) func(string) string {
	return func(name string) string {
		value := getenv(name)
		if name == "HOME" && value == "" {
			value, _ = home() // there may be none
		}
		return value
	}
}

// command is one run of the program, with its access to the outside world.
type command struct {
	ctx      context.Context
	stop     context.CancelFunc // restores the default effect of an interrupt
	left     context.Context    // ends when the terminal is closed
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	window   func(Launch) int
	// describe, if set, is told what flags a command has, instead of running it.
	describe func(*pflag.FlagSet)
}

func (c *command) main(args []string) int {
	args = goOffline(c, args)
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	switch name {
	case "serve":
		return c.serve(args[1:])
	case "run":
		return c.run(args[1:])
	case "sessions":
		return c.sessions(args[1:])
	case "worktrees":
		return c.worktrees(args[1:])
	case "agents":
		return showAgents(c, args[1:])
	case "doctor":
		return c.doctor(args[1:])
	case "explain":
		return c.explain(args[1:])
	case "hooks":
		return c.hooks(args[1:])
	case "skills":
		return c.skills(args[1:])
	case "mcp":
		return c.mcp(args[1:])
	case "acp":
		return serveEditor(c, args[1:])
	case "ledger":
		return c.ledger(args[1:])
	case "blame":
		return c.blame(args[1:])
	case "undo", "redo":
		return c.undo(name, args[1:])
	case "hosts":
		return hosts(c, args[1:])
	case "completion":
		return complete(c, args[1:])
	case "man":
		return man(c, args[1:])
	case "version", "--version":
		fmt.Fprintln(c.out, "atelier", Version)
		return exitDone
	case "help", "--help", "-h":
		fmt.Fprint(c.out, usage)
		return exitDone
	}
	return c.open(args)
}

// open opens the window.
func (c *command) open(args []string) int {
	flags := c.flags("atelier [DIR]")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() > 1 {
		return c.misused(flags, "one folder at a time")
	}
	if c.window == nil {
		fmt.Fprintln(c.err, "This program has no window. Use: atelier serve, or atelier run.")
		return exitUsage
	}
	folder, home, err := c.places(flags.Arg(0))
	if err != nil {
		return c.fail(err)
	}
	inst, code := c.acquire(home, folder, instance.Focus)
	if inst == nil {
		return code
	}
	defer inst.Close()
	defer c.logTo(home)()
	c.stop() // the window handles signals itself
	return c.window(Launch{
		Folder: folder, Home: home, Left: c.left, Instance: inst,
		Open: func(ctx context.Context, desktop Desktop) (Host, error) {
			cfg := c.config(folder, home)
			cfg.OpenLink, cfg.Notify, cfg.Zoom = desktop.OpenLink, desktop.Notify, desktop.Zoom
			cfg.PickFolder, cfg.PickSave, cfg.OpenProject = desktop.PickFolder, desktop.PickSave, elsewhere{home: home}.Open
			return openForSessions(ctx, cfg, "")
		},
	})
}

// acquire makes this process the folder's instance. If another process is the
// instance, acquire sends it the action and returns nil and the exit code.
func (c *command) acquire(home, folder string, do instance.Action) (*instance.Instance, int) {
	ctx, cancel := context.WithTimeout(c.ctx, askPatience)
	defer cancel()
	inst, reply, err := instance.Enter(ctx, home, folder, instance.Request{Do: do})
	switch {
	case err != nil:
		return nil, c.fail(err)
	case inst != nil:
		return inst, 0
	case reply.Error != "":
		fmt.Fprintln(c.err, reply.Error)
		return nil, exitFailed
	case reply.URL != "":
		fmt.Fprintln(c.out, reply.URL)
	}
	return nil, exitDone
}

// helpWidth is the number of columns of a command's help.
const helpWidth = 100

func (c *command) flags(use string) *pflag.FlagSet {
	flags := pflag.NewFlagSet(use, pflag.ContinueOnError)
	flags.SetOutput(c.err)
	flags.Usage = func() {
		fmt.Fprintf(c.err, "Usage: %s\n%s", use, flags.FlagUsagesWrapped(helpWidth))
	}
	return flags
}

// parse reports false, with the exit code, when there is nothing more to do.
func (c *command) parse(flags *pflag.FlagSet, args []string) (int, bool) {
	if c.describe != nil {
		c.describe(flags)
		return exitDone, false
	}
	err := flags.Parse(args)
	switch {
	case err == nil:
		return 0, true
	case errors.Is(err, pflag.ErrHelp):
		return exitDone, false
	}
	return c.misused(flags, err.Error()), false
}

func (c *command) misused(flags *pflag.FlagSet, why string) int {
	fmt.Fprintln(c.err, why)
	flags.Usage()
	return exitUsage
}

// interrupted reports whether a command failed only because it was interrupted. The error
// of a method of the application has lost its cause.
func (c *command) interrupted(err error) bool {
	if c.ctx.Err() == nil {
		return false
	}
	e := backend.AsError(err)
	return errors.Is(err, context.Canceled) || errors.Is(err, output.ErrInterrupted) ||
		e.ID == backend.ProblemInternal && strings.Contains(e.Details, context.Canceled.Error())
}

// fail prints what happened, what was kept and what to do, and returns the exit code.
func (c *command) fail(err error) int {
	if c.interrupted(err) {
		fmt.Fprintln(c.err, "Interrupted.")
		return exitInterrupted
	}
	e := backend.AsError(err)
	for _, line := range []string{e.Message, e.Kept, e.Next} {
		if line != "" {
			fmt.Fprintln(c.err, line)
		}
	}
	if e.Details != "" {
		fmt.Fprintf(c.err, "(%s)\n", e.Details)
	}
	return exitFailed
}
