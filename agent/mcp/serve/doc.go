// Package serve offers tools to clients of the Model Context Protocol: over input
// and output, over Streamable HTTP on loopback, and within the process. It decides
// nothing about a call; its owner runs each of them.
//
// Each client has a session, whose requests are answered by the client itself: its calls become the
// calls of an answer. So lookup, validation, gate, hooks, questions, log and ledger are those of
// every other call. A question goes to the client's user as an elicitation; in the newest protocol
// it ends the request, and the call waits for the request that brings the answer (ask.go). Lines of
// the standard input are read by our own code, because mcp-go's knows one client in a process and
// has no limit for a line. [InProcess] makes a server of a program's own functions.
package serve
