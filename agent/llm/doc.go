// Package llm is one client for every model provider.
//
// It takes a [Request] and yields a stream of [Event] values, the last of which
// carries the whole assistant [Message]. The types are neutral: data that a
// provider needs to see again (reasoning signatures, item ids) travels with the
// parts as opaque bytes, and no vendor SDK type leaves its adapter package. The
// package imports no other package of Atelier.
//
// [Client] routes by provider name, and [Client.Use] wraps it in middleware. One such middleware is
// [Limiter]: when a provider refuses a request and names a pause, no session calls it before the
// pause is over. Another is catalogue.Facts, which adds how a model thinks and how much it writes
// at most. Providers keep no conversation, so a request carries all of it and is encoded whole.
package llm
