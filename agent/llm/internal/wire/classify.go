package wire

import (
	"bytes"
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"sync"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/internal/text"
)

// overflow matches messages of providers and servers about a prompt that is too
// long.
var overflow = lazily(`(?i)prompt is too long|input is too long for requested model|` +
	`exceeds the context window|context window (exceeds|exceeded)|input token count.*exceeds the maximum|` +
	`maximum prompt length is \d+|reduce the length of the messages|maximum context length is \d+ tokens|` +
	`exceeds the limit of \d+|exceeds the available context size|exceed_context_size_error|` +
	`greater than the context length|exceeded model token limit|too large for model with \d+ maximum context length|` +
	`model_context_window_exceeded|request_too_large|context[_ ]length[_ ]exceeded|input length and .max_tokens. exceed|` +
	`token limit exceeded|too many tokens|` +
	`prompt too long; exceeded (max )?context length|total length of all messages is too long|` + // Ollama, Perplexity
	`is longer than the model's context length|range of input length should be|` + // Together, DashScope
	`exceeds (the )?(model'?s )?maximum context length|exceeds (the )?maximum allowed input length|` + // LiteLLM, Poolside
	`loaded with (a )?context length of|when (the )?context (the )?overflows|` + // LM Studio
	`but the configured context size is [\d,]+ tokens`) // DS4

var (
	noCredit = lazily(`(?i)insufficient_quota|billing|credit balance|exceeded your current quota|insufficient balance|` +
		`used all available credits|monthly spending limit|reached your specified API usage limits|free-models-per-day`)
	filtered   = lazily(`(?i)content_filter|content_policy_violation|content management policy`)
	badKey     = lazily(`(?i)invalid_api_key|authentication|unauthori[sz]ed`)
	wrongKey   = lazily(`(?i)(incorrect|invalid) api key|api key not valid`)
	forbidden  = lazily(`(?i)^permission`)
	missing    = lazily(`(?i)^not_found`)
	noModel    = lazily(`(?i)^model_(not_found|decommissioned|not_supported)`)
	limited    = lazily(`(?i)rate_?limit`)
	overloaded = lazily(`(?i)overloaded|slow_down|unavailable|capacity`)
	refused    = lazily(`(?i)^invalid|unsupported`)
)

// maxSearched limits the part of a failure's text in which these are looked for.
const maxSearched = 8 << 10

// glmOverflow is one provider's number for a prompt that is too long.
const glmOverflow = "1261"

// glmUsedUp is the same provider's number for a plan whose hours are used up.
const glmUsedUp = "1308"

// groqBadCall is one provider's code for a malformed call of its own model. The
// model may do better when it is asked again.
const groqBadCall = "tool_use_failed"

// classify sorts a failure by its status, code and text (LLM-42..44). A status
// of 0 means that it came inside a stream; some gateways then put the status
// into the code.
func classify(status int, code, text string) llm.Class {
	text = text[:min(len(text), maxSearched)]
	if n, err := strconv.Atoi(code); err == nil && status == 0 && n >= 400 && n < 600 {
		status = n
	}
	about := code + " " + text
	switch {
	case code == groqBadCall:
		return llm.ClassServer
	case status != http.StatusTooManyRequests && !limited().MatchString(code) && (code == glmOverflow || overflow().MatchString(about)):
		return llm.ClassContextOverflow
	case status != http.StatusUnauthorized && status < 500 && (code == glmUsedUp || noCredit().MatchString(about)):
		return llm.ClassQuota
	case status == http.StatusBadRequest && (code == "invalid_api_key" || wrongKey().MatchString(text)):
		return llm.ClassAuth
	case status < 500 && noModel().MatchString(code):
		return llm.ClassNotFound
	case filtered().MatchString(about) && status < 500:
		return llm.ClassContentFilter
	case status == 0:
		return classifyCode(code)
	default:
		return classifyStatus(status)
	}
}

func classifyStatus(status int) llm.Class {
	switch status {
	case http.StatusUnauthorized:
		return llm.ClassAuth
	case http.StatusPaymentRequired:
		return llm.ClassQuota
	case http.StatusForbidden:
		return llm.ClassPermission
	case http.StatusNotFound:
		return llm.ClassNotFound
	case http.StatusRequestTimeout:
		return llm.ClassTimeout
	case http.StatusRequestEntityTooLarge:
		return llm.ClassContextOverflow
	case http.StatusTooManyRequests:
		return llm.ClassRateLimit
	case 498, http.StatusServiceUnavailable, 529:
		return llm.ClassOverloaded
	}
	if status >= 500 {
		return llm.ClassServer
	}
	return llm.ClassInvalid
}

func classifyCode(code string) llm.Class {
	switch {
	case badKey().MatchString(code):
		return llm.ClassAuth
	case forbidden().MatchString(code):
		return llm.ClassPermission
	case missing().MatchString(code):
		return llm.ClassNotFound
	case limited().MatchString(code):
		return llm.ClassRateLimit
	case overloaded().MatchString(code):
		return llm.ClassOverloaded
	case refused().MatchString(code):
		return llm.ClassInvalid
	default:
		return llm.ClassServer
	}
}

// retryable reports whether the same request may succeed later.
func retryable(c llm.Class) bool {
	switch c {
	case llm.ClassRateLimit, llm.ClassOverloaded, llm.ClassServer, llm.ClassTimeout, llm.ClassNetwork, llm.ClassTruncated:
		return true
	default:
		return false
	}
}

var title = lazily(`(?is)<title[^>]*>(.*?)</title>`)

// explain finds a code and a text in the body of an error of any form.
func explain(body []byte) (code, text string) {
	var v any
	if err := json.Unmarshal(body, &v); err == nil {
		return dig(v)
	}
	if bytes.HasPrefix(body, []byte("<")) {
		if m := title().FindSubmatch(body); m != nil {
			return "", html.UnescapeString(string(m[1]))
		}
		return "", "a web page"
	}
	return "", string(body)
}

// dig looks for the fields that providers use: an error object or string, a
// detail, a message. For an array it looks at the first element.
func dig(v any) (code, text string) {
	switch v := v.(type) {
	case string:
		return "", v
	case []any:
		if len(v) > 0 {
			return dig(v[0])
		}
	case map[string]any:
		if code, text = relayed(v); text != "" {
			return code, text
		}
		for _, key := range []string{"error", "errors", "detail", "message", "msg"} {
			if code, text = dig(v[key]); text != "" || code != "" {
				break
			}
		}
		if code == "" {
			code = word(v["code"])
		}
		if code == "" && text != "" && v["error"] == nil {
			code = word(v["type"])
		}
	}
	return code, text
}

// relayed reads a gateway's error that comes from the actual provider: the
// provider's name and its unchanged text.
func relayed(failure map[string]any) (code, text string) {
	about, _ := failure["metadata"].(map[string]any)
	raw, _ := about["raw"].(string)
	if raw == "" {
		if code = word(about["error_type"]); code != "" {
			text = word(failure["message"])
		}
		return code, text
	}
	code, text = explain([]byte(raw))
	if text == "" {
		text = word(failure["message"])
	}
	if name := word(about["provider_name"]); name != "" {
		text = name + ": " + text
	}
	if own := word(about["error_type"]); own != "" {
		code = own
	}
	if code == "" {
		code = word(failure["code"])
	}
	return code, text
}

// word reads a code, which some providers send as a number.
func word(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return ""
	}
}

// brief returns a text as one line of at most 2 KiB.
func brief(s string) string { return text.Clip(text.Line(s), 2<<10) }

// lazily compiles an expression when it is first needed. Few programs need any of them, and
// compiling them all would delay every start.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
