// Package openai speaks OpenAI's Responses API, to OpenAI and to Azure. It is
// stateless: the server stores nothing, and every request carries the whole
// conversation (LLM-50).
//
// It uses openai-go's service for Responses with its types and its stream, never its client, which
// would send ids and headers from the environment to any address. Retries of the SDK are off.
package openai
