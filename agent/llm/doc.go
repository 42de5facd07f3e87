// Package llm is one client for every model provider.
//
// It takes a [Request] and yields a stream of [Event] values, the last of which
// carries the whole assistant [Message]. The types are neutral: data that a
// provider needs to see again (reasoning signatures, item ids) travels with the
// parts as opaque bytes, and no vendor SDK type leaves its adapter package. The
// package imports no other package of Atelier.
package llm
