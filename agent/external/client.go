package external

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	acp "github.com/coder/acp-go-sdk"
	"mvdan.cc/sh/v3/syntax"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/internal/text"
)

var _ acp.Client = (*running)(nil)

// maxText limits a text of an agent in a call, such as a title or the output of a step, in bytes.
const maxText = 32 << 10

// step is a tool call of the agent that is not over.
type step struct {
	Step
	through  int // how many requests had come through the client when it began
	terminal bool
}

// mine refuses a request for a session that is not the one that was begun.
func (r *running) mine(id acp.SessionId) error {
	r.mu.Lock()
	begun := r.session
	r.mu.Unlock()
	if begun == "" || id != begun {
		return acp.NewInvalidParams(fmt.Sprintf("there is no session %q", text.Head(string(id), maxName)))
	}
	return nil
}

// refused is an error as the agent is told of it.
func refused(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, errCancelled) {
		return acp.NewRequestCancelled(err.Error())
	}
	return acp.NewInvalidRequest(err.Error())
}

// ReadTextFile implements [acp.Client] with the tool Read, which says whether the agent may.
func (r *running) ReadTextFile(ctx context.Context, in acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	if err := r.mine(in.SessionId); err != nil {
		return acp.ReadTextFileResponse{}, err
	}
	first, limit := 1, 0
	if in.Line != nil {
		first = *in.Line
	}
	if in.Limit != nil {
		limit = *in.Limit
	}
	err := r.aboutFile(ctx, in.Path, reads(in.Path, first, limit))
	if err != nil {
		return acp.ReadTextFileResponse{}, refused(err)
	}
	content, err := readFile(in.Path, first, limit)
	return acp.ReadTextFileResponse{Content: content}, refused(err)
}

// WriteTextFile implements [acp.Client] with the tool Write. A file that is there is read first,
// because Write replaces nothing that the session has not seen.
func (r *running) WriteTextFile(ctx context.Context, in acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	if err := r.mine(in.SessionId); err != nil {
		return acp.WriteTextFileResponse{}, err
	}
	var calls []llm.ToolCall
	if info, err := os.Stat(in.Path); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		calls = reads(in.Path, 1, 0)
	}
	calls = append(calls, newCall("Write", map[string]string{"file_path": in.Path, "content": in.Content}))
	return acp.WriteTextFileResponse{}, refused(r.aboutFile(ctx, in.Path, calls))
}

// aboutFile makes calls for a request about a file. Its error is that of the last call that
// failed, in its own words.
func (r *running) aboutFile(ctx context.Context, path string, calls []llm.ToolCall) error {
	if !filepath.IsAbs(path) {
		return errors.New("the path has to be absolute")
	}
	results, err := r.await(ctx, calls)
	if err != nil {
		return err
	}
	if last := results[len(results)-1]; last.IsError {
		return errors.New(resultText(last))
	}
	return nil
}

const (
	readLines = 2000 // of one call of Read
	maxReads  = 20   // calls for one file
)

// reads returns the calls of Read for lines of a file; all of them if limit is 0.
func reads(path string, first, limit int) (calls []llm.ToolCall) {
	first = max(first, 1)
	end := first + limit
	if limit <= 0 {
		end = first + readLines
		if content, err := readFile(path, 1, 0); err == nil {
			end = strings.Count(content, "\n") + 2
		}
	}
	for at := first; (at < end || at == first) && len(calls) < maxReads; at += readLines {
		calls = append(calls, newCall("Read", map[string]any{"file_path": path, "offset": at, "limit": max(min(readLines, end-at), 1)}))
	}
	return calls
}

// terminal is a command that the agent runs through us.
type terminal struct {
	done   chan struct{} // closed when it has ended
	output string
	code   int
	limit  int
}

// exitBefore and exitAfter find the exit code of a command in the result of a shell.
var (
	exitBefore = regexp.MustCompile(`^Exit code: (-?\d+)\n(?:Wall time: [^\n]*\n)?(?:Output:\n)?`)
	exitAfter  = regexp.MustCompile(`\n?\[Exit code (-?\d+)\]\s*$`)
)

// CreateTerminal implements [acp.Client] with the tool Bash, which ends before the agent hears of
// the command's output.
func (r *running) CreateTerminal(_ context.Context, in acp.CreateTerminalRequest) (acp.CreateTerminalResponse, error) {
	if err := r.mine(in.SessionId); err != nil {
		return acp.CreateTerminalResponse{}, err
	}
	input := map[string]any{"command": commandLine(in), "timeout_ms": 600_000}
	if in.Cwd != nil && *in.Cwd != "" {
		input["workdir"] = *in.Cwd
	}
	t := &terminal{done: make(chan struct{}), limit: maxQueued}
	if in.OutputByteLimit != nil && *in.OutputByteLimit >= 0 {
		t.limit = min(*in.OutputByteLimit, maxQueued)
	}
	r.mu.Lock()
	full := len(r.terminals) >= maxAsked
	id := "terminal-" + strconv.Itoa(r.through) + "-" + strconv.Itoa(len(r.terminals))
	if !full {
		r.terminals[id] = t
	}
	r.mu.Unlock()
	if full {
		return acp.CreateTerminalResponse{}, refused(errTooMany)
	}
	r.order.wait()
	err := r.ask([]llm.ToolCall{newCall("Bash", input)}, func(results []llm.ToolResult, err error) {
		defer close(t.done)
		if err != nil {
			t.output, t.code = err.Error(), 1
			return
		}
		t.output = resultText(results[0])
		t.output, t.code = exitOf(t.output, results[0].IsError)
	})
	if err != nil {
		r.forget(id)
		return acp.CreateTerminalResponse{}, refused(err)
	}
	return acp.CreateTerminalResponse{TerminalId: id}, nil
}

// exitOf returns the output of a command without its exit code, and the exit code.
func exitOf(output string, failed bool) (rest string, code int) {
	for _, pattern := range []*regexp.Regexp{exitBefore, exitAfter} {
		if m := pattern.FindStringSubmatch(output); m != nil {
			code, _ = strconv.Atoi(m[1]) // the patterns have only digits
			return strings.Replace(output, m[0], "", 1), code
		}
	}
	if failed {
		return output, 1
	}
	return output, 0
}

// commandLine is the command of a request as a line for the shell.
func commandLine(in acp.CreateTerminalRequest) string {
	var words []string
	for _, e := range in.Env {
		words = append(words, e.Name+"="+quoted(e.Value))
	}
	if len(in.Args) == 0 { // agents write whole lines here
		return strings.Join(append(words, in.Command), " ")
	}
	words = append(words, quoted(in.Command))
	for _, arg := range in.Args {
		words = append(words, quoted(arg))
	}
	return strings.Join(words, " ")
}

// quoted returns a text as one word of a command line; empty for one with a zero byte, which
// no command can have.
func quoted(s string) string {
	word, err := syntax.Quote(s, syntax.LangBash)
	if err != nil {
		return "''"
	}
	return word
}

func (r *running) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.terminals, id)
}

func (r *running) terminal(session acp.SessionId, id string) (*terminal, error) {
	if err := r.mine(session); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.terminals[id]; t != nil {
		return t, nil
	}
	return nil, acp.NewInvalidParams(fmt.Sprintf("there is no terminal %q", text.Head(id, maxName)))
}

// TerminalOutput implements [acp.Client].
func (r *running) TerminalOutput(_ context.Context, in acp.TerminalOutputRequest) (acp.TerminalOutputResponse, error) {
	t, err := r.terminal(in.SessionId, in.TerminalId)
	if err != nil {
		return acp.TerminalOutputResponse{}, err
	}
	select {
	case <-t.done:
		kept := text.Tail(t.output, t.limit)
		return acp.TerminalOutputResponse{Output: kept, Truncated: len(kept) < len(t.output), ExitStatus: &acp.TerminalExitStatus{ExitCode: &t.code}}, nil
	default:
		return acp.TerminalOutputResponse{}, nil
	}
}

// WaitForTerminalExit implements [acp.Client].
func (r *running) WaitForTerminalExit(ctx context.Context, in acp.WaitForTerminalExitRequest) (acp.WaitForTerminalExitResponse, error) {
	t, err := r.terminal(in.SessionId, in.TerminalId)
	if err != nil {
		return acp.WaitForTerminalExitResponse{}, err
	}
	select {
	case <-t.done:
		return acp.WaitForTerminalExitResponse{ExitCode: &t.code}, nil
	case <-ctx.Done():
		return acp.WaitForTerminalExitResponse{}, ctx.Err()
	case <-r.conn.Done():
		return acp.WaitForTerminalExitResponse{}, errGone
	}
}

// KillTerminal implements [acp.Client]. The command is the session's, and ends with its time
// limit or when the user stops it.
func (r *running) KillTerminal(_ context.Context, in acp.KillTerminalRequest) (acp.KillTerminalResponse, error) {
	t, err := r.terminal(in.SessionId, in.TerminalId)
	if err != nil {
		return acp.KillTerminalResponse{}, err
	}
	select {
	case <-t.done:
		return acp.KillTerminalResponse{}, nil
	default:
		return acp.KillTerminalResponse{}, acp.NewInvalidRequest("the command ends with its time limit, or when the user stops it")
	}
}

// ReleaseTerminal implements [acp.Client].
func (r *running) ReleaseTerminal(_ context.Context, in acp.ReleaseTerminalRequest) (acp.ReleaseTerminalResponse, error) {
	if _, err := r.terminal(in.SessionId, in.TerminalId); err != nil {
		return acp.ReleaseTerminalResponse{}, err
	}
	r.forget(in.TerminalId)
	return acp.ReleaseTerminalResponse{}, nil
}

// RequestPermission implements [acp.Client] with [ConsentTool]: the rules judge what the agent
// wants to do, and a person is asked as about any other call. The agent is allowed it once.
func (r *running) RequestPermission(ctx context.Context, in acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	if err := r.mine(in.SessionId); err != nil {
		return acp.RequestPermissionResponse{}, err
	}
	results, err := r.await(ctx, []llm.ToolCall{newCall(ConsentTool, r.wanted(in.ToolCall))})
	kinds := []acp.PermissionOptionKind{acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways}
	switch {
	case err != nil:
		return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}, nil
	case results[0].IsError:
		kinds = []acp.PermissionOptionKind{acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways}
	}
	for _, kind := range kinds {
		for _, o := range in.Options {
			if o.Kind == kind {
				return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(o.OptionId)}, nil
			}
		}
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}, nil
}

// wanted is what a request for a permission says of its call, completed with what was said of it
// before.
func (r *running) wanted(call acp.ToolCallUpdate) *Consent {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &Consent{}
	if s := r.steps[call.ToolCallId]; s != nil {
		c.Title, c.Kind, c.Paths = s.Title, s.Kind, s.Paths
	}
	if call.Title != nil {
		c.Title = text.Head(*call.Title, maxText)
	}
	if call.Kind != nil {
		c.Kind = string(*call.Kind)
	}
	if paths := pathsOf(call.Locations, call.Content); len(paths) > 0 {
		c.Paths = paths
	}
	c.Detail, _ = shown(call.Content)
	input, _ := call.RawInput.(map[string]any)
	for _, name := range []string{"command", "cmd"} {
		switch command := input[name].(type) {
		case string:
			c.Command = text.Head(command, maxText)
		case []any:
			var words []string
			for _, word := range command {
				words = append(words, quoted(fmt.Sprint(word)))
			}
			c.Command = text.Head(strings.Join(words, " "), maxText)
		}
	}
	for _, name := range []string{"cwd", "workdir"} {
		if dir, ok := input[name].(string); ok && filepath.IsAbs(dir) && c.Command != "" {
			c.Dir = filepath.Clean(dir)
		}
	}
	for _, name := range []string{"file_path", "path", "abs_path"} {
		if path, ok := input[name].(string); ok && len(c.Paths) == 0 && filepath.IsAbs(path) {
			c.Paths = []string{path}
		}
	}
	if c.Command == "" && acp.ToolKind(c.Kind) == acp.ToolKindExecute {
		c.Command = c.Title // the only thing that it says of the command
	}
	return c
}
