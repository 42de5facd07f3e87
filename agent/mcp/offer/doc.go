// Package offer gives a session what servers offer: their tools in the form that
// every model accepts, a search for tools that are too many to show, and their
// resources. Servers are untrusted: their texts reach a model bounded and
// without marks that it could take for our own.
//
// While nothing changes the profile gets the same registry, so the request's prefix keeps its
// bytes; the calls of an answer are read by the tools of its request, and a call of a tool that is
// gone gets a sentence that says why. A stranger's schema becomes the little that all providers
// accept (schema.go): an object at the root, references put in place, a bounded depth and size; the
// server still checks the call itself.
//
// Only a server that the user trusts is believed that a tool reads. If the definitions would take
// more than a tenth of the window or 20,000 tokens, or are more than 100 tools (providers refuse
// 129), tools are found by ToolSearch; what it loaded follows from the log.
package offer
