package websearch_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"context"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/websearch"
	"github.com/google/go-cmp/cmp"
)

// answers are what the services answer, in their documented forms.
var answers = map[string]string{
	websearch.SearXNG: `{"query":"q","number_of_results":2,"results":[
		{"url":"https://go.dev/doc","title":"Docs","content":"The <b>Go</b> docs &amp; more","engine":"ddg","publishedDate":"2026-11-01T00:00:00"},
		{"url":"https://go.dev/doc","title":"Again"},{"url":"javascript:alert(1)","title":"No"},{"url":"https://b.example/x","title":"B\u0007\n b"}],"answers":[],"infoboxes":[]}`,
	websearch.Brave: `{"type":"search","web":{"type":"search","results":[
		{"title":"Docs","url":"https://go.dev/doc","description":"The <strong>Go</strong> docs &amp; more","age":"2026-11-01T00:00:00"},{"title":"B b","url":"https://b.example/x","description":""}]}}`,
	websearch.Tavily: `{"query":"q","answer":null,"results":[
		{"title":"Docs","url":"https://go.dev/doc","content":"The Go docs & more","score":0.9,"published_date":"2026-11-01T00:00:00","raw_content":null},{"title":"B b","url":"https://b.example/x","content":"","score":0.1}],"response_time":1.1}`,
	websearch.Exa: `{"requestId":"r","resolvedSearchType":"neural","results":[
		{"title":"Docs","url":"https://go.dev/doc","id":"1","publishedDate":"2026-11-01T00:00:00","author":null,"text":"The Go docs & more"},{"title":"B b","url":"https://b.example/x","id":"2"}],"costDollars":{"total":0.005}}`,
}

// asked is a request that a service received.
type asked struct{ method, path, query, key, body string }

// search runs a call with a service that answers with a status and a body.
func search(t *testing.T, id string, status int, body, input string) (agent.Result, asked) {
	t.Helper()
	var got asked
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got = asked{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("X-Subscription-Token") + r.Header.Get("Authorization") + r.Header.Get("X-Api-Key"), string(text)}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Location", "https://elsewhere.example/")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return run(t, func(context.Context) (websearch.Engine, error) {
		for _, s := range websearch.Services() {
			if s.ID == id {
				return s.Engine(server.URL+"/", "key-1")
			}
		}
		return websearch.Engine{}, errors.New("no such service")
	}, input), got
}

func run(t *testing.T, engine func(context.Context) (websearch.Engine, error), input string) agent.Result {
	t.Helper()
	return websearch.Tool(websearch.Config{Engine: engine}).Run(t.Context(), agent.Invocation{Input: json.RawMessage(input)})
}

// OAS-310: each service is asked as it documents, and its answer becomes the same hits.
func TestServices(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]asked{
		websearch.SearXNG: {"GET", "/search", "format=json&q=go+docs", "", ""},
		websearch.Brave:   {"GET", "/res/v1/web/search", "count=20&q=go+docs", "key-1", ""},
		websearch.Tavily:  {"POST", "/search", "", "Bearer key-1", `{"max_results":5,"query":"go docs","search_depth":"basic"}`},
		websearch.Exa:     {"POST", "/search", "", "key-1", `{"contents":{"text":{"maxCharacters":800}},"numResults":5,"query":"go docs","type":"auto"}`},
	} {
		result, got := search(t, id, 200, answers[id], `{"query":"go docs"}`)
		if got != want {
			t.Errorf("%s was asked %+v, want %+v", id, got, want)
		}
		var card websearch.Card
		if result.Details == nil || json.Unmarshal(result.Details.Card, &card) != nil {
			t.Fatalf("%s: %+v", id, result)
		}
		hits := []websearch.Hit{{Title: "Docs", URL: "https://go.dev/doc", Excerpt: "The Go docs & more", Age: "2026-11-01T00:00:00"}, {Title: "B b", URL: "https://b.example/x"}}
		if diff := cmp.Diff(hits, card.Hits); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
		if !strings.Contains(result.Output, "1. Docs\n   https://go.dev/doc\n   (2026-11-01T00:00:00)\n   The Go docs & more\n\n2. B b") {
			t.Errorf("%s: %q", id, result.Output)
		}
	}
}

// Domains and the number hold, also where a service ignores them.
func TestWanted(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]struct{ query, hits string }{
		`{"query":"q","allowed_domains":["B.example"]}`:          {"q site:B.example", "https://b.example/x"},
		`{"query":"q","blocked_domains":["go.dev","x.example"]}`: {"q -site:go.dev -site:x.example", "https://b.example/x"},
		`{"query":"q","allowed_domains":["dev","o.dev"]}`:        {"", ""},
		`{"query":"q","allowed_domains":["go.dev","b.example"]}`: {"q site:go.dev OR site:b.example", "https://go.dev/doc https://b.example/x"},
		`{"query":"q","num_results":1}`:                          {"q", "https://go.dev/doc"},
		`{"query":"q","allowed_domains":["nowhere.example"]}`:    {"q site:nowhere.example", ""},
	} {
		raw := json.RawMessage(input)
		if want.query == "" {
			if err := websearch.Tool(websearch.Config{}).(agent.Validator).Validate(raw); err == nil {
				t.Errorf("%s is valid", input)
			}
			continue
		}
		result, got := search(t, websearch.SearXNG, 200, answers[websearch.SearXNG], input)
		var card websearch.Card
		if err := json.Unmarshal(result.Details.Card, &card); err != nil {
			t.Fatal(err)
		}
		var urls []string
		for _, h := range card.Hits {
			urls = append(urls, h.URL)
		}
		if strings.Join(urls, " ") != want.hits || !strings.Contains(got.query, "q="+strings.NewReplacer(" ", "+", ":", "%3A").Replace(want.query)) {
			t.Errorf("%s: %v, asked %s", input, urls, got.query)
		}
		if want.hits == "" && !strings.Contains(result.Output, "found nothing") {
			t.Errorf("%s: %q", input, result.Output)
		}
	}
}

// A service that fails says what to do, and never the key.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		id     string
		status int
		body   string
		want   string
	}{
		"a wrong key":    {websearch.Brave, 401, "", "Settings → Keys → Web search"},
		"no JSON":        {websearch.SearXNG, 403, "", "search.formats"},
		"too often":      {websearch.Exa, 429, "", "limit of requests"},
		"out of credits": {websearch.Tavily, 432, "", "limit of requests"},
		"broken":         {websearch.Exa, 500, "", "the status 500"},
		"moved":          {websearch.Brave, 302, "", "the status 302"},
		"a page":         {websearch.SearXNG, 200, "<html>", "not the JSON"},
		"endless":        {websearch.SearXNG, 200, `{"results":[` + strings.Repeat(" ", 5<<20), "too large"},
	} {
		result, _ := search(t, c.id, c.status, c.body, `{"query":"q"}`)
		if !result.IsError || !strings.Contains(result.Output, c.want) || strings.Contains(result.Output, "key-1") {
			t.Errorf("%s: %q", name, result.Output)
		}
	}
	result := run(t, func(context.Context) (websearch.Engine, error) { return websearch.Engine{}, websearch.ErrUnset }, `{"query":"q"}`)
	if !result.IsError || !strings.Contains(result.Output, "Settings → Keys → Web search") {
		t.Errorf("unset: %q", result.Output)
	}
	for _, s := range websearch.Services() {
		if _, err := s.Engine("file:///etc", ""); err == nil {
			t.Errorf("%s has a file for its address", s.ID)
		}
	}
}

// What cannot be searched for is refused before anybody is asked, and the gate is told
// whom a call asks.
func TestCalls(t *testing.T) {
	t.Parallel()
	tool := websearch.Tool(websearch.Config{Engine: func(context.Context) (websearch.Engine, error) { return websearch.Engine{Host: "search.example"}, nil }})
	for in, ok := range map[string]bool{
		`{"query":"q"}`: true, `{"query":" "}`: false, `{"query":"a\nb"}`: false, `{"query":"` + strings.Repeat("a", 1001) + `"}`: false, `{"query":"q","num_results":21}`: false,
		`{"query":"q","allowed_domains":["a.b"],"blocked_domains":["c.d"]}`: false, `{"query":"q","allowed_domains":["https://a.b/"]}`: false, `{"query":"q","num_results":-1}`: false,
	} {
		if err := tool.(agent.Validator).Validate(json.RawMessage(in)); (err == nil) != ok {
			t.Errorf("%.80s: %v", in, err)
		}
	}
	if got := tool.(agent.Accessor).Access(t.Context(), nil); got.Web != "search.example" || !got.WebChosen {
		t.Errorf("%+v", got)
	}
	unset := websearch.Tool(websearch.Config{Engine: func(context.Context) (websearch.Engine, error) { return websearch.Engine{}, websearch.ErrUnset }})
	if got := unset.(agent.Accessor).Access(t.Context(), nil); got.Web != "" {
		t.Errorf("%+v", got)
	}
	for in, want := range map[string]string{
		`{"query":" a \n b "}`: `{"query":"a b"}`, `{"q":"a","max_results":99}`: `{"query":"a","num_results":20}`,
	} {
		got, err := tool.Spec().Bindings["spec"][0].Input(json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
}

// What providers say of pages that they found becomes hits, each page once.
func TestHosted(t *testing.T) {
	t.Parallel()
	for provider, items := range map[string][]string{
		"openai": {`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"go docs"}}`,
			`{"type":"message","content":[{"type":"output_text","text":"See.","annotations":[{"type":"url_citation","start_index":0,"end_index":3,"url":"https://go.dev/doc","title":"Docs"},{"type":"url_citation","url":"https://go.dev/doc","title":"Docs"}]}]}`},
		"anthropic": {`{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"go docs"}}`,
			`{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","url":"https://go.dev/doc","title":"Docs","encrypted_content":"x","page_age":"May 1, 2026"}]}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://go.dev/doc","title":"Docs","cited_text":"The docs."}}}`},
		"gemini":    {`{"groundingMetadata":{"webSearchQueries":["go docs"],"groundingChunks":[{"web":{"uri":"https://go.dev/doc","title":"Docs"}}],"groundingSupports":[]}}`},
		"a refusal": {`{"type":"web_search_tool_result","tool_use_id":"s","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}}`, `"x"`, `{`},
	} {
		var raws []json.RawMessage
		for _, item := range items {
			raws = append(raws, json.RawMessage(item))
		}
		hits := websearch.HitsOf(raws)
		want := []websearch.Hit{{Title: "Docs", URL: "https://go.dev/doc"}}
		switch provider {
		case "anthropic":
			want[0].Excerpt, want[0].Age = "The docs.", "May 1, 2026"
		case "a refusal":
			want = nil
		}
		if diff := cmp.Diff(want, hits); diff != "" {
			t.Errorf("%s (-want +got):\n%s", provider, diff)
		}
	}
	if _, ok := websearch.Hosted("compat", websearch.Input{}); ok {
		t.Error("an endpoint of Chat Completions searches")
	}
}
