// Package lsp answers questions about code: where something is defined, who uses it, what
// is in a file (OAS-326). It asks a language server where there is one on PATH, and
// searches with patterns where there is none; each result names which of both it is from.
//
// A [Servers] has at most one server for each root and language. A server starts when it
// is first needed, through agent/sandbox, and ends when nobody has needed it for a while,
// when it takes too much memory, or with the owner. None is ever downloaded. What a
// server sends is untrusted and bounded.
//
// The protocol's messages are carried by sourcegraph/jsonrpc2, through a codec that limits
// them, and its types are those of powernap, which are generated from the specification.
//
// A server is confined, without a network and without a right to change the project, because many
// run the project's own code.
package lsp
