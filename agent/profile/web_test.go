package profile_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/fetch"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/agent/profile"
	"atelier.dev/atelier/agent/websearch"
)

// scenario has a model make one call of a tool in its wire format, and returns the end of
// the call and what the model read afterwards.
func scenario(t *testing.T, provider string, tool agent.Tool, call llmtest.Call) (agent.ToolCallEnd, string) {
	t.Helper()
	p := newPlace(t, provider, profile.NamingNative, nil, llmtest.Round{Calls: []llmtest.Call{call}}, llmtest.Round{Text: "done"})
	registry, err := agent.NewRegistry(tool)
	if err != nil {
		t.Fatal(err)
	}
	p.profiles = profile.New(registry, profile.Surroundings{Folder: p.folder, Home: p.home, Now: time.Now, Naming: profile.NamingNative})
	p.open(provider, adapters[provider](p.server))
	var end agent.ToolCallEnd
	for _, ev := range p.run("Go.") {
		if e, ok := ev.Data.(agent.ToolCallEnd); ok {
			end = e
		}
	}
	sent := p.server.Requests()
	var last any
	if err := json.Unmarshal(sent[len(sent)-1].Body, &last); err != nil {
		t.Fatal(err)
	}
	return end, encoded(t, last)
}

// OAS-309, K-04: in every wire format a model fetches a page under the name and with the
// arguments that it knows.
func TestFetchInEveryFormat(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<title>Rows</title><p>There are <b>12</b> rows.")
	}))
	t.Cleanup(site.Close)
	tool := fetch.Tool(fetch.Config{Hosts: func(context.Context) (network.Settings, error) {
		return network.Settings{AllowedDomains: []string{strings.TrimPrefix(site.URL, "http://")}}, nil
	}})
	for provider, call := range map[string]llmtest.Call{
		"anthropic": llmtest.Use("WebFetch", object{"url": site.URL, "prompt": "How many?"}),
		"openai":    llmtest.Use("web_fetch", object{"url": site.URL}),
		"gemini":    llmtest.Use("web_fetch", object{"prompt": "How many rows? " + site.URL}),
		"compat":    llmtest.Use("WebFetch", object{"url": site.URL, "timeout": 5}),
	} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			end, told := scenario(t, provider, tool, call)
			if end.Tool != "WebFetch" || end.IsError || !strings.Contains(told, "There are **12** rows.") {
				t.Errorf("%+v\n%s", end, told)
			}
		})
	}
}

// OAS-310, K-04: in every wire format a model searches the web under the name that it
// knows.
func TestSearchInEveryFormat(t *testing.T) {
	t.Parallel()
	tool := websearch.Tool(websearch.Config{Engine: func(context.Context) (websearch.Engine, error) {
		return websearch.Engine{Title: "Test", Search: func(_ context.Context, in websearch.Input) (websearch.Found, error) {
			return websearch.Found{Hits: []websearch.Hit{{Title: in.Query, URL: "https://go.dev/doc"}}}, nil
		}}, nil
	}})
	for provider, call := range map[string]llmtest.Call{
		"anthropic": llmtest.Use("WebSearch", object{"query": "go docs", "allowed_domains": []any{"go.dev"}}),
		"openai":    llmtest.Use("web_search", object{"query": "go docs"}),
		"gemini":    llmtest.Use("google_web_search", object{"query": "go docs"}),
		"compat":    llmtest.Use("WebSearch", object{"query": "go docs", "num_results": "3"}),
	} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			end, told := scenario(t, provider, tool, call)
			if end.Tool != "WebSearch" || end.IsError || !strings.Contains(told, "1. go docs\\n   https://go.dev/doc") {
				t.Errorf("%+v\n%s", end, told)
			}
		})
	}
}

// OAS-322, K-04: in every wire format a model changes a cell of a notebook that it has
// read, under the name and with the arguments that it knows.
func TestNotebookInEveryFormat(t *testing.T) {
	t.Parallel()
	claude := llmtest.Use("NotebookEdit", object{"notebook_path": "n.ipynb", "cell_id": "cell-0", "new_source": "new()"})
	spec := llmtest.Use("notebook_edit", object{"file_path": "n.ipynb", "command": "replace", "cell_number": 0, "source": "new()"})
	for provider, call := range map[string]llmtest.Call{"anthropic": claude, "openai": spec, "gemini": spec, "compat": spec} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			read := llmtest.Use("read_file", object{"file_path": "n.ipynb"})
			p := newPlace(t, provider, profile.NamingNative, nil, llmtest.Round{Calls: []llmtest.Call{read}}, llmtest.Round{Calls: []llmtest.Call{call}}, llmtest.Round{Text: "done"})
			file := filepath.Join(p.folder, "n.ipynb")
			p.put(file, `{"cells":[{"cell_type":"code","metadata":{},"outputs":[{"x":1}],"source":"old()"}],"nbformat":4,"nbformat_minor":4}`)
			for _, ev := range p.run("Go.") {
				if end, ok := ev.Data.(agent.ToolCallEnd); ok && end.IsError {
					t.Errorf("%s: %s", end.Tool, end.Output)
				}
			}
			got, err := os.ReadFile(file)
			if err != nil || string(got) != `{"cells":[{"cell_type":"code","metadata":{},"outputs":[{"x":1}],"source":["new()"]}],"nbformat":4,"nbformat_minor":4}` {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}
