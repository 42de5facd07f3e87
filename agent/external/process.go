package external

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/internal/regular"
	"atelier.dev/atelier/internal/text"
)

var (
	errStart = errors.New("the agent did not start")
	errLogin = errors.New("the agent wants you to log in")
)

// running is a process of an agent that has begun a session.
type running struct {
	inbox
	process *sandbox.Process
	output  *io.PipeWriter
	conn    *acp.ClientSideConnection

	session acp.SessionId
	info    *acp.Implementation
	images  bool
	model   string // that was chosen; empty means the agent's own
	option  string // that chooses a model
	// tellsCost is the adapter's: its agent says what its sessions cost.
	tellsCost *atomic.Bool
}

const (
	keptErrors = 8 << 10         // bytes of standard error
	leaveTime  = 2 * time.Second // for a program to end when its input has ended
)

// Installed reports whether there is a program of that name on this machine.
func Installed(program string) bool {
	path := sandbox.LookPath(program)
	info, err := os.Stat(path)
	return path != "" && err == nil && !info.IsDir()
}

// launch starts the program and says hello.
func (a *Adapter) launch(ctx context.Context, folder string) (*running, error) {
	cfg := a.cfg
	if !Installed(cfg.Argv[0]) {
		return nil, fmt.Errorf("%w: there is no program %s", errStart, cfg.Argv[0])
	}
	environ := sandbox.Environ
	if cfg.Environ != nil {
		environ = cfg.Environ
	}
	read, write := io.Pipe()
	r := &running{output: write, tellsCost: &a.tellsCost, inbox: inbox{wake: make(chan struct{}, 1), terminals: map[string]*terminal{}, following: following{steps: map[acp.ToolCallId]*step{}}}}
	process, err := sandbox.Start(context.WithoutCancel(ctx), sandbox.Spec{
		Argv: cfg.Argv, Dir: folder, Env: sandbox.Filter{Allow: cfg.Env}.Apply(environ()), Input: true, Limit: keptErrors, Whole: true,
		Raw: r.order.pass(write), RawEnd: func() { _ = write.Close() },
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStart, err)
	}
	r.process = process
	r.conn = acp.NewClientSideConnection(r, process.Input(), read)
	r.conn.SetLogger(slog.New(slog.DiscardHandler)) // it would quote what the agent sends
	hello, err := r.conn.Initialize(ctx, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber,
		ClientInfo:      &acp.Implementation{Name: "atelier", Title: acp.Ptr("Atelier"), Version: cmp.Or(cfg.Version, "0")},
		ClientCapabilities: acp.ClientCapabilities{
			Fs: acp.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}, Terminal: true,
		},
	})
	if err == nil && hello.ProtocolVersion != acp.ProtocolVersionNumber {
		err = fmt.Errorf("it speaks version %d of the protocol, Atelier speaks %d", hello.ProtocolVersion, acp.ProtocolVersionNumber)
	}
	if err != nil {
		return nil, r.because(errors.Join(errStart, err))
	}
	r.info, r.images = hello.AgentInfo, hello.AgentCapabilities.PromptCapabilities.Image
	return r, r.newSession(ctx, folder, hello.AuthMethods, a)
}

// newSession begins a session of the agent.
func (r *running) newSession(ctx context.Context, folder string, methods []acp.AuthMethod, a *Adapter) error {
	began, err := r.conn.NewSession(ctx, acp.NewSessionRequest{Cwd: folder, McpServers: []acp.McpServer{}})
	if err != nil {
		if len(methods) > 0 && strings.Contains(strings.ToLower(err.Error()), "auth") {
			var ways []string
			for _, m := range methods {
				if m.Agent != nil {
					ways = append(ways, m.Agent.Name)
				}
			}
			err = fmt.Errorf("%w in a terminal first (%s): %w", errLogin, text.Head(strings.Join(ways, ", "), maxName), err)
		}
		return r.because(err)
	}
	r.mu.Lock()
	r.session = began.SessionId
	r.mu.Unlock()
	models, option := modelsOf(began.ConfigOptions, began.Models)
	r.option = option
	a.learn(models)
	return nil
}

// choose has the agent use a model.
func (r *running) choose(ctx context.Context, model string) error {
	if model == DefaultModel {
		model = ""
	}
	if model == r.model || model == "" {
		return nil // the agent's own cannot be asked for by name
	}
	var err error
	if r.option != "" {
		_, err = r.conn.SetSessionConfigOption(ctx, acp.SetSessionConfigOptionRequest{ValueId: &acp.SetSessionConfigOptionValueId{
			SessionId: r.session, ConfigId: acp.SessionConfigId(r.option), Value: acp.SessionConfigValueId(model),
		}})
	} else {
		_, err = r.conn.UnstableSetSessionModel(ctx, acp.UnstableSetSessionModelRequest{SessionId: r.session, ModelId: acp.UnstableModelId(model)})
	}
	if err == nil {
		r.model = model
	}
	return err
}

// because ends the program and adds what it printed to an error. It is nil for none.
func (r *running) because(err error) error {
	if err == nil {
		return nil
	}
	r.close()
	if printed := strings.TrimSpace(r.process.Errors()); printed != "" {
		return fmt.Errorf("%w\n%s", err, text.Tail(printed, 1000))
	}
	return err
}

// close ends the program with everything it started: its input ends, then it is ended.
func (r *running) close() {
	_ = r.process.Input().Close()
	_ = r.output.Close()
	patience := time.NewTimer(leaveTime)
	defer patience.Stop()
	select {
	case <-r.process.Done():
	case <-patience.C:
	}
	r.process.Stop()
}

// maxFile limits a text file that an agent is given, in bytes.
const maxFile = 10 << 20

// readFile returns the lines of a text file, from the first one on, which counts from 1; all of
// them if limit is 0. That the agent may have it was judged before.
func readFile(path string, first, limit int) (string, error) {
	raw, err := regular.Read(path, maxFile)
	if err != nil {
		return "", fmt.Errorf("read the file: %w", err)
	}
	if first <= 1 && limit <= 0 {
		return valid(string(raw)), nil
	}
	lines := strings.SplitAfter(valid(string(raw)), "\n")
	begin := min(max(first, 1)-1, len(lines))
	end := len(lines)
	if limit > 0 {
		end = min(begin+limit, end)
	}
	return strings.Join(lines[begin:end], ""), nil
}

// valid returns a text as valid UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
