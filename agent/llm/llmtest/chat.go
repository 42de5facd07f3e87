package llmtest

import (
	"fmt"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// ChatStream returns a round as the body of a Chat Completions stream, the n-th
// of its server.
func ChatStream(r Round, n int) string {
	content, end := chatFrames(r, n)
	return strings.Join(content, "") + strings.Join(end, "")
}

func chatFrames(r Round, n int) (content, end []string) {
	add := func(delta object) { content = append(content, chatChunk(n, delta, nil)) }
	add(object{"role": "assistant", "content": ""})
	for _, p := range pieces(r.Reasoning) {
		add(object{"reasoning_content": p})
	}
	for _, p := range pieces(r.Text) {
		add(object{"content": p})
	}
	for i, c := range r.Calls {
		add(object{"tool_calls": []any{object{
			"index": i, "id": c.id(n, i), "type": "function", "function": object{"name": c.Name, "arguments": ""},
		}}})
		for _, p := range halves(c.object()) {
			add(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": p}}}})
		}
	}
	if r.Error != "" {
		return content, []string{frame("", apiError(r.Error, "scripted"))}
	}
	end = append(end, chatChunk(n, object{}, string(r.finish()))) // the neutral reasons are Chat's
	if r.Usage.Known {
		end = append(end, chatUsage(n, r.Usage))
	}
	return content, append(end, "data: [DONE]\n\n")
}

func chatChunk(n int, delta object, finish any) string {
	return frame("", object{
		"id": fmt.Sprintf("chatcmpl_%d", n), "object": "chat.completion.chunk", "created": 1, "model": ModelID,
		"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}},
	})
}

func chatUsage(n int, u llm.Usage) string {
	return frame("", object{
		"id": fmt.Sprintf("chatcmpl_%d", n), "object": "chat.completion.chunk", "created": 1, "model": ModelID,
		"choices": []any{},
		"usage": object{
			"prompt_tokens":             u.Context(),
			"prompt_tokens_details":     object{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
			"completion_tokens":         u.Output,
			"completion_tokens_details": object{"reasoning_tokens": u.Reasoning},
			"total_tokens":              u.Total(),
		},
	})
}
