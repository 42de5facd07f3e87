package external

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/internal/text"
)

// conversation is what a session has to do with its agent.
type conversation struct {
	adapter *Adapter
	key     string

	answering sync.Mutex // held while a request is answered; guards known
	known     []string   // the user's messages that the running agent has

	mu   sync.Mutex // guards what follows
	run  *running   // nil before it started, and after it ended
	last time.Time
}

func newConversation(a *Adapter, session string) *conversation {
	return &conversation{adapter: a, key: session, last: time.Now()}
}

func (c *conversation) running() *running {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.run
}

func (c *conversation) lastUsed() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

func (c *conversation) busy() bool {
	if !c.answering.TryLock() {
		return true
	}
	defer c.answering.Unlock()
	r := c.running()
	return r != nil && r.isPrompting()
}

// start starts the agent in a folder.
func (c *conversation) start(ctx context.Context, folder string) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	r, err := c.adapter.launch(ctx, folder)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run, c.last = r, time.Now()
	return nil
}

// end ends the agent's program, if it runs.
func (c *conversation) end() {
	c.mu.Lock()
	r := c.run
	c.run = nil
	c.mu.Unlock()
	if r != nil {
		r.close()
	}
}

// deliver gives the agent what the request has and it has not: the results of its calls, and
// what the user wrote. If it does not run, or the conversation is not the one that it knows, a
// new session of it begins with the conversation as a text.
func (c *conversation) deliver(ctx context.Context, req llm.Request) error {
	wrote := userTexts(req.Messages)
	r := c.running()
	if r != nil && !r.settled(ctx) {
		c.end()
		r = nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if r != nil && r.isGone() && r.isPrompting() && slices.Equal(wrote, c.known) {
		return c.fell(r, errGone) // within a turn: what it was doing is not begun again
	}
	var say []acp.ContentBlock
	if r == nil || r.isGone() || len(wrote) < len(c.known) || !slices.Equal(wrote[:len(c.known)], c.known) {
		c.end()
		folder, err := c.adapter.cfg.Folder(ctx, c.key)
		if err != nil {
			return err
		}
		if err := c.start(ctx, folder); err != nil {
			return err
		}
		r = c.running()
		if r == nil { // it was ended meanwhile
			return errClosed
		}
		say = opening(req.Messages, r.images)
	} else {
		r.resolve(req.Messages)
		say = blocks(newest(req.Messages, len(c.known)), r.images)
	}
	c.known = wrote
	if err := r.choose(ctx, req.Model); err != nil {
		return r.whyGone(err)
	}
	if r.isPrompting() {
		r.addLater(say)
		return nil
	}
	if len(say) == 0 {
		say = []acp.ContentBlock{acp.TextBlock("Continue.")}
	}
	r.prompt(ctx, say)
	return nil
}

// maxTogether limits the calls of one answer.
const maxTogether = 32

// follow answers a request with what the agent says, until it asks for something or is done.
func (c *conversation) follow(ctx context.Context, b *answer) error {
	r := c.running()
	if r == nil {
		return errClosed
	}
	for !b.stopped {
		it, ok := r.take()
		if !ok {
			select {
			case <-r.wake:
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		}
		switch {
		case it.end != nil:
			if it.end.err != nil {
				return c.fell(r, it.end.err)
			}
			if later := r.takeLater(); len(later) > 0 {
				r.prompt(ctx, later)
				continue
			}
			b.finish(r.usage(it.end.usage), finishOf(it.end.reason))
			return nil
		case len(it.calls) > 0:
			all := it.calls
			for len(all) < maxTogether {
				more, ok := r.takeCalls()
				if !ok {
					break
				}
				all = append(all, more...)
			}
			for _, call := range all {
				b.call(call)
			}
			b.finish(r.usage(nil), llm.Finish{Reason: llm.FinishToolCalls})
			return nil
		case !b.add(it.kind, it.text):
			return c.fell(r, errFlood)
		}
	}
	return ctx.Err()
}

// fell ends the program after a fault, unless the agent only refused the prompt.
func (c *conversation) fell(r *running, err error) error {
	var refused *acp.RequestError
	if errors.As(err, &refused) && !r.isGone() {
		return err
	}
	c.known = nil
	err = r.whyGone(err)
	c.end()
	return err
}

func finishOf(reason acp.StopReason) llm.Finish {
	f := llm.Finish{Reason: llm.FinishStop, Raw: string(reason)}
	switch reason {
	case acp.StopReasonMaxTokens:
		f.Reason = llm.FinishLength
	case acp.StopReasonRefusal:
		f.Reason = llm.FinishRefusal
	}
	return f
}

// userTexts returns what the user's messages say, in their order.
func userTexts(messages []llm.Message) (all []string) {
	for _, m := range messages {
		if m.Role == llm.RoleUser {
			all = append(all, m.Text())
		}
	}
	return all
}

// newest returns the user's messages after the first n.
func newest(messages []llm.Message, n int) (all []llm.Message) {
	for _, m := range messages {
		if m.Role != llm.RoleUser {
			continue
		}
		if n--; n < 0 {
			all = append(all, m)
		}
	}
	return all
}

// blocks returns messages as the content of a prompt.
func blocks(messages []llm.Message, images bool) (all []acp.ContentBlock) {
	for _, m := range messages {
		for _, p := range m.Parts {
			switch {
			case p.Kind == llm.PartText && strings.TrimSpace(p.Text) != "":
				all = append(all, acp.TextBlock(p.Text))
			case p.Kind == llm.PartMedia && p.Media != nil:
				all = append(all, media(*p.Media, images))
			}
		}
	}
	return all
}

func media(m llm.Media, images bool) acp.ContentBlock {
	if images && strings.HasPrefix(m.MIME, "image/") && len(m.Data) > 0 {
		return acp.ImageBlock(base64.StdEncoding.EncodeToString(m.Data), m.MIME)
	}
	return acp.TextBlock(fmt.Sprintf("[%s, which this agent cannot be shown]", text.Head(strings.TrimSpace(m.Name+" "+m.MIME), maxName)))
}

const (
	// maxHistory limits the text of a conversation that an agent takes over, in bytes.
	maxHistory = 128 << 10
	// maxInHistory limits one call and one result in it.
	maxInHistory = 2 << 10
)

// opening returns the first prompt of a new session of the agent: the conversation so far, and
// the messages after its last answer.
func opening(messages []llm.Message, images bool) []acp.ContentBlock {
	last := -1
	for i, m := range messages {
		if m.Role == llm.RoleAssistant || m.Role == llm.RoleTool {
			last = i
		}
	}
	var all []acp.ContentBlock
	if past := history(messages[:last+1]); past != "" {
		all = append(all, acp.TextBlock("You take over a conversation between a user and a coding agent. What it was so far:\n\n<conversation>\n"+past+"</conversation>"))
	}
	rest := blocks(messages[last+1:], images)
	if len(rest) == 0 {
		rest = []acp.ContentBlock{acp.TextBlock("Continue.")}
	}
	return append(all, rest...)
}

func history(messages []llm.Message) string {
	var b strings.Builder
	for _, m := range messages {
		for _, p := range m.Parts {
			switch {
			case p.Kind == llm.PartText && p.Text != "":
				fmt.Fprintf(&b, "%s: %s\n\n", m.Role, p.Text)
			case p.Kind == llm.PartToolCall && p.Call != nil:
				fmt.Fprintf(&b, "call of %s: %s\n\n", p.Call.Name, text.Head(string(p.Call.Arguments), maxInHistory))
			case p.Kind == llm.PartToolResult && p.Result != nil:
				fmt.Fprintf(&b, "result: %s\n\n", text.Head(resultText(*p.Result), maxInHistory))
			}
		}
	}
	if s := b.String(); len(s) > maxHistory {
		return "[The beginning is left out.]\n" + text.Tail(s, maxHistory)
	}
	return b.String()
}

func resultText(r llm.ToolResult) string { return llm.Message{Parts: r.Parts}.Text() }
