// Package mcp keeps the servers of the Model Context Protocol that the user and the
// project configured: read from their files, trusted, switched, connected, tried,
// imported from other programs, and shown as they are.
//
// files.go and definition.go read every shape that programs write, judge.go says of each definition
// whether it should be connected, and one goroutine (servers.go) hands the result to the Manager.
// Whatever changes only wakes that goroutine. The strongest file wins a name, but what is not
// trusted takes no name from anybody. A secret's name in the keyring follows from the file, the
// server and the place of its reference, so no other file can name it. Tools are accepted as they
// are first seen; pins.go compares them at each look, and what changed is offered to no session.
//
// What a server asks the person lives as long as its call (ask.go). A form's answer goes to the
// server that asked and nowhere else: neither the log nor an error has it. Sampling shows what
// would be sent and its cost, and enters the cost into the session's log. A call may ask ten times.
package mcp
