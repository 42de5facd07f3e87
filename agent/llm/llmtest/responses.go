package llmtest

import (
	"fmt"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// ResponsesStream returns a round as the body of a Responses stream, the n-th
// of its server.
func ResponsesStream(r Round, n int) string {
	content, end := responsesFrames(r, n)
	return strings.Join(content, "") + strings.Join(end, "")
}

func responseID(n int) string { return fmt.Sprintf("resp_%d", n) }

func responsesFrames(r Round, n int) (content, end []string) {
	e := responsesEncoder{n: n}
	e.event("response.created", object{"response": e.response("in_progress")})
	e.event("response.in_progress", object{"response": e.response("in_progress")})
	if r.Reasoning != "" {
		e.reasoning(r.Reasoning)
	}
	if r.Text != "" {
		e.message(r.Text)
	}
	for i, c := range r.Calls {
		e.call(c, c.id(n, i))
	}
	content, e.frames = e.frames, nil
	if r.Error != "" {
		e.event("error", object{"code": r.Error, "message": "scripted", "param": nil})
	} else {
		e.end(r)
	}
	return content, e.frames
}

type responsesEncoder struct {
	n        int
	sequence int
	items    []any
	frames   []string
}

func (e *responsesEncoder) event(kind string, fields object) {
	fields["type"], fields["sequence_number"] = kind, e.sequence
	e.sequence++
	e.frames = append(e.frames, frame(kind, fields))
}

func (e *responsesEncoder) response(status string) object {
	return object{
		"id": responseID(e.n), "object": "response", "status": status, "model": ModelID,
		"output": e.items, "error": nil, "incomplete_details": nil, "usage": nil,
	}
}

// item announces an item, streams it and ends it in its final form.
func (e *responsesEncoder) item(begun, whole object, stream func(at int)) {
	at := len(e.items)
	e.event("response.output_item.added", object{"output_index": at, "item": begun})
	stream(at)
	e.event("response.output_item.done", object{"output_index": at, "item": whole})
	e.items = append(e.items, whole)
}

func (e *responsesEncoder) reasoning(text string) {
	id := fmt.Sprintf("rs_%d", e.n)
	e.item(
		object{"id": id, "type": "reasoning", "summary": []any{}},
		object{
			"id": id, "type": "reasoning", "encrypted_content": fmt.Sprintf("sealed-%d", e.n),
			"summary": []any{object{"type": "summary_text", "text": text}},
		},
		func(at int) {
			e.event("response.reasoning_summary_part.added", object{
				"item_id": id, "output_index": at, "summary_index": 0, "part": object{"type": "summary_text", "text": ""},
			})
			for _, p := range pieces(text) {
				e.event("response.reasoning_summary_text.delta", object{
					"item_id": id, "output_index": at, "summary_index": 0, "delta": p,
				})
			}
		})
}

func (e *responsesEncoder) message(text string) {
	id := fmt.Sprintf("msg_%d", e.n)
	e.item(
		object{"id": id, "type": "message", "role": "assistant", "status": "in_progress", "content": []any{}},
		object{
			"id": id, "type": "message", "role": "assistant", "status": "completed", "phase": "final_answer",
			"content": []any{object{"type": "output_text", "text": text, "annotations": []any{}}},
		},
		func(at int) {
			for _, p := range pieces(text) {
				e.event("response.output_text.delta", object{
					"item_id": id, "output_index": at, "content_index": 0, "delta": p,
				})
			}
			e.event("response.output_text.done", object{
				"item_id": id, "output_index": at, "content_index": 0, "text": text,
			})
		})
}

func (e *responsesEncoder) call(c Call, wireID string) {
	id, kind, member, event := "fc_"+wireID, "function_call", "arguments", "response.function_call_arguments"
	if c.Custom {
		id, kind, member, event = "ctc_"+wireID, "custom_tool_call", "input", "response.custom_tool_call_input"
	}
	form := func(arguments, status string) object {
		return object{
			"id": id, "type": kind, "call_id": wireID, "name": c.Name,
			member: arguments, "status": status,
		}
	}
	e.item(form("", "in_progress"), form(c.Arguments, "completed"), func(at int) {
		for _, p := range halves(c.Arguments) {
			e.event(event+".delta", object{"item_id": id, "output_index": at, "delta": p})
		}
		e.event(event+".done", object{"item_id": id, "output_index": at, member: c.Arguments})
	})
}

// end sends the terminal event.
func (e *responsesEncoder) end(r Round) {
	kind, status, details := "response.completed", "completed", any(nil)
	switch r.finish() {
	case llm.FinishLength:
		kind, status, details = "response.incomplete", "incomplete", object{"reason": "max_output_tokens"}
	case llm.FinishContentFilter:
		kind, status, details = "response.incomplete", "incomplete", object{"reason": "content_filter"}
	}
	response := e.response(status)
	response["incomplete_details"] = details
	if u := r.Usage; u.Known {
		response["usage"] = object{
			"input_tokens":          u.Context(),
			"input_tokens_details":  object{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
			"output_tokens":         u.Output,
			"output_tokens_details": object{"reasoning_tokens": u.Reasoning},
			"total_tokens":          u.Total(),
		}
	}
	e.event(kind, object{"response": response})
}
