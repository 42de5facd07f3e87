package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"

	acp "github.com/coder/acp-go-sdk"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/attach"
)

const (
	// maxWaiting limits the events that wait for the client. Beyond it, streamed text is left out.
	maxWaiting = 2_000
	// maxPrompt limits a prompt, in bytes.
	maxPrompt = 8 << 20
)

// session tells the client of one session. run owns what it has told.
type session struct {
	server *Server
	host   Host
	id     string
	folder string
	ctx    context.Context // ends with the session or the client
	stop   context.CancelFunc
	wake   chan struct{}

	mu      sync.Mutex // guards what follows
	waiting []agent.Event
	turn    chan acp.PromptResponse // set while the client waits for the end of a turn
	failure string                  // of the turn
	current agent.Settings

	told      told
	questions map[string]context.CancelFunc // of run, by the ids of approvals
}

// told is what the client was told of the answer that is streamed.
type told struct {
	text, thought int // in UTF-16 code units
	window        int64
	model         llm.Origin
}

func newSession(s *Server, host Host, info backend.SessionInfo) *session {
	one := &session{server: s, host: host, id: info.ID, folder: info.Folder, wake: make(chan struct{}, 1), questions: map[string]context.CancelFunc{}, current: info.Settings}
	one.ctx, one.stop = context.WithCancel(s.ctx)
	return one
}

// add queues an event without waiting.
func (o *session) add(ev agent.Event) {
	o.mu.Lock()
	if !ev.Durable() && len(o.waiting) >= maxWaiting {
		o.mu.Unlock()
		return
	}
	o.waiting = append(o.waiting, ev)
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run tells the client what happens, until the session or the client ends.
func (o *session) run() {
	defer o.endTurn(acp.PromptResponse{StopReason: acp.StopReasonCancelled})
	for {
		o.mu.Lock()
		events := o.waiting
		o.waiting = nil
		o.mu.Unlock()
		for _, ev := range events {
			if o.ctx.Err() != nil {
				return
			}
			o.tell(ev, false)
		}
		select {
		case <-o.wake:
		case <-o.ctx.Done():
			return
		}
	}
}

// update sends one update.
func (o *session) update(u acp.SessionUpdate) {
	if err := o.server.conn.SessionUpdate(o.ctx, acp.SessionNotification{SessionId: acp.SessionId(o.id), Update: u}); err != nil && o.ctx.Err() == nil {
		slog.Warn("a client was not told of an event", "session", o.id, "error", err)
	}
}

// prompt runs a turn and returns its end.
func (o *session) prompt(ctx context.Context, blocks []acp.ContentBlock) (acp.PromptResponse, error) {
	text, err := o.textOf(ctx, blocks)
	if err != nil {
		return acp.PromptResponse{}, err
	}
	end := make(chan acp.PromptResponse, 1)
	o.mu.Lock()
	busy := o.turn != nil || o.ctx.Err() != nil
	if !busy {
		o.turn, o.failure = end, ""
	}
	o.mu.Unlock()
	if busy {
		return acp.PromptResponse{}, acp.NewInvalidRequest("a turn of this session runs; cancel it or wait for its end")
	}
	if _, err := call[json.RawMessage](ctx, o.host, "conversation.send", o.sending(ctx, text)); err != nil {
		o.endTurn(acp.PromptResponse{})
		return acp.PromptResponse{}, err
	}
	stopped := context.AfterFunc(ctx, func() { // the request was cancelled
		if err := o.interrupt(o.ctx); err != nil {
			slog.Warn("a turn was not interrupted", "session", o.id, "error", err)
		}
	})
	defer stopped()
	out := <-end // at the end of the session at the latest
	if out.StopReason != "" {
		return out, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return out, &acp.RequestError{Code: -32603, Message: cmp.Or(o.failure, "The turn failed.")}
}

// sending is the request of a prompt. A text that begins with the name of a command uses it.
func (o *session) sending(ctx context.Context, text string) map[string]any {
	out := map[string]any{"session": o.id, "text": text}
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	if !strings.HasPrefix(name, "/") {
		return out
	}
	reply, err := call[backend.CommandsReply](ctx, o.host, "commands.list", map[string]string{"session": o.id})
	if err != nil {
		return out
	}
	for _, c := range reply.Commands {
		if c.Kind == backend.CommandSkill && (c.Name == name[1:] || slices.Contains(c.Aliases, name[1:])) {
			out["command"] = backend.CommandCall{Name: c.Name, Arguments: strings.TrimSpace(rest)}
		}
	}
	return out
}

// endTurn answers the prompt that waits, if there is one.
func (o *session) endTurn(out acp.PromptResponse) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.turn != nil {
		o.turn <- out // has room for it
		o.turn = nil
	}
}

func (o *session) interrupt(ctx context.Context) error {
	_, err := call[json.RawMessage](ctx, o.host, "conversation.interrupt", map[string]string{"session": o.id})
	return err
}

// textOf returns the text of a prompt: files are mentioned, what is enclosed follows, and
// pictures are kept as files that the end of the text mentions.
func (o *session) textOf(ctx context.Context, blocks []acp.ContentBlock) (string, error) {
	var text, more strings.Builder
	var pictures []string
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			text.WriteString(b.Text.Text)
		case b.ResourceLink != nil:
			text.WriteString(o.mention(b.ResourceLink.Uri))
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			text.WriteString(o.mention(r.Uri))
			fmt.Fprintf(&more, "\n\n<context ref=%q>\n%s\n</context>", r.Uri, r.Text)
		case b.Image != nil && len(b.Image.Data) > 0:
			kept, err := call[attach.Attached](ctx, o.host, "attach.add", map[string]string{"name": "picture", "data": b.Image.Data})
			if err != nil {
				return "", err
			}
			pictures = append(pictures, kept.Mention)
		default:
			return "", acp.NewInvalidParams("sounds and binary files cannot be sent")
		}
	}
	text.WriteString(more.String())
	if len(pictures) > 0 {
		text.WriteString("\n\n" + strings.Join(pictures, " "))
	}
	if text.Len() > maxPrompt || strings.TrimSpace(text.String()) == "" {
		return "", acp.NewInvalidParams("the prompt is empty or too long")
	}
	return text.String(), nil
}

// mention names a file of the folder as messages mention it, and anything else by its address.
func (o *session) mention(uri string) string {
	at, err := url.Parse(uri)
	if err != nil || at.Scheme != "file" {
		return uri
	}
	path := filepath.FromSlash(at.Path)
	if rel, err := filepath.Rel(o.folder, path); err == nil && filepath.IsLocal(rel) {
		path = filepath.ToSlash(rel)
	}
	if strings.ContainsAny(path, " \t") {
		return `@"` + path + `"`
	}
	return "@" + path
}

// replay shows the session's past.
func (o *session) replay(ctx context.Context) error {
	after := int64(0)
	for {
		page, err := call[struct {
			Events []agent.Event `json:"events"`
			More   bool          `json:"more"`
		}](ctx, o.host, "conversation.history", map[string]any{"session": o.id, "after": after, "limit": historyPage})
		if err != nil {
			return err
		}
		for _, ev := range page.Events {
			o.tell(ev, true)
			after = max(after, ev.Seq)
		}
		if !page.More || len(page.Events) == 0 {
			return nil
		}
	}
}

// settings returns the session's settings.
func (o *session) settings() agent.Settings {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.current
}

// units is the length of a text as events count it.
func units(text string) (n int) {
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// from returns what a text has after some code units.
func from(text string, skip int) string {
	for i, r := range text {
		if skip <= 0 {
			return text[i:]
		}
		skip -= utf16.RuneLen(r)
	}
	return ""
}
