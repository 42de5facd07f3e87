// Package mcp connects to servers of the Model Context Protocol and offers what
// they have: tools, resources and prompts. A [Manager] keeps the connections and
// says what each of them is really like. Everything that a server sends is
// untrusted and bounded.
//
// The protocol is mcp-go's: its client negotiates, sends requests and decodes
// results; its transports carry the messages. Around them are the limits of this
// program, at the places that mcp-go has for them:
//
//   - Programs run in agent/sandbox with a filtered environment and a process group
//     of their own ([program]); mcp-go's stdio transport gets their pipes.
//   - Requests over HTTP go through a RoundTripper that limits sizes, redirects and
//     addresses ([limiter]).
//   - The client talks to a [wire]: one of mcp-go's transports, with a few repairs.
//
// What mcp-go does not do is done here, each with a test in gaps_test.go that fails
// when mcp-go has learnt it:
//
//   - It answers requests of a server over Streamable HTTP within 30 seconds, which is
//     too short for a person, and those over SSE never. So a [filter] takes them out of
//     all streams, mcp-go's client answers them, and the answer is sent from here.
//   - It reads no batches, and over HTTP it takes any answer for the one to its request
//     ([filter]).
//   - It refuses a whole list or result because of one entry that it cannot read
//     ([readable]).
//   - It keeps schemas of tools in types that lose keywords and their order, and drops
//     the task that a call became ([exchange]).
//   - It takes any answer to its first request for one of the newest protocol
//     ([wire.first]).
//
// # Connections
//
// A [Manager] has one supervisor for each server, whose goroutine alone connects, pings, lists
// again, disconnects and decides what comes next. A first connection is retried twice. One that was
// lost is made again, at once if a call waits for it, and the server's tools stay offered until it
// failed five times in a row. Programs start a few at a time (throttle.go), because interpreters
// that load would take the processors from a turn.
//
// Nobody waits for a server: setting servers, asking what they offer and what they are like take no
// I/O, and a call ends with its context, its limit without progress, or its connection. A server's
// question belongs to the newest call in flight; without one it is refused. Each failure is a
// [Fault] of a kind. The RoundTripper follows redirects to the same host only and never reaches
// link-local addresses.
package mcp
