package serve

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/mcp"
)

// InProcess is a server whose tools are functions of this program (OAS-413). A
// session of ours calls them directly, without a protocol; another program's client
// gets a connection of its own (OAS-414). It is safe for concurrent use as far as
// its tools are.
type InProcess struct {
	name, version string
	tools         []agent.Tool

	once     sync.Once
	protocol *Server
}

// NewInProcess returns a server of the given tools, such as those of
// [agent.Function]. It panics if the name is empty or has a double underscore, or if
// two tools share a name: both are programming errors (OAS-407, OAS-415).
func NewInProcess(name, version string, tools ...agent.Tool) *InProcess {
	if name == "" || strings.Contains(name, "__") {
		panic(fmt.Sprintf("serve: %q is not a name for a server", name))
	}
	taken := map[string]bool{}
	for _, t := range tools {
		tool := t.Spec().Name
		if taken[tool] {
			panic(fmt.Sprintf("serve: two tools of %s are named %q", name, tool))
		}
		taken[tool] = true
	}
	return &InProcess{name: name, version: version, tools: tools}
}

// Tools returns the tools as a session of ours registers them, under the names that
// every server's tools have.
func (p *InProcess) Tools() []agent.Tool {
	taken := map[string]bool{}
	out := make([]agent.Tool, len(p.tools))
	for i, t := range p.tools {
		spec := t.Spec()
		spec.Name = mcp.ToolName(p.name, spec.Name, func(name string) bool { return taken[name] })
		taken[spec.Name] = true
		out[i] = renamed{t, spec}
	}
	return out
}

// renamed is a tool under another name.
type renamed struct {
	agent.Tool
	spec agent.Spec
}

// Spec implements [agent.Tool].
func (r renamed) Spec() agent.Spec { return r.spec }

// Connect returns the client's end of a connection, which speaks lines of JSON-RPC.
// The connection ends with ctx, or when the client closes its end. The server
// behind it begins with the first connection.
func (p *InProcess) Connect(ctx context.Context) io.ReadWriteCloser {
	p.once.Do(func() { p.protocol = New(p.config()) })
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	go func() { // ends with ctx or the client
		defer context.AfterFunc(ctx, func() { _ = fromClient.Close() })()
		err := p.protocol.Serve(ctx, fromClient, toClient)
		_ = fromClient.Close()
		_ = toClient.CloseWithError(err)
	}()
	return &end{PipeReader: fromServer, PipeWriter: toServer}
}

// config describes the server for clients of the protocol.
func (p *InProcess) config() Config {
	cfg := Config{Name: p.name, Version: p.version, Call: p.call}
	for _, t := range p.tools {
		cfg.Tools = append(cfg.Tools, Tool{Spec: t.Spec()})
	}
	return cfg
}

// call runs a call of a client (OAS-415). The client's program decided about it.
func (p *InProcess) call(ctx context.Context, c Call) agent.Result {
	for _, t := range p.tools {
		if t.Spec().Name == c.Tool {
			return agent.Run(ctx, t, agent.Invocation{Input: c.Input, Output: c.Output})
		}
	}
	return agent.Fail("There is no such tool.")
}

// end is one end of a connection.
type end struct {
	*io.PipeReader
	*io.PipeWriter
}

// Close implements [io.Closer].
func (e *end) Close() error {
	_ = e.PipeReader.Close()
	return e.PipeWriter.Close()
}
