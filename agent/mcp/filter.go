package mcp

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"
)

// mostBatch limits the messages in one array, as the protocol of March 2025 allows it.
const mostBatch = 1000

var errNotMessage = errors.New("it is not a message of JSON-RPC")

// envelope has the members by which messages of JSON-RPC are told apart.
type envelope struct {
	ID     protocol.RequestId `json:"id"`
	Method string             `json:"method"`
	Params json.RawMessage    `json:"params"`
	Result json.RawMessage    `json:"result"`
	Error  json.RawMessage    `json:"error"`
}

func (e envelope) isAnswer() bool { return e.Method == "" }

// filter passes what a server sends on to a transport of mcp-go, except for what that
// cannot handle: requests of the server, which go to the connection, batches, which
// become single messages, and answers that nobody asked for. One goroutine uses it.
type filter struct {
	server host
	answer func(*transport.JSONRPCResponse) // sends the answer to a request of the server
	// only is the id of the one request that is answered here. If it is nil, every
	// answer passes.
	only     protocol.RequestId
	once     bool // only the first answer passes
	answered bool
}

// host is the connection that a server belongs to.
type host interface {
	// asked takes a request of the server and answers it, now or later, or never. It
	// does not block.
	asked(request transport.JSONRPCRequest, answer func(*transport.JSONRPCResponse))
	// report enters in the log what happened.
	report(what Happening, args ...string)
	// greeted takes the first text of what may not be a server at all.
	greeted(text string)
}

// messages returns the messages in a text that are mcp-go's to handle. An error means
// that the text is no message.
func (f *filter) messages(text []byte) ([]json.RawMessage, error) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	var all []json.RawMessage
	if !bytes.HasPrefix(text, []byte("[")) {
		all = append(all, text)
	} else if err := json.Unmarshal(text, &all); err != nil || len(all) > mostBatch {
		return nil, errNotMessage
	}
	var out []json.RawMessage
	for _, one := range all {
		var m envelope
		if err := json.Unmarshal(one, &m); err != nil || m.isAnswer() && m.Result == nil && m.Error == nil {
			return out, errNotMessage
		}
		switch {
		case m.isAnswer():
			if f.foreign(m) {
				f.server.report(HappenedForeign, beginning(m.ID.String(), shownOf))
				continue
			}
			f.answered = true
		case !m.ID.IsNil():
			f.server.asked(transport.JSONRPCRequest{JSONRPC: protocol.JSONRPC_VERSION, ID: m.ID, Method: m.Method, Params: m.Params}, f.answer)
			continue
		}
		out = append(out, one)
	}
	return out, nil
}

// foreign reports whether an answer is not the one that is waited for. An error without
// an id is about a request that the server could not read.
func (f *filter) foreign(m envelope) bool {
	if f.once && f.answered {
		return true
	}
	return !f.only.IsNil() && m.ID.String() != f.only.String() && (m.Error == nil || !m.ID.IsNil())
}
