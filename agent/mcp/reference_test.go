package mcp_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/sandbox"
)

// reference returns the command of one of the protocol's own servers, which
// scripts/setup.sh installs, or skips the test.
func reference(t *testing.T, name string, args ...string) mcp.Stdio {
	t.Helper()
	modules, err := filepath.Abs("../../scripts/conformance/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(modules, "@modelcontextprotocol", "server-"+name, "dist", "index.js")
	if _, err := os.Stat(program); err != nil {
		t.Skip("scripts/setup.sh has not installed the reference servers")
	}
	node := filepath.Join(modules, "node", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		t.Skip("the npm package node has no program for this system")
	}
	return mcp.Stdio{Command: node, Args: append([]string{program}, args...)}
}

// over starts the reference server that shows everything over HTTP.
func over(t *testing.T, way string) string {
	t.Helper()
	at := reference(t, "everything", way)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	_ = free.Close()
	said, ready := make(chan string, 100), false
	spec := sandbox.Spec{Argv: append([]string{at.Command}, at.Args...), Env: append(os.Environ(), fmt.Sprint("PORT=", port)), Merge: true, Whole: true,
		Output: func(text string) {
			select {
			case said <- text:
			default:
			}
		}}
	process, err := sandbox.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Stop)
	for all := ""; !ready; {
		select {
		case text := <-said:
			all += text
			ready = strings.Contains(all, fmt.Sprint("port ", port))
		case <-process.Done():
			t.Fatalf("the server ended: %s", all)
		}
	}
	return fmt.Sprint("http://127.0.0.1:", port)
}

// The reference servers work over each of the transports that they have.
func TestReferenceServers(t *testing.T) {
	t.Parallel()
	everything := func(t *testing.T, s mcp.Server) {
		s.Name, s.Limits.Start = "everything", mostPatience
		h := manager(t, mcp.Config{Asker: &answers{}}, s)
		status := h.connected(t, "everything")
		if len(status.Tools) < 8 || status.Resources < 5 || status.Prompts < 3 || status.Peer.Instructions == "" {
			t.Errorf("status: %d tools, %d resources, %d prompts", len(status.Tools), status.Resources, status.Prompts)
		}
		if got := h.call(t, "everything", "echo", `{"message":"hello"}`); got.Content[0].Text != "Echo: hello" {
			t.Errorf("echo: %+v", got)
		}
		if got := h.call(t, "everything", "get-tiny-image", `{}`); len(got.Content) != 3 || len(got.Content[1].Data) == 0 {
			t.Errorf("image: %d parts", len(got.Content))
		}
		if got := h.call(t, "everything", "get-structured-content", `{"location":"New York"}`); len(got.Structured) == 0 || got.SchemaFault != "" {
			t.Errorf("structured: %+v", got)
		}
		var reports int
		if _, err := h.Call(t.Context(), mcp.CallRequest{Server: "everything", Tool: "trigger-long-running-operation",
			Input: json.RawMessage(`{"duration":1,"steps":2}`), Progress: func(mcp.Progress) { reports++ }}); err != nil || reports == 0 {
			t.Errorf("progress: %d reports, %v", reports, err)
		}
	}
	t.Run("everything/stdio", func(t *testing.T) {
		t.Parallel()
		everything(t, mcp.Server{Transport: mcp.TransportStdio, Stdio: reference(t, "everything", "stdio")})
	})
	t.Run("everything/http", func(t *testing.T) {
		t.Parallel()
		everything(t, mcp.Server{Transport: mcp.TransportHTTP, Remote: mcp.Remote{URL: over(t, "streamableHttp") + "/mcp"}})
	})
	t.Run("everything/sse", func(t *testing.T) {
		t.Parallel()
		everything(t, mcp.Server{Transport: mcp.TransportSSE, Remote: mcp.Remote{URL: over(t, "sse") + "/sse"}})
	})
	t.Run("filesystem", func(t *testing.T) {
		t.Parallel()
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		s := mcp.Server{Name: "files", Transport: mcp.TransportStdio, Stdio: reference(t, "filesystem", dir), Limits: mcp.Limits{Start: mostPatience}}
		h := manager(t, mcp.Config{Dir: dir}, s)
		h.connected(t, "files")
		path, _ := json.Marshal(filepath.Join(dir, "a.txt"))
		h.call(t, "files", "write_file", fmt.Sprintf(`{"path":%s,"content":"written"}`, path))
		if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "written" {
			t.Errorf("the file: %q, %v", text, err)
		}
		if got := h.call(t, "files", "read_text_file", `{"path":"/etc/passwd"}`); !got.IsError {
			t.Errorf("a file outside of its folder: %+v", got)
		}
	})
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		s := mcp.Server{Name: "memory", Transport: mcp.TransportStdio, Stdio: reference(t, "memory"), Limits: mcp.Limits{Start: mostPatience}}
		s.Stdio.Env = map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.json")}
		h := manager(t, mcp.Config{}, s)
		h.connected(t, "memory")
		h.call(t, "memory", "create_entities", `{"entities":[{"name":"Ann","entityType":"person","observations":["likes tea"]}]}`)
		if got := h.call(t, "memory", "read_graph", `{}`); !strings.Contains(got.Content[0].Text, "likes tea") || got.SchemaFault != "" {
			t.Errorf("the graph: %+v", got)
		}
	})
}

// mostPatience is for a machine that is busy: Node takes its time to start.
const mostPatience = 30 * time.Second
