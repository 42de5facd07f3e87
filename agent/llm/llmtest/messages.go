package llmtest

import (
	"fmt"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// MessagesStream returns a round as the body of a stream of Anthropic's
// Messages API, the n-th of its server.
func MessagesStream(r Round, n int) string {
	content, end := messagesFrames(r, n)
	return strings.Join(content, "") + strings.Join(end, "")
}

func messagesFrames(r Round, n int) (content, end []string) {
	e := messagesEncoder{}
	message := object{
		"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": ModelID,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
	}
	if u := r.Usage; u.Known {
		message["usage"] = messagesUsage(u, 1) // the output grows
	}
	e.event("message_start", object{"message": message})
	e.event("ping", object{})
	if r.Reasoning != "" {
		e.block(object{"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", "thinking", pieces(r.Reasoning))
		e.delta(e.blocks-1, "signature_delta", "signature", fmt.Sprintf("sealed-%d", n))
		e.stop(e.blocks - 1)
	}
	if r.Text != "" {
		e.block(object{"type": "text", "text": ""}, "text_delta", "text", pieces(r.Text))
		e.stop(e.blocks - 1)
	}
	for i, c := range r.Calls {
		begun := object{"type": "tool_use", "id": c.id(n, i), "name": c.Name, "input": object{}}
		e.block(begun, "input_json_delta", "partial_json", halves(c.object()))
		e.stop(e.blocks - 1)
	}
	content, e.frames = e.frames, nil
	if r.Error != "" {
		return content, []string{frame("error", object{
			"type": "error", "error": object{"type": r.Error, "message": "scripted"},
		})}
	}
	last := object{"delta": object{"stop_reason": stopReason(r.finish()), "stop_sequence": nil}}
	if r.Usage.Known {
		last["usage"] = messagesUsage(r.Usage, r.Usage.Output)
	}
	e.event("message_delta", last)
	e.event("message_stop", object{})
	return content, e.frames
}

func messagesUsage(u llm.Usage, output int64) object {
	return object{
		"cache_creation": object{
			"ephemeral_5m_input_tokens": u.CacheWrite - u.CacheWriteLong, "ephemeral_1h_input_tokens": u.CacheWriteLong,
		},
		"input_tokens": u.Input, "cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
		"output_tokens": output, "output_tokens_details": object{"thinking_tokens": u.Reasoning},
	}
}

func stopReason(f llm.FinishReason) string {
	switch f {
	case llm.FinishToolCalls:
		return "tool_use"
	case llm.FinishLength:
		return "max_tokens"
	case llm.FinishContentFilter, llm.FinishRefusal: // one word for both
		return "refusal"
	default:
		return "end_turn"
	}
}

type messagesEncoder struct {
	blocks int
	frames []string
}

func (e *messagesEncoder) event(kind string, fields object) {
	fields["type"] = kind
	e.frames = append(e.frames, frame(kind, fields))
}

// block begins a block and streams a field of it.
func (e *messagesEncoder) block(begun object, kind, name string, pieces []string) {
	at := e.blocks
	e.blocks++
	e.event("content_block_start", object{"index": at, "content_block": begun})
	for _, p := range pieces {
		e.delta(at, kind, name, p)
	}
}

func (e *messagesEncoder) delta(at int, kind, name, piece string) {
	e.event("content_block_delta", object{"index": at, "delta": object{"type": kind, name: piece}})
}

func (e *messagesEncoder) stop(at int) { e.event("content_block_stop", object{"index": at}) }
