// Package compat speaks Chat Completions to any endpoint that offers it: a
// server on this machine, a gateway, or a provider without an adapter of its
// own (LLM-04). It reads answers leniently, because these endpoints differ in
// almost everything.
//
// It uses no SDK: openai-go's package for this API would add 12 MB to a program,
// because it registers the types of all of OpenAI's services.
//
// Each difference of an endpoint is a flag of its [Dialect]; a preset is a row of data, and an
// endpoint gets the dialect of its host whatever the user calls it. Neighbouring messages of the
// user are sent as one.
//
// A server that people run themselves is asked with which window it runs its models (window.go:
// Ollama, llama.cpp, LM Studio, vLLM, KoboldCpp), within two seconds: before the first request of a
// session, after the first answer, which may have loaded the model, and after an overflow. The
// smaller of that window and what is known of the model holds.
package compat
