// Package llm is one client over every model provider.
//
// A [Request] goes in, a stream of [Event] values comes out, and the last of
// them carries the whole assistant [Message]. The types are neutral: what a
// provider needs to see again (reasoning signatures, item ids) travels with
// the parts as opaque bytes, and no vendor SDK type leaves its adapter
// package. The package imports nothing else of Atelier.
package llm
