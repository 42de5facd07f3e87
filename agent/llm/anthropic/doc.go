// Package anthropic speaks Anthropic's Messages API. It only streams, sends
// thinking back and caches the prompt's stable prefix (LLM-16, LLM-28, LLM-51).
//
// It uses anthropic-sdk-go's types and stream; the SDK's environment, tracing and retries are off.
// Thinking and its signatures are sent back unchanged.
package anthropic
