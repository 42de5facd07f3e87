package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"slices"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/internal/text"
)

// Limits of a dry run.
const (
	maxTried    = 2_000  // calls that are looked at
	maxLooked   = 40_000 // events
	maxExamples = 20     // calls that are shown, and on which a draft may run
	maxText     = 160    // characters of an example
	// tryTime limits how long a draft runs on all of them.
	tryTime = time.Minute
)

// trying returns an engine to try hooks with, in a folder. Nothing follows from what
// they say.
func (h *Hooks) trying(folder string) *hook.Engine {
	o := h.cfg.Engine
	o.Folder = folder
	return hook.New(o)
}

// folderOf returns the folder in which the hooks of a session run: the project's if
// there is no such session, or its folder is gone.
func (h *Hooks) folderOf(ctx context.Context, session string) string {
	if h.cfg.FolderOf == nil || session == "" {
		return h.cfg.Folder
	}
	folder := h.cfg.FolderOf(ctx, session)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return h.cfg.Folder
	}
	return folder
}

// own is the origin of a new draft, which counts as the user's.
var own = hook.Origin{Scope: hook.ScopeUser, Form: hook.FormAgent}

// tried returns the hook that a draft is. One that replaces a hook is tried as it would
// run where that stands: with the time and the environment that its file gives it. It
// runs only if that hook may, because the user has seen no file that it runs.
func (h *Hooks) tried(ctx context.Context, d HookDraft, replaces string, runs bool) (hook.Handler, []hook.Finding, error) {
	if replaces == "" {
		return handler(d, own)
	}
	stands, _, ok := h.current(ctx).find(replaces)
	if !ok {
		return hook.Handler{}, nil, errMissing
	}
	if err := h.mayRun(ctx, stands, h.cfg.Folder); runs && err != nil {
		return hook.Handler{}, nil, err
	}
	return handler(d, stands.Origin)
}

// mayRun returns why a hook may not even be tried; nil if it may.
func (h *Hooks) mayRun(ctx context.Context, x hook.Handler, folder string) error {
	if state := h.ready(ctx, x, folder).State; state == hook.StateUntrusted || state == hook.StateChanged {
		return backend.Problem(backend.ProblemHookUntrusted, x.Name)
	}
	return nil
}

// Test runs a draft.
func (h *Hooks) Test(ctx context.Context, in HookTestRequest) (HookLogEntry, error) {
	x, _, err := h.tried(ctx, in.Draft, in.Replaces, true)
	if err != nil {
		return HookLogEntry{}, err
	}
	input := in.Input
	if len(input) == 0 {
		input = example(in.Draft.Point)
	}
	var told struct {
		Session string `json:"session_id"`
	}
	_ = json.Unmarshal(input, &told) // anything but an object is refused below
	return h.try(ctx, x, input, h.folderOf(ctx, told.Session), in.Matching)
}

func (h *Hooks) try(ctx context.Context, x hook.Handler, input json.RawMessage, folder string, matching bool) (HookLogEntry, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil || members == nil {
		return HookLogEntry{}, backend.Problem(backend.ProblemHookInput)
	}
	e := h.trying(folder)
	defer e.Close()
	if !matching {
		return entry(e.Try(ctx, x, input)), nil
	}
	tried, err := e.TryMatching(ctx, x, input, h.cfg.Access)
	if err != nil {
		return HookLogEntry{}, backend.Problem(backend.ProblemHookInput).Detailed(err.Error())
	}
	return entry(tried), nil
}

// Replay runs the hook of an entry again, or a draft in its place, with the input
// of then. A hook that is not trusted does not run here either.
func (h *Hooks) Replay(ctx context.Context, in HookReplayRequest) (HookLogEntry, error) {
	before, err := h.Entry(ctx, HookEntryRequest{ID: in.Entry})
	if err != nil {
		return HookLogEntry{}, err
	}
	if before.Input == "" || slices.Contains(before.Cut, "input") {
		return HookLogEntry{}, backend.Problem(backend.ProblemHookNotKept)
	}
	folder := h.folderOf(ctx, before.Place.Session)
	var x hook.Handler
	if in.Draft != nil {
		if x, _, err = handler(*in.Draft, own); err != nil {
			return HookLogEntry{}, err
		}
	} else {
		var ok bool
		if x, _, ok = h.current(ctx).find(before.Hook.ID); !ok {
			return HookLogEntry{}, errMissing
		}
		if err := h.mayRun(ctx, x, folder); err != nil {
			return HookLogEntry{}, err
		}
	}
	return h.try(ctx, x, json.RawMessage(before.Input), folder, false)
}

// Trial is a dry run of a draft over past calls, the newest first.
type Trial struct {
	hooks   *Hooks
	in      HookDryRunRequest
	handler hook.Handler
	engine  *hook.Engine
	reply   HookDryRunReply
	inputs  []json.RawMessage // of the examples
	ends    map[string]agent.ToolCallEnd
	looked  int
}

// DryRun begins a dry run. Its owner closes it.
func (h *Hooks) DryRun(ctx context.Context, in HookDryRunRequest) (*Trial, error) {
	x, findings, err := h.tried(ctx, in.Draft, in.Replaces, in.Run)
	if err != nil {
		return nil, err
	}
	return &Trial{
		hooks: h, in: in, handler: x, engine: h.trying(h.cfg.Folder), ends: map[string]agent.ToolCallEnd{},
		reply: HookDryRunReply{Tools: x.Tools(), Findings: shown(findings)},
	}, nil
}

// Close ends the dry run.
func (t *Trial) Close() { t.engine.Close() }

// Done reports whether enough calls have been looked at.
func (t *Trial) Done() bool { return t.reply.Calls >= maxTried || t.looked >= maxLooked }

// Add looks at a stretch of a session's log, before the one that was added last.
func (t *Trial) Add(events []agent.Event) {
	for _, ev := range slices.Backward(events) {
		if t.Done() {
			return
		}
		t.looked++
		switch e := ev.Data.(type) {
		case agent.ToolCallEnd:
			t.ends[e.CallID] = e
		case agent.ToolCallStart:
			t.call(ev, e)
			delete(t.ends, e.CallID)
		}
	}
}

// Next begins with another session.
func (t *Trial) Next() { clear(t.ends) }

// call looks at a call of the past.
func (t *Trial) call(ev agent.Event, e agent.ToolCallStart) {
	tool := agent.HookTool{Tool: e.Tool, Input: json.RawMessage(e.Input), CallID: e.CallID}
	if !json.Valid(tool.Input) {
		return
	}
	tool.Access = t.hooks.cfg.Access(e.Tool, tool.Input)
	data, ok := t.past(tool)
	if !ok {
		return
	}
	t.reply.Calls++
	found := t.engine.Match(t.handler, agent.HookCall{Session: ev.Session, Mode: agent.ModeDefault, Data: data})
	if len(found.Inputs) == 0 {
		return
	}
	t.reply.Matched++
	if len(t.reply.Examples) == maxExamples {
		return
	}
	text := tool.Access.Command
	for _, path := range slices.Concat(tool.Access.Writes, tool.Access.Reads) {
		text = cmp.Or(text, path)
	}
	t.inputs = append(t.inputs, found.Inputs[0])
	t.reply.Examples = append(t.reply.Examples, HookTriedCall{
		Session: ev.Session, CallID: e.CallID, Tool: e.Tool, Text: cut(cmp.Or(text, e.Input)), At: ev.At,
	})
}

// past returns what the hooks of the draft's point would have been told of a call;
// ok is false if they would not have run.
func (t *Trial) past(tool agent.HookTool) (data agent.HookInput, ok bool) {
	end, ended := t.ends[tool.CallID]
	switch t.handler.Point {
	case agent.HookPreToolUse:
		return agent.PreToolUseInput{HookTool: tool}, true
	case agent.HookPermissionRequest:
		return agent.PermissionRequestInput{HookTool: tool}, true
	case agent.HookPermissionDenied:
		return agent.PermissionDeniedInput{HookTool: tool, Reason: end.Output}, ended && end.Outcome == agent.OutcomeDenied
	case agent.HookPostToolUse:
		return agent.PostToolUseInput{HookTool: tool, Output: end.Output, DurationMs: end.DurationMs}, ended && end.Outcome == agent.OutcomeDone
	case agent.HookPostToolUseFailure:
		failed := ended && end.Outcome != agent.OutcomeDone && end.Outcome != agent.OutcomeDenied
		return agent.PostToolUseFailureInput{HookTool: tool, Error: end.Output, DurationMs: end.DurationMs}, failed
	}
	return nil, false
}

func cut(s string) string { return text.Shorten(s, maxText) }

// Reply returns what was found, and runs the draft on it if that was asked for.
func (t *Trial) Reply(ctx context.Context) HookDryRunReply {
	if !t.in.Run {
		return t.reply
	}
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	for i := range t.reply.Examples {
		if ctx.Err() != nil {
			break
		}
		engine := t.hooks.trying(t.hooks.folderOf(ctx, t.reply.Examples[i].Session))
		ran := entry(engine.Try(ctx, t.handler, t.inputs[i]))
		engine.Close()
		t.reply.Examples[i].Run = &ran
	}
	return t.reply
}
