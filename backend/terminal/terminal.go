package terminal

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
)

const (
	// maxTerminals limits the terminals that are open at a time.
	maxTerminals = 12
	// maxTyped limits what is typed at once, in bytes.
	maxTyped = 64 << 10
	// maxSize limits the rows and the columns.
	maxSize = 1000
	// patience is how long a request waits for output.
	patience = 20 * time.Second
	// farewell is how long shells may take to end once their terminals are closed.
	farewell = time.Second
)

// TerminalInfo is a terminal of the user.
type TerminalInfo struct {
	ID string `json:"id"`
	// Number counts the terminals of this process from 1.
	Number int    `json:"number"`
	Shell  string `json:"shell"` // the name of its program
	Folder string `json:"folder"`
	// Session is the one in whose folder it was opened; empty if that was the project's.
	Session string `json:"session,omitempty"`
	Ended   bool   `json:"ended,omitempty"`
	// ExitCode is that of a shell that has ended.
	ExitCode int `json:"exit_code,omitempty"`
}

// TerminalList is the reply to terminal.list, oldest first.
type TerminalList struct {
	Terminals []TerminalInfo `json:"terminals,omitempty"`
}

// TerminalOpen is for terminal.open.
type TerminalOpen struct {
	// Session says in whose folder the shell starts; empty means the project's.
	Session string `json:"session,omitempty"`
	Rows    int    `json:"rows"`
	Columns int    `json:"columns"`
}

// TerminalRef names a terminal.
type TerminalRef struct {
	ID string `json:"id"`
}

// TerminalRead is for terminal.read.
type TerminalRead struct {
	ID string `json:"id"`
	// From is where the last piece ended; 0 asks for all that is kept.
	From int64 `json:"from"`
}

// TerminalPiece is a part of what a terminal showed.
type TerminalPiece struct {
	// Data is in base64, because a piece may end within a character.
	Data string `json:"data,omitempty"`
	Next int64  `json:"next"`
	// Reset says that output before Data was not kept, so that it goes on an empty screen.
	Reset    bool `json:"reset,omitempty"`
	Ended    bool `json:"ended,omitempty"`
	ExitCode int  `json:"exit_code,omitempty"`
}

// TerminalTyped is for terminal.write.
type TerminalTyped struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// TerminalSize is for terminal.resize.
type TerminalSize struct {
	ID      string `json:"id"`
	Rows    int    `json:"rows"`
	Columns int    `json:"columns"`
}

// Config is what terminals need of the application.
type Config struct {
	Getenv func(string) string
	// Folder returns where a session works; that of the project for no session.
	Folder func(ctx context.Context, session string) (string, error)
}

// Terminals are those of one window. They are safe for concurrent use.
type Terminals struct {
	cfg    Config
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	opened   int // so far
	starting int // that have a place and no shell yet
	open     []*terminal
	closed   bool
}

// terminal is one of them.
type terminal struct {
	info    TerminalInfo
	process *sandbox.Process
	output  *output
	cancel  context.CancelFunc // lets a shell go on that waits for a page
	left    chan struct{}      // closed when the process has ended and its output is whole
	code    int                // valid once left is closed
}

// New returns the terminals of a window. Close ends them.
func New(cfg Config) *Terminals {
	ctx, cancel := context.WithCancel(context.Background())
	return &Terminals{cfg: cfg, ctx: ctx, cancel: cancel}
}

// Register registers the methods of the page.
func (t *Terminals) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "terminal.list", t.list)
	dispatch.Handle(d, "terminal.open", t.start)
	dispatch.Handle(d, "terminal.read", t.read)
	dispatch.Handle(d, "terminal.write", t.write)
	dispatch.Handle(d, "terminal.resize", t.resize)
	dispatch.Handle(d, "terminal.close", t.end)
}

// Close ends every shell with what it started, and waits for that.
func (t *Terminals) Close() {
	t.mu.Lock()
	open := t.open
	t.open, t.closed = nil, true
	t.mu.Unlock()
	var ends sync.WaitGroup
	for _, one := range open {
		ends.Go(one.close)
	}
	ends.Wait()
	t.cancel()
}

func (t *Terminals) list(context.Context, backend.Empty) (TerminalList, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list TerminalList
	for _, one := range t.open {
		list.Terminals = append(list.Terminals, one.state())
	}
	return list, nil
}

func (t *Terminals) start(ctx context.Context, in TerminalOpen) (TerminalInfo, error) {
	seat, ok := seatOf(in.Rows, in.Columns)
	if !ok {
		return TerminalInfo{}, backend.Problem(backend.ProblemArguments, "terminal.open")
	}
	folder, err := t.cfg.Folder(ctx, in.Session)
	if err != nil {
		return TerminalInfo{}, err
	}
	number, err := t.reserve()
	if err != nil {
		return TerminalInfo{}, err
	}
	argv := shell(t.cfg.Getenv("SHELL"))
	one, err := t.run(argv, folder, seat)
	if err != nil {
		t.keep(nil)
		if errors.Is(err, sandbox.ErrNoTerminal) {
			return TerminalInfo{}, backend.Problem(backend.ProblemTerminalNone)
		}
		return TerminalInfo{}, backend.Problem(backend.ProblemTerminalFailed, filepath.Base(argv[0])).Because(err)
	}
	one.info = TerminalInfo{ID: rand.Text(), Number: number, Shell: filepath.Base(argv[0]), Folder: folder, Session: in.Session}
	go one.follow() // ends with the shell, which Close ends
	if !t.keep(one) {
		one.close()
		return TerminalInfo{}, backend.Problem(backend.ProblemTerminalGone)
	}
	return one.info, nil
}

// reserve takes a place for a terminal, which keep then fills, and returns its number.
func (t *Terminals) reserve() (number int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return 0, backend.Problem(backend.ProblemTerminalGone)
	}
	if len(t.open)+t.starting >= maxTerminals {
		return 0, backend.Problem(backend.ProblemTerminalMany, strconv.Itoa(maxTerminals))
	}
	t.starting++
	t.opened++
	return t.opened, nil
}

// keep fills a place, or gives it up without a terminal. It reports false if all are closed.
func (t *Terminals) keep(one *terminal) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.starting--
	if one == nil || t.closed {
		return false
	}
	t.open = append(t.open, one)
	return true
}

// run starts a shell. Its environment is without the secrets of this program, which a
// model's command could read in /proc.
func (t *Terminals) run(argv []string, folder string, seat sandbox.Seat) (*terminal, error) {
	reading, cancel := context.WithCancel(t.ctx)
	one := &terminal{output: newOutput(), cancel: cancel, left: make(chan struct{})}
	environ := append(sandbox.Filter{Inherit: sandbox.InheritPerson}.Apply(os.Environ()),
		"TERM=xterm-256color", "COLORTERM=truecolor", "TERM_PROGRAM=Atelier", "PWD="+folder)
	process, err := sandbox.Start(t.ctx, sandbox.Spec{
		Argv: argv, Dir: folder, TTY: true, Seat: seat, Env: environ, Raw: func(p []byte) { one.output.add(reading, p) },
	})
	if err != nil {
		cancel()
		return nil, err
	}
	one.process = process
	return one, nil
}

// shell returns the command line of the user's shell.
func shell(preferred string) []string {
	if !filepath.IsAbs(preferred) {
		preferred = ""
	}
	argv := []string{cmp.Or(preferred, sandbox.LookPath("bash"), "/bin/sh")}
	if runtime.GOOS == "darwin" { // where terminals are used to read the files of a login
		argv = append(argv, "-l")
	}
	return argv
}

// follow notes the end of the shell.
func (o *terminal) follow() {
	result, _ := o.process.Wait(context.Background()) // which ends only with the process
	o.cancel()
	o.code = result.ExitCode
	close(o.left)
	o.output.close()
}

// state returns what is known of a terminal by now.
func (o *terminal) state() TerminalInfo {
	info := o.info
	select {
	case <-o.left:
		info.Ended, info.ExitCode = true, o.code
	default:
	}
	return info
}

// close ends the shell: first as the end of its terminal, then by force.
func (o *terminal) close() {
	o.cancel()
	o.process.HangUp()
	timer := time.NewTimer(farewell)
	defer timer.Stop()
	select {
	case <-o.left:
	case <-timer.C:
		o.process.Stop()
		<-o.left
	}
}

// find returns a terminal by its id.
func (t *Terminals) find(id string) (*terminal, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.IndexFunc(t.open, func(o *terminal) bool { return o.info.ID == id })
	if at < 0 {
		return nil, backend.Problem(backend.ProblemTerminalGone)
	}
	return t.open[at], nil
}

// read returns what follows in a terminal, and waits for it for a while.
func (t *Terminals) read(ctx context.Context, in TerminalRead) (TerminalPiece, error) {
	one, err := t.find(in.ID)
	if err != nil {
		return TerminalPiece{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	p := one.output.from(ctx, max(in.From, 0), patience)
	out := TerminalPiece{Data: base64.StdEncoding.EncodeToString(p.data), Next: p.next, Reset: p.lost}
	if p.over {
		out.Ended, out.ExitCode = true, one.code
	}
	return out, nil
}

// write types a text.
func (t *Terminals) write(_ context.Context, in TerminalTyped) (backend.Empty, error) {
	one, err := t.find(in.ID)
	switch {
	case err != nil:
		return backend.Empty{}, err
	case len(in.Text) > maxTyped:
		return backend.Empty{}, backend.Problem(backend.ProblemArguments, "terminal.write")
	}
	err = one.process.Write(in.Text)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return backend.Empty{}, backend.Problem(backend.ProblemTerminalDeaf)
	case err != nil: // it has ended, which the page reads
		return backend.Empty{}, nil
	}
	return backend.Empty{}, nil
}

// resize tells a shell how much of it is seen.
func (t *Terminals) resize(_ context.Context, in TerminalSize) (backend.Empty, error) {
	one, err := t.find(in.ID)
	if err != nil {
		return backend.Empty{}, err
	}
	seat, ok := seatOf(in.Rows, in.Columns)
	if !ok {
		return backend.Empty{}, backend.Problem(backend.ProblemArguments, "terminal.resize")
	}
	_ = one.process.Resize(seat) // it may have ended
	return backend.Empty{}, nil
}

// end closes a terminal and ends what runs in it.
func (t *Terminals) end(_ context.Context, in TerminalRef) (backend.Empty, error) {
	one, err := t.find(in.ID)
	if err != nil {
		return backend.Empty{}, err
	}
	t.mu.Lock()
	t.open = slices.DeleteFunc(slices.Clone(t.open), func(o *terminal) bool { return o == one })
	t.mu.Unlock()
	one.close()
	return backend.Empty{}, nil
}

func seatOf(rows, columns int) (sandbox.Seat, bool) {
	ok := rows > 0 && columns > 0 && rows <= maxSize && columns <= maxSize
	return sandbox.Seat{Rows: uint16(rows), Columns: uint16(columns)}, ok
}
