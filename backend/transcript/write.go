package transcript

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
)

// Kept reports whether an event is part of the conversation, or was taken back.
func Kept(info backend.SessionInfo, seq int64) bool {
	return !slices.Contains(info.Uncompacted, seq) && !slices.ContainsFunc(info.Rewound, func(s backend.Span) bool { return seq > s.From && seq <= s.To })
}

// OnlyKept leaves out of a log what was taken back.
func OnlyKept(info backend.SessionInfo, events iter.Seq2[agent.Event, error]) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for ev, err := range events {
			if (err != nil || Kept(info, ev.Seq)) && !yield(ev, err) {
				return
			}
		}
	}
}

// Without leaves out of a log what tools returned and what models thought, if the caller
// does not want them.
func Without(events iter.Seq2[agent.Event, error], output, reasoning bool) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for ev, err := range events {
			switch d := ev.Data.(type) {
			case agent.ToolCallEnd:
				if output {
					d.Output, d.ModelOutput, d.Media, d.Details, d.Files = "", nil, nil, nil, nil
					ev.Data = d
				}
			case agent.LocalCommandEnd:
				if output {
					d.Output, d.ModelOutput, d.Files = "", nil, nil
					ev.Data = d
				}
			case agent.HookEnd:
				if output {
					d.Files = nil
					ev.Data = d
				}
			case agent.TextEnd:
				if reasoning {
					d.Message.Parts = slices.DeleteFunc(slices.Clone(d.Message.Parts), func(p llm.Part) bool {
						return p.Kind == llm.PartReasoning || p.Kind == llm.PartNative
					})
					ev.Data = d
				}
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// said is a message of the conversation: an input, an answer, or the result of a call.
type said struct {
	at     int64
	role   llm.Role
	text   string
	answer *agent.TextEnd
	result *agent.ToolCallEnd
}

// conversation returns the messages of a session.
func conversation(info backend.SessionInfo, events iter.Seq2[agent.Event, error]) iter.Seq2[said, error] {
	return func(yield func(said, error) bool) {
		for ev, err := range events {
			if err != nil {
				yield(said{}, err)
				return
			}
			m := said{at: ev.At, role: llm.RoleUser}
			switch d := ev.Data.(type) {
			case agent.UserInput:
				m.text = d.Text
			case agent.SteeringInjected:
				if !d.Refused {
					m.text = d.Text
				}
			case agent.LocalCommandEnd:
				m.text = fmt.Sprintf("! %s\n\n%s", d.Command, d.Output)
			case agent.TextEnd:
				m.role, m.answer = llm.RoleAssistant, &d
			case agent.ToolCallEnd:
				m.role, m.result = llm.RoleTool, &d
			}
			if (m.text != "" || m.role != llm.RoleUser) && Kept(info, ev.Seq) && !yield(m, nil) {
				return
			}
		}
	}
}

// outBlock is a part of a message in the form of Anthropic's API.
type outBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  string          `json:"thinking,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
}

// outMessage is a message of the Open Agent SDK.
type outMessage struct {
	Role      llm.Role   `json:"role"`
	Content   []outBlock `json:"content"`
	Timestamp instant    `json:"timestamp"`
}

// WriteOpenAgent writes a session as the Open Agent SDK keeps it in transcript.json
// (OAS-602). The events are read twice.
func WriteOpenAgent(w io.Writer, info backend.SessionInfo, events iter.Seq2[agent.Event, error]) error {
	about := openAgentMetadata{
		ID: info.ID, CWD: info.Folder, Model: info.Settings.Model, Summary: info.Title, FirstPrompt: info.Prompt, GitBranch: info.Branch,
		Tag: strings.Join(info.Marks.Tags, ","), CreatedAt: instant{time.UnixMilli(info.CreatedAt)}, UpdatedAt: instant{time.UnixMilli(info.UpdatedAt)},
	}
	for _, err := range conversation(info, events) {
		if err != nil {
			return err
		}
		about.Messages++
	}
	head, err := json.Marshal(about)
	if err != nil {
		return fmt.Errorf("encode the metadata: %w", err)
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "{\"metadata\":%s,\"messages\":[", head)
	sep := "\n"
	for m, err := range conversation(info, events) {
		if err != nil {
			return err
		}
		line, err := json.Marshal(outMessage{Role: blockRole(m.role), Content: m.blocks(), Timestamp: instant{time.UnixMilli(m.at)}})
		if err != nil {
			return fmt.Errorf("encode a message: %w", err)
		}
		fmt.Fprintf(out, "%s%s", sep, line)
		sep = ",\n"
	}
	fmt.Fprint(out, "\n]}\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the session: %w", err)
	}
	return nil
}

// blockRole returns the role of a message in the form of Anthropic's API, where
// results are the user's.
func blockRole(r llm.Role) llm.Role {
	if r == llm.RoleTool {
		return llm.RoleUser
	}
	return r
}

func (m said) blocks() []outBlock {
	switch {
	case m.result != nil:
		return []outBlock{{Type: "tool_result", ToolUseID: m.result.CallID, Content: m.result.ForModel(), IsError: m.result.IsError}}
	case m.answer == nil:
		return []outBlock{{Type: "text", Text: m.text}}
	}
	out := []outBlock{}
	for _, p := range m.answer.Message.Parts {
		switch p.Kind {
		case llm.PartText:
			out = append(out, outBlock{Type: "text", Text: p.Text})
		case llm.PartReasoning:
			if p.Reasoning != nil && p.Reasoning.Text != "" {
				out = append(out, outBlock{Type: "thinking", Thinking: p.Reasoning.Text})
			}
		case llm.PartToolCall:
			out = append(out, outBlock{Type: "tool_use", ID: p.Call.ID, Name: p.Call.Name, Input: asJSON(p.Call.Input())})
		}
	}
	return out
}

// asJSON returns arguments as JSON, also those that are none.
func asJSON(raw json.RawMessage) json.RawMessage {
	if json.Valid(raw) {
		return raw
	}
	text, err := json.Marshal(string(raw))
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}

// WriteComate writes the messages of a session as Comate keeps them in messages.jsonl
// (COM-95).
func WriteComate(w io.Writer, info backend.SessionInfo, events iter.Seq2[agent.Event, error]) error {
	out := bufio.NewWriter(w)
	for m, err := range conversation(info, events) {
		if err != nil {
			return err
		}
		line, err := json.Marshal(m.comate())
		if err != nil {
			return fmt.Errorf("encode a message: %w", err)
		}
		fmt.Fprintf(out, "%s\n", line)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the session: %w", err)
	}
	return nil
}

func (m said) comate() comateMessage {
	out := comateMessage{Role: string(m.role), Timestamp: instant{time.UnixMilli(m.at)}}
	text := m.text
	switch {
	case m.result != nil:
		text, out.CallID, out.IsError = m.result.ForModel(), m.result.CallID, m.result.IsError
	case m.answer != nil:
		text = m.answer.Message.Text()
		for _, p := range m.answer.Message.Parts {
			if p.Kind == llm.PartReasoning && p.Reasoning != nil {
				out.Thinking += p.Reasoning.Text
			}
		}
		for _, c := range m.answer.Message.Calls() {
			call := comateCall{ID: c.ID, Type: "function"}
			call.Function.Name, call.Function.Arguments = c.Name, string(c.Input())
			out.Calls = append(out.Calls, call)
		}
	}
	out.Content, _ = json.Marshal(text) // a text always has a JSON form
	return out
}

// ComateState is what Comate keeps beside the messages, in state.json.
type ComateState struct {
	SessionID string  `json:"session_id"`
	CWD       string  `json:"cwd"`
	Model     string  `json:"model,omitempty"`
	Title     string  `json:"title,omitempty"`
	CreatedAt instant `json:"created_at"`
	UpdatedAt instant `json:"updated_at"`
}

// ComateStateOf returns the state of a session.
func ComateStateOf(info backend.SessionInfo) ComateState {
	return ComateState{
		SessionID: info.ID, CWD: info.Folder, Model: info.Settings.Model, Title: info.Title,
		CreatedAt: instant{time.UnixMilli(info.CreatedAt)}, UpdatedAt: instant{time.UnixMilli(info.UpdatedAt)},
	}
}
