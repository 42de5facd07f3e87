// Package mcptest is a server of the Model Context Protocol that does what a test
// tells it to, over standard input and output and over HTTP: it works, or it
// misbehaves in one of many ways. It is written without any library, because no
// library would let it.
package mcptest

import (
	"encoding/json"
	"os"
	"testing"

	"atelier.dev/atelier/agent/mcp"
)

// variable tells a test's program to be the server of a behaviour.
const variable = "ATELIER_MCPTEST"

// Main makes a test's program the server, if it was started as one, and never
// returns then. TestMain calls it first.
func Main() {
	if name := os.Getenv(variable); name != "" {
		os.Exit(serveStdio(name, os.Stdin, os.Stdout))
	}
}

// Stdio returns a server of a behaviour that is a program. The test's TestMain must
// call [Main].
func Stdio(t testing.TB, behaviour string) mcp.Server {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcp.Server{Name: behaviour, Transport: mcp.TransportStdio, Stdio: mcp.Stdio{Command: program, Env: map[string]string{variable: behaviour, "GORACE": "atexit_sleep_ms=0"}}}
}

// object is a value of JSON.
type object = map[string]any

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}
