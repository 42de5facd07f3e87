package lsp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// behaviour tells a test's program to be a language server that behaves so.
const behaviour = "ATELIER_LSPTEST"

func TestMain(m *testing.M) {
	if how := os.Getenv(behaviour); how != "" {
		serve(how)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// toyServer is a language server that works, or misbehaves in one way.
type toyServer struct{ how string }

type toyRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		TextDocument struct {
			URI     string `json:"uri"`
			Version int    `json:"version"`
		} `json:"textDocument"`
	} `json:"params"`
}

type object = map[string]any

func serve(how string) {
	if how == "start-dies" {
		fmt.Fprintln(os.Stderr, "no licence")
		os.Exit(3)
	}
	s, in := toyServer{how}, bufio.NewReader(os.Stdin)
	for {
		length, err := contentLength(in)
		if err != nil {
			return
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		var r toyRequest
		_ = json.Unmarshal(body, &r)
		if how == "stays" && (r.Method == "shutdown" || r.Method == "exit") {
			continue
		}
		if r.Method == "exit" {
			return
		}
		s.answer(r)
	}
}

func (toyServer) send(message object) {
	message["jsonrpc"] = "2.0"
	text, _ := json.Marshal(message)
	fmt.Printf("Content-Length: %d\r\n\r\n%s", len(text), text)
}

func (s toyServer) result(r toyRequest, result any) { s.send(object{"id": r.ID, "result": result}) }

func (s toyServer) answer(r toyRequest) {
	switch r.Method {
	case "initialize":
		s.initialize(r)
	case "textDocument/definition":
		s.definition(r)
	case "textDocument/rename":
		s.rename(r)
	case "textDocument/didOpen", "textDocument/didChange":
		s.send(object{"method": "textDocument/publishDiagnostics", "params": object{
			"uri": r.Params.TextDocument.URI, "diagnostics": []any{
				object{"severity": 2, "message": "unused"}, object{"severity": 1, "message": fmt.Sprint("wrong in version ", r.Params.TextDocument.Version)},
				object{"severity": 4, "message": "hint"},
			},
		}})
	case "shutdown":
		s.result(r, nil)
	default:
		if r.ID != nil && r.Method != "" {
			s.result(r, []any{})
		}
	}
}

func (s toyServer) initialize(r toyRequest) {
	switch s.how {
	case "init-hangs":
		select {}
	case "floods":
		line := strings.Repeat("x", 1<<16)
		for {
			if _, err := os.Stdout.WriteString(line); err != nil {
				os.Exit(0)
			}
		}
	case "huge":
		fmt.Printf("Content-Length: %d\r\n\r\n", maxBody+1)
		select {}
	case "prints":
		fmt.Print("Listening on port 3000\r\n\r\n")
		select {}
	case "eats":
		hoard = make([]byte, 300<<20)
		for i := 0; i < len(hoard); i += 4096 {
			hoard[i] = 1
		}
	}
	s.result(r, object{"capabilities": object{"callHierarchyProvider": true, "renameProvider": s.how != "refuses"}})
}

// hoard is the memory of a server that takes much.
var hoard []byte

func (s toyServer) definition(r toyRequest) {
	at := func(line, character int) object { return object{"start": object{"line": line, "character": character}} }
	switch s.how {
	case "dies":
		os.Exit(4)
	case "hangs":
		return
	case "refuses":
		s.send(object{"id": r.ID, "error": object{"code": -32603, "message": "not today"}})
		return
	case "nonsense":
		s.result(r, object{"uri": 7})
		return
	case "asks":
		for n := range 1000 {
			s.send(object{"id": fmt.Sprint("q", n), "method": "workspace/configuration", "params": object{"items": []any{1, 2}}})
			s.send(object{"method": "window/logMessage", "params": object{"message": "m"}})
		}
	case "elsewhere":
		s.result(r, []any{object{"uri": "file:///etc/passwd", "range": at(0, 0)}})
		return
	}
	s.result(r, []any{object{"targetUri": r.Params.TextDocument.URI, "targetSelectionRange": at(1, 5)}})
}

// rename answers with the place of alpha in a.toy and, as told, with what it may not.
func (s toyServer) rename(r toyRequest) {
	edit := func(line, from, to int) object {
		at := func(character int) object { return object{"line": line, "character": character} }
		return object{"range": object{"start": at(from), "end": at(to)}, "newText": "omega"}
	}
	uri := r.Params.TextDocument.URI
	edits := []any{edit(1, 4, 9)}
	switch s.how {
	case "elsewhere":
		uri = "file:///etc/passwd"
	case "twice":
		edits = append(edits, edit(1, 4, 9))
	case "beyond":
		edits = append(edits, edit(99, 0, 1))
	case "long":
		edits = append(edits, edit(1, 4, 900))
	case "creates":
		s.result(r, object{"documentChanges": []any{object{"kind": "create", "uri": uri}}})
		return
	case "nothing":
		s.result(r, nil)
		return
	case "many":
		for range maxEdits {
			edits = append(edits, edit(1, 0, 0))
		}
	case "turns": // each time another place
		renamed++
		edits = []any{edit(renamed, 0, 1)}
	}
	s.result(r, object{"documentChanges": []any{object{"textDocument": object{"uri": uri, "version": 1}, "edits": edits}}})
}

var renamed int
