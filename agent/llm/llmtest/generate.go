package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// GenerateStream returns a round as the body of a stream of Gemini's
// generateContent, the n-th of its server. Calls whose arguments are not JSON
// cannot be sent in it.
func GenerateStream(r Round, n int) string {
	content, end := generateFrames(r, n)
	return strings.Join(content, "") + strings.Join(end, "")
}

func generateFrames(r Round, n int) (content, end []string) {
	add := func(part object) {
		content = append(content, generateChunk(n, object{"content": generateContent(part)}))
	}
	for _, p := range pieces(r.Reasoning) {
		add(object{"text": p, "thought": true})
	}
	for _, p := range pieces(r.Text) {
		add(object{"text": p})
	}
	signature := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "sealed-%d", n))
	for i, c := range r.Calls {
		call := object{"id": c.id(n, i), "name": c.Name}
		if args := c.object(); args != "" {
			call["args"] = json.RawMessage(args)
		}
		part := object{"functionCall": call}
		if i == 0 { // only the first of parallel calls is signed
			part["thoughtSignature"] = signature
		}
		add(part)
	}
	if r.Error != "" {
		return content, []string{frame("", googleError(http.StatusInternalServerError, r.Error+": scripted"))}
	}
	last := object{"finishReason": generateFinish(r.finish())}
	if len(r.Calls) == 0 {
		last["content"] = generateContent(object{"text": "", "thoughtSignature": signature})
	}
	fields := object{}
	if u := r.Usage; u.Known {
		fields["usageMetadata"] = object{
			"promptTokenCount": u.Context(), "cachedContentTokenCount": u.CacheRead,
			"candidatesTokenCount": u.Output - u.Reasoning, "thoughtsTokenCount": u.Reasoning,
			"totalTokenCount": u.Total(),
		}
	}
	return content, []string{generateChunk(n, last, fields)}
}

func generateContent(part object) object { return object{"role": "model", "parts": []any{part}} }

func generateChunk(n int, candidate object, more ...object) string {
	candidate["index"] = 0
	chunk := object{"candidates": []any{candidate}, "modelVersion": ModelID, "responseId": responseID(n)}
	for _, fields := range more {
		for name, v := range fields {
			chunk[name] = v
		}
	}
	return frame("", chunk)
}

func generateFinish(f llm.FinishReason) string {
	switch f {
	case llm.FinishLength:
		return "MAX_TOKENS"
	case llm.FinishContentFilter:
		return "SAFETY"
	default:
		return "STOP"
	}
}

func googleError(status int, message string) map[string]any {
	return map[string]any{"error": map[string]any{"code": status, "message": message, "status": "INTERNAL"}}
}
