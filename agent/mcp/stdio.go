package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"

	"atelier.dev/atelier/agent/internal/stdin"
	"atelier.dev/atelier/agent/sandbox"
)

const (
	keptErrors = 64 << 10 // bytes of a program's standard error
	// leaveTime is how long a program may take to end once its input has ended,
	// before it is told to.
	leaveTime = 2 * time.Second
	// A program that closed its input or its output may take this long to end, before
	// that counts as its failure.
	inputTime, outputTime = 3 * time.Second, time.Second

	mostGarbage = 4 << 20 // bytes that are no message, after which a program is given up
	mostShown   = 20      // texts of such bytes that are logged
	shownOf     = 200     // bytes of each
)

// program is a server that is a program: mcp-go's transport over the pipes of a process
// of agent/sandbox.
type program struct {
	*transport.Stdio
	host    host
	spec    sandbox.Spec
	process *sandbox.Process
	in      *stdin.Queue   // its standard input
	out     *io.PipeWriter // what mcp-go reads
	ending
	output output
}

// ending is why a program is no use any more.
type ending struct {
	ended chan struct{} // closed with err set
	mu    sync.Mutex
	err   error
}

// output is what only the goroutine that reads a program's standard output uses.
type output struct {
	lines   splitter
	filter  filter
	garbage int // bytes that were no message
	shown   int // such texts in the log
}

// newProgram prepares a program; Start starts it.
func newProgram(s Server, cfg Config, h host) *program {
	p := &program{host: h, spec: programSpec(s, cfg), ending: ending{ended: make(chan struct{})}}
	p.in = stdin.New(func() { p.fail(&Fault{Kind: FaultBlocked}) }, p.inputClosed)
	read, write := io.Pipe()
	p.out = write
	p.Stdio = transport.NewIO(read, p.in, nil)
	p.output.filter = filter{server: h, answer: p.answer}
	p.output.lines = splitter{most: mostMessage, line: p.line, long: p.tooLong, flood: func() {
		p.fail(&Fault{Kind: FaultTooLarge, Detail: bytesText(mostSkipped)})
	}}
	p.spec.Raw = p.output.lines.write
	p.spec.RawEnd = func() {
		go p.failUnlessEnded(outputTime, &Fault{Kind: FaultProtocol, Detail: "it closed its output"})
	}
	return p
}

func programSpec(s Server, cfg Config) sandbox.Spec {
	dir := s.Stdio.Dir
	if dir == "" {
		dir = cfg.Dir
	}
	environ := sandbox.Environ
	if cfg.Environ != nil {
		environ = cfg.Environ
	}
	env := sandbox.Filter{}.Apply(environ())
	for _, name := range slices.Sorted(maps.Keys(s.Stdio.Env)) {
		env = append(env, name+"="+s.Stdio.Env[name]) // the last one of a name counts
	}
	return sandbox.Spec{Argv: append([]string{s.Stdio.Command}, s.Stdio.Args...), Dir: dir, Env: env, Input: true, Limit: keptErrors, Whole: true}
}

// Start implements [transport.Interface]. The program lives until Close, or until ctx
// ends.
func (p *program) Start(ctx context.Context) error {
	if err := findProgram(p.spec.Argv[0], p.spec.Dir); err != nil {
		return err
	}
	process, err := sandbox.Start(ctx, p.spec)
	if err != nil {
		return &Fault{Kind: FaultStart, Detail: err.Error(), Err: err}
	}
	p.process = process
	p.in.Open(process.Input())
	go func() { // ends with the program's input
		if process.InputClosed() {
			p.inputClosed(fmt.Errorf("write to %s: %w", p.spec.Argv[0], syscall.EPIPE))
		}
	}()
	go func() { // ends with the program
		<-process.Done()
		result, _ := process.Wait(context.Background())
		p.fail(&Fault{Kind: FaultExited, Detail: strconv.Itoa(result.ExitCode)})
	}()
	return p.Stdio.Start(ctx)
}

// findProgram says in advance, and better than the system, that there is no such
// program.
func findProgram(command, dir string) error {
	path := sandbox.LookPath(command)
	if path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if path != "" {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
	}
	return &Fault{Kind: FaultNoFile, Detail: command, Err: fmt.Errorf("find %s: %w", command, os.ErrNotExist)}
}

// Close ends the program with everything it started: its input ends, then it is
// told to end, then it is killed.
func (p *program) Close() error {
	p.fail(&Fault{Kind: FaultClosed})
	err := p.Stdio.Close() // which closes the input
	if p.process == nil {
		return err
	}
	patience := time.NewTimer(leaveTime)
	defer patience.Stop()
	select {
	case <-p.process.Done():
	case <-patience.C:
	}
	p.process.Stop()
	return err
}

// inputClosed fails the program because it reads no more.
func (p *program) inputClosed(err error) {
	p.failUnlessEnded(inputTime, &Fault{Kind: FaultBlocked, Err: err})
}

// failUnlessEnded gives a program some time to end, which says more than the fault.
func (p *program) failUnlessEnded(patience time.Duration, fault *Fault) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		p.fail(fault)
	}
}

// fail ends the connection to the program for the reason that came first.
func (p *program) fail(err error) {
	p.mu.Lock()
	if p.err == nil {
		p.err = err
		close(p.ended)
	}
	p.mu.Unlock()
	_ = p.out.Close() // mcp-go's reader then ends the requests that wait
}

func (e *ending) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// blocked reports whether the program does not read what was written.
func (p *program) blocked() bool { return p.in.Busy() }

func (p *program) pid() int { return p.process.PID() }

// errors returns what the program printed to its standard error; nothing if it did
// not start.
func (p *program) errors() string {
	if p.process == nil {
		return ""
	}
	return p.process.Errors()
}

// line takes a line of standard output.
func (p *program) line(line []byte) {
	messages, err := p.output.filter.messages(line)
	for _, message := range messages {
		p.pass(message)
	}
	if err != nil {
		p.noMessage(line)
	}
}

// pass has mcp-go read a message.
func (p *program) pass(message []byte) { _, _ = p.out.Write(append(message, '\n')) }

// noMessage takes a line that is not a message.
func (p *program) noMessage(line []byte) {
	o := &p.output
	text := beginning(line, shownOf)
	if o.shown++; o.shown <= mostShown {
		p.host.report(HappenedNoMessage, text)
	}
	if o.garbage += len(line); o.garbage > mostGarbage {
		p.fail(&Fault{Kind: FaultGarbage, Detail: text})
	}
	if o.shown == 1 {
		p.host.greeted(text)
	}
	if id, ok := answeredID(line[:min(len(line), keptEnds)], line[max(0, len(line)-keptEnds):]); ok {
		p.pass(refusal(protocol.NewRequestId(id), codeGarbage, text))
	}
}

// tooLong fails the request whose answer was too long, or the program if it cannot be
// told what the line was.
func (p *program) tooLong(head, tail []byte, size int64) {
	p.host.report(HappenedTooLong, bytesText(size), bytesText(mostMessage))
	if id, ok := answeredID(head, tail); ok {
		p.pass(refusal(protocol.NewRequestId(id), codeTooLarge, tooLarge(size)))
	} else {
		p.fail(&Fault{Kind: FaultTooLarge, Detail: bytesText(mostMessage)})
	}
}

func tooLarge(size int64) string {
	return fmt.Sprintf("a message of %s, where %s are accepted", bytesText(size), bytesText(mostMessage))
}

// answer sends the answer to a request of the program.
func (p *program) answer(response *transport.JSONRPCResponse) {
	text, err := json.Marshal(response)
	if err == nil {
		_, _ = p.in.Write(append(text, '\n'))
	}
}

// These mark answers that we refused. They are in the range of codes that an
// application may use.
const (
	codeTooLarge = -1 - iota
	codeGarbage
)

// refusal is what mcp-go gets in place of an answer that it must not read.
func refusal(id protocol.RequestId, code int, text string) []byte {
	refused, _ := json.Marshal(transport.NewJSONRPCErrorResponse(id, code, text, nil))
	return refused
}
